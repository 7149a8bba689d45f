//! Modes of conversations, over a real socket.

use std::sync::Arc;

use crate::kit::{Bench, Once, all, last, say};
use jiff::ToSpan;
use limpid_core::{ConversationId, Trust};
use limpid_runtime::{
    Agent, AgentOptions, ChangeOutcome, ChatRequest, Config, ConversationChoice, Event, EventKind, FocusChange,
    PreviewRequest, TurnEvent,
};
use limpid_store::NewInbound;
use tokio::sync::broadcast::Receiver;

const REPLIES: &str = "[[reply]]\ntext = \"One.\"\n[[reply]]\ntext = \"Two.\"\n[[reply]]\ntext = \"Three.\"\n";

async fn id(agent: &Agent) -> ConversationId {
    agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id
}

/// What was sent so far, by name, with the modes of a switch and the reason of a new prompt.
fn heard(events: &mut Receiver<Event>) -> Vec<String> {
    let name = |event: Event| match event.change {
        EventKind::ModeChanged { from, to, trigger } => format!("mode-changed {from} {to} {trigger}"),
        EventKind::SystemPromptUpdated { mode, reason, .. } => format!("system-prompt-updated {mode} {reason}"),
        EventKind::PromptTierChanged { old, new, reason } => format!("prompt-tier-changed {old} {new} {reason}"),
        EventKind::ActiveToolsUpdated(difference) => format!("active-tools-updated {:?}", difference.added),
        other => format!("{other:?}"),
    };
    std::iter::from_fn(|| events.try_recv().ok()).map(name).collect()
}

fn notices(events: &[TurnEvent]) -> Vec<&str> {
    let mut told = Vec::new();
    for event in events {
        match event {
            TurnEvent::Notice(text) if !text.contains(" known for ") => told.push(text.as_str()),
            _ => {}
        }
    }
    told
}

// OLLM-006 OLLM-030
#[tokio::test]
async fn without_a_name_of_the_owners_ollm_is_called_assistant_and_user_mode_declares_what_assistant_does() {
    for (profile, name) in [("ollm", "Assistant"), ("limpid", "Limpid"), ("kai", "Limpid")] {
        let mut bench = Bench::new(REPLIES).await;
        bench.config.agent.profile = profile.to_owned();
        bench.config.tools.defer = true;
        let agent = bench.agent();
        let shown = |mode: &str| {
            let request = PreviewRequest { mode: Some(mode.to_owned()), ..PreviewRequest::default() };
            let preview = agent.preview(request);
            async move {
                let prompt = preview.await.unwrap().prompt;
                let tools = prompt.tools().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
                (prompt.messages()[0].text().to_owned(), tools)
            }
        };
        let (text, tools) = shown("assistant").await;
        assert!(text.contains(&format!("You are {name},")), "{text}");
        assert_eq!(shown("user").await.1, tools, "{profile}");
    }
}

// OLLM-029 OLLM-031 OLLM-107 OLLM-108 OLLM-109
#[tokio::test]
async fn a_switch_loads_the_template_and_says_so_once() {
    let mut bench = Bench::new(REPLIES).await;
    bench.config.agent.profile = "ollm".to_owned();
    bench.config.prompt.additional_instructions = "Never shout.".to_owned();
    let agent = bench.agent();
    let mut bus = agent.subscribe();
    say(&agent, "hi").await;
    assert_eq!(heard(&mut bus), ["system-prompt-updated assistant first"]);
    let settled = agent.conversations().set_mode(&id(&agent).await, "developer").await.unwrap();
    assert_eq!(settled, ChangeOutcome::Applied("assistant".to_owned()));
    // A mode may offer other tools; that is told after it.
    let told = heard(&mut bus);
    assert_eq!(told[..2], ["mode-changed assistant developer manual", "system-prompt-updated developer mode"]);
    assert!(told[2..].iter().all(|told| told.starts_with("active-tools-updated")), "{told:?}");
    assert_eq!(agent.conversations().set_mode(&id(&agent).await, "developer").await.unwrap(), ChangeOutcome::Unchanged);
    say(&agent, "and?").await;
    assert_eq!(heard(&mut bus), [""; 0], "the prompt that is sent is the one that was told of");

    let calls = bench.server.calls();
    let (before, after) = (calls[0].system(), calls[1].system());
    let profile = agent.profiles().all().unwrap().get("ollm").cloned().unwrap();
    let template = |mode: &str| {
        let form = profile.mode(mode, limpid_core::Tier::ALL[2]).unwrap().unwrap();
        form.form.source.clone()
    };
    assert_ne!(template("assistant"), template("developer"));
    assert_ne!(before, after);
    for kept in ["[Core Mandates]", "[Sanity Checks]", "Never shout."] {
        assert!(before.contains(kept) && after.contains(kept), "{kept} is gone");
    }
    let roles: Vec<String> = calls[1].texts().into_iter().map(|sent| sent.role).collect();
    assert_eq!(roles.iter().filter(|role| *role == "system").count(), 1);
    assert_eq!(roles[0], "system");
}

// OLLM-033
#[tokio::test]
async fn an_unknown_mode_changes_nothing() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let before = agent.directory().find(&ConversationChoice::Last).await.unwrap();
    let mut bus = agent.subscribe();
    let error = agent.conversations().set_mode(&id(&agent).await, "sleepy").await.unwrap_err().to_string();
    assert_eq!(error, "unknown mode `sleepy`; there are: assistant, debugger, developer, planning, user");
    let refused = ChatRequest { mode: Some("sleepy".to_owned()), ..last("hi") };
    assert!(agent.chat(refused).await.is_err());
    assert_eq!(agent.directory().find(&ConversationChoice::Last).await.unwrap(), before);
    assert_eq!(heard(&mut bus), [""; 0]);
}

// OLLM-034 OLLM-045
#[tokio::test]
async fn modes_are_kept_by_conversation_and_over_a_restart() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let first = id(&agent).await;
    agent.conversations().set_mode(&first, "planning").await.unwrap();
    bench.clock.forward(1.minute());
    agent.conversations().set_mode(&first, "debugger").await.unwrap();
    let other = all(agent.chat(ChatRequest { text: "hi".into(), ..ChatRequest::default() }).await.unwrap()).await;
    assert!(other.len() > 1);
    let again = bench.agent();
    let mode = async |id: &ConversationId| again.modes().state(&ConversationChoice::Id(id.clone())).await.unwrap().mode;
    assert_eq!(mode(&first).await, "debugger");
    assert_eq!(mode(&id(&again).await).await, "assistant");
    let history = again.modes().history(&first).await.unwrap();
    let told: Vec<_> = history.iter().map(|s| (s.from.as_str(), s.to.as_str(), s.trigger.as_str())).collect();
    assert_eq!(told, [("planning", "debugger", "manual"), ("assistant", "planning", "manual")]);
    assert!(history[0].at_ms - history[1].at_ms == 60_000);
}

// OLLM-045
#[tokio::test]
async fn the_history_shows_the_last_hundred_switches() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let id = id(&agent).await;
    for n in 0..103 {
        let to = if n % 2 == 0 { "planning" } else { "developer" };
        agent.conversations().set_mode(&id, to).await.unwrap();
        bench.clock.forward(1.second());
    }
    let history = agent.modes().history(&id).await.unwrap();
    assert_eq!(history.len(), 100);
    assert_eq!((history[0].to.as_str(), history[99].to.as_str()), ("planning", "developer"));
}

// OLLM-043
#[tokio::test]
async fn a_mode_that_is_set_while_a_reply_is_under_way_applies_when_it_ends() {
    let script = "[[reply]]\ncalls = [{ name = \"once\", arguments = {} }]\n[[reply]]\ntext = \"Done.\"\n\
                  [[reply]]\ntext = \"Next.\"\n";
    let bench = Bench::new(script).await;
    let once = Once::new();
    let tools: Vec<Arc<dyn limpid_runtime::Tool>> = vec![Arc::clone(&once) as _];
    let agent = Agent::open(AgentOptions { tools, ..bench.options() }).unwrap();
    let mut bus = agent.subscribe();
    let handle = agent.chat(last("hi")).await.unwrap();
    once.running.acquire().await.unwrap().forget();
    let id = id(&agent).await;
    heard(&mut bus);
    assert_eq!(agent.conversations().set_mode(&id, "planning").await.unwrap(), ChangeOutcome::Deferred);
    assert_eq!(heard(&mut bus), [""; 0]);
    assert_eq!(agent.modes().state(&ConversationChoice::Id(id.clone())).await.unwrap().mode, "assistant");
    once.go_on.add_permits(1);
    all(handle).await;
    say(&agent, "and?").await;
    let calls = bench.server.calls();
    assert_eq!(calls[0].system(), calls[1].system(), "the running turn keeps its prompt");
    assert_ne!(calls[1].system(), calls[2].system());
    let told = heard(&mut bus);
    assert_eq!(told[..2], ["mode-changed assistant planning manual", "system-prompt-updated planning mode"]);
    assert!(told[2..].iter().all(|told| told.starts_with("active-tools-updated")), "{told:?}");
}

// OLLM-044
#[tokio::test]
async fn focus_refuses_every_switch_until_it_ends_and_survives_a_restart() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let id = id(&agent).await;
    let on = agent.modes().focus(&id, FocusChange::On(None)).await.unwrap();
    assert_eq!(on.map(|focus| focus.minutes), Some(25));
    let agent = bench.agent();
    let refused = agent.conversations().set_mode(&id, "planning").await.unwrap_err().to_string();
    assert!(refused.contains("25 minutes more") && refused.contains("/mode focus off"), "{refused}");
    let by_flag = ChatRequest { mode: Some("planning".to_owned()), ..last("hi") };
    assert!(agent.chat(by_flag).await.is_err());
    assert!(agent.conversations().set_mode(&id, "assistant").await.is_ok(), "the mode that is on may be asked for");
    agent.modes().focus(&id, FocusChange::Extend(10)).await.unwrap();
    bench.clock.forward(34.minutes());
    assert!(agent.conversations().set_mode(&id, "planning").await.is_err());
    bench.clock.forward(1.minute());
    assert!(agent.conversations().set_mode(&id, "planning").await.is_ok(), "it is over");
    assert!(agent.modes().focus(&id, FocusChange::Extend(10)).await.is_err());
    for minutes in [0, 241] {
        assert!(agent.modes().focus(&id, FocusChange::On(Some(minutes))).await.is_err());
    }
    agent.modes().focus(&id, FocusChange::On(Some(240))).await.unwrap();
    assert_eq!(agent.modes().focus(&id, FocusChange::Off).await.unwrap(), None);
    assert!(agent.conversations().set_mode(&id, "developer").await.is_ok());
}

// OLLM-040 OLLM-042
#[tokio::test]
async fn a_mode_is_suggested_and_not_again_at_once() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    let first = say(&agent, "Let us draw up a roadmap").await;
    let told = "this sounds like planning (“roadmap”; 70 % sure): switch with /mode planning";
    assert_eq!(notices(&first), [told]);
    bench.clock.forward(29.seconds());
    assert_eq!(notices(&say(&agent, "And the architecture?").await), [""; 0]);
    bench.clock.forward(1.second());
    assert_eq!(notices(&say(&agent, "The roadmap, please").await), [told]);
    let state = agent.modes().state(&ConversationChoice::Last).await.unwrap();
    assert_eq!(state.mode, "assistant", "a suggestion switches nothing");
}

// OLLM-040 OLLM-045
#[tokio::test]
async fn where_the_owner_wants_it_the_mode_follows_the_words() {
    let mut bench = Bench::new(REPLIES).await;
    bench.config.modes = Config::parse("[modes]\nauto = true\n", "limpid.toml").unwrap().modes;
    let agent = bench.agent();
    let events = say(&agent, "Let us draw up a roadmap").await;
    assert_eq!(notices(&events), ["the mode is planning for this (“roadmap”); back with /mode assistant"]);
    // It has lasted 59 seconds when the next words come.
    bench.clock.forward(59.seconds());
    say(&agent, "Switch to developer mode").await;
    bench.clock.forward(1.second());
    say(&agent, "Switch to developer mode").await;
    let history = agent.modes().history(&id(&agent).await).await.unwrap();
    let told: Vec<_> = history.iter().map(|s| (s.to.as_str(), s.trigger.as_str(), s.confidence)).collect();
    assert_eq!(told, [("developer", "explicit", Some(100)), ("planning", "auto", Some(70))]);
}

// OLLM-107 OLLM-061
#[tokio::test]
async fn other_tools_are_told_once() {
    let bench = Bench::new(REPLIES).await;
    say(&bench.agent(), "hi").await;
    let tools: Vec<Arc<dyn limpid_runtime::Tool>> = vec![Once::new()];
    let agent = Agent::open(AgentOptions { tools, ..bench.options() }).unwrap();
    let mut bus = agent.subscribe();
    say(&agent, "and?").await;
    let told = heard(&mut bus);
    assert!(told.contains(&"active-tools-updated [\"once\"]".to_owned()), "{told:?}");
    say(&agent, "and?").await;
    assert_eq!(heard(&mut bus), [""; 0]);
}

// OLLM-049
#[tokio::test]
async fn a_template_that_stands_in_is_told_once_with_the_places_that_were_tried() {
    let mut bench = Bench::new(REPLIES).await;
    bench.config.agent.profile = "ollm".to_owned();
    bench.config.agent.mode = "scout".to_owned();
    bench.write("profiles/ollm/modes/scout/tier5.md", "You scout.\n");
    let told = say(&bench.agent(), "hi").await;
    let expected = "the mode scout has no template for tier 3 (Standard): home:profiles/ollm/modes/scout/tier5.md is \
                    used; looked for modes/scout/tier3.md, modes/scout/tier2.md, modes/scout/tier1.md, \
                    modes/scout/tier4.md";
    assert_eq!(notices(&told), [expected]);
    let again = bench.agent();
    assert_eq!(notices(&say(&again, "and?").await), [""; 0]);
    let other = again.chat(ChatRequest { text: "hi".into(), ..ChatRequest::default() }).await.unwrap();
    assert_eq!(notices(&all(other).await), [""; 0]);
}

// OLLM-040 SEC-002
#[tokio::test]
async fn the_words_of_a_stranger_switch_no_mode() {
    let mut bench = Bench::new(REPLIES).await;
    bench.config.modes = Config::parse("[modes]\nauto = true\n", "limpid.toml").unwrap().modes;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let conversation = id(&agent).await;
    let from = |trust| NewInbound {
        conversation: conversation.clone(),
        key: None,
        text: "Switch to developer mode".to_owned(),
        trust,
        typed: false,
        base: limpid_store::Base::Workspace,
        now_ms: 0,
    };
    for (trust, mode) in [(Trust::Guest, "assistant"), (Trust::Owner, "developer")] {
        agent.store().accept(from(trust)).await.unwrap();
        agent.conversations().resume().await.unwrap();
        agent.conversations().wait_idle(&conversation).await;
        assert_eq!(agent.modes().state(&ConversationChoice::Last).await.unwrap().mode, mode, "{trust}");
    }
}
