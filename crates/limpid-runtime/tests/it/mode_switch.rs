//! What a switch of modes leaves as it is, and when it waits.

use std::sync::Arc;

use crate::kit::{Bench, Once, all, last, say};
use limpid_core::goal::Priority;
use limpid_core::{ConversationId, WindowSize};
use limpid_runtime::{
    Agent, AgentOptions, ChangeOutcome, ChatRequest, Config, ConversationChoice, Environment, EventKind, Tool,
    TurnEvent,
};

const OK: &str = "[[reply]]\ntext = \"ok\"\n";
const LAST: ConversationChoice = ConversationChoice::Last;

async fn id(agent: &Agent) -> ConversationId {
    agent.directory().find(&LAST).await.unwrap().unwrap().id
}

// OLLM-029
#[tokio::test]
async fn a_switch_keeps_the_tier_although_the_model_has_grown() {
    let mut bench = Bench::new(OK).await;
    bench.config.model = Some("ollama/small".to_owned());
    bench.config.agent.profile = "ollm".to_owned();
    let with_window = |window: u32| {
        bench.write("models.toml", &format!("[[model]]\nnames = [\"ollama/small\"]\nwindow = {window}\n"));
        let environment = Environment::new([("OLLAMA_HOST".to_owned(), bench.server.url())]);
        Agent::open(AgentOptions { environment, ..bench.options() }).unwrap()
    };
    say(&with_window(8192), "hi").await;
    let agent = with_window(32_768);
    let mut bus = agent.subscribe();
    agent.conversations().set_mode(&id(&agent).await, "planning").await.unwrap();
    let told: Vec<EventKind> = std::iter::from_fn(|| bus.try_recv().ok()).map(|event| event.change).collect();
    assert!(!told.iter().any(|change| matches!(change, EventKind::PromptTierChanged { .. })), "{told:?}");
    let rebuilt = |change: &EventKind| matches!(change, EventKind::SystemPromptUpdated { tier: 2, mode, .. } if mode == "planning");
    assert!(told.iter().any(rebuilt), "{told:?}");
    let tiers = agent.conversations().tiers(&LAST).await.unwrap();
    assert_eq!((tiers.effective.number(), tiers.window), (2, Some(WindowSize(8192))));
}

// OLLM-030 OLLM-031 OLLM-029
#[tokio::test]
async fn goal_skills_sanity_and_additional_text_survive_every_switch() {
    let mut bench = Bench::new(OK).await;
    bench.config.agent.profile = "ollm".to_owned();
    bench.config.prompt.additional_instructions = "Never shout.".to_owned();
    bench.write("skills/house/SKILL.md", "---\ndescription: The house\n---\nMetric units.\n");
    let agent = bench.agent();
    say(&agent, "hi").await;
    agent.goals().create(&LAST, "Mend the pump", Priority::High).await.unwrap();
    agent.conversations().use_skills(&LAST, vec!["house".to_owned()]).await.unwrap();
    let kept = ["CURRENT GOAL: Mend the pump", "[Active Skills]\nMetric units.", "[Sanity Checks]", "Never shout."];
    let mut before = String::new();
    for mode in ["planning", "user", "debugger", "assistant", "developer"] {
        agent.conversations().set_mode(&id(&agent).await, mode).await.unwrap();
        say(&agent, "and now?").await;
        let system = bench.server.calls().last().unwrap().system();
        for kept in kept {
            assert_eq!(system.matches(kept).count(), 1, "{mode}, {kept}: {system}");
        }
        assert_ne!(system, before, "{mode} is in force");
        before = system;
    }
}

// OLLM-033
#[tokio::test]
async fn a_profile_without_modes_has_those_of_the_default_one_and_refuses_others_with_their_list() {
    for profile in ["kai", "koshi", "picoclaw"] {
        let mut bench = Bench::new(OK).await;
        bench.config.agent.profile = profile.to_owned();
        let agent = bench.agent();
        say(&agent, "hi").await;
        let before = agent.directory().find(&LAST).await.unwrap();
        let refused = agent.conversations().set_mode(&id(&agent).await, "sleepy").await.unwrap_err().to_string();
        let list = "there are: assistant, debugger, developer, planning, user";
        assert_eq!(refused, format!("unknown mode `sleepy`; {list}"), "{profile}");
        assert_eq!(agent.directory().find(&LAST).await.unwrap(), before, "{profile}");
        agent.conversations().set_mode(&id(&agent).await, "planning").await.unwrap();
        assert_eq!(agent.modes().state(&LAST).await.unwrap().mode, "planning", "{profile}");
    }
}

// OLLM-033
#[tokio::test]
async fn a_message_that_asks_for_an_unknown_mode_changes_neither_profile_nor_model_on_the_way() {
    let bench = Bench::new(OK).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let before = agent.directory().find(&LAST).await.unwrap();
    let refused = ChatRequest {
        mode: Some("sleepy".to_owned()),
        profile: Some("ollm".to_owned()),
        model: Some("openai/other".to_owned()),
        ..last("hi")
    };
    let error = agent.chat(refused).await.unwrap_err().to_string();
    assert!(error.contains("`sleepy`; there are: assistant, debugger, developer, planning, user"), "{error}");
    assert_eq!(agent.directory().find(&LAST).await.unwrap(), before);
    let begun = ChatRequest { conversation: ConversationChoice::New, mode: Some("sleepy".to_owned()), ..last("hi") };
    let error = agent.chat(begun).await.unwrap_err().to_string();
    assert!(error.contains("`sleepy`; there are: assistant, debugger, developer, planning, user"), "{error}");
    assert_eq!(agent.store().conversations(9).await.unwrap().rows.len(), 1, "no conversation was begun");
    assert_eq!(bench.server.calls().len(), 1);
}

// OLLM-043
#[tokio::test]
async fn a_mode_that_is_set_while_text_streams_applies_when_the_reply_has_ended() {
    let script = "[[reply]]\ntext = [\"It is\", \" noon\"]\nhang = \"end\"\n[[reply]]\ntext = \"Next.\"\n";
    let bench = Bench::new(script).await;
    let agent = bench.agent();
    let mut handle = agent.chat(last("time?")).await.unwrap();
    let mut seen = String::new();
    while seen != "It is noon" {
        if let Some(TurnEvent::Text(text)) = handle.next().await {
            seen.push_str(&text);
        }
    }
    let mut bus = agent.subscribe();
    assert_eq!(agent.conversations().set_mode(&id(&agent).await, "planning").await.unwrap(), ChangeOutcome::Deferred);
    assert_eq!(agent.modes().state(&LAST).await.unwrap().mode, "assistant");
    assert!(bus.try_recv().is_err(), "nothing changed yet");
    handle.cancel();
    all(handle).await;
    agent.conversations().wait_idle(&id(&agent).await).await;
    assert_eq!(agent.modes().state(&LAST).await.unwrap().mode, "planning");
    let switched = |change: &EventKind| matches!(change, EventKind::ModeChanged { to, .. } if to == "planning");
    let told: Vec<EventKind> = std::iter::from_fn(|| bus.try_recv().ok()).map(|event| event.change).collect();
    assert_eq!(told.iter().filter(|change| switched(change)).count(), 1, "{told:?}");
}

// OLLM-043
#[tokio::test]
async fn what_is_said_while_a_reply_is_under_way_suggests_and_switches_nothing() {
    for modes in ["", "[modes]\nauto = true\n"] {
        let script = "[[reply]]\ncalls = [{ name = \"once\" }]\n[[reply]]\ntext = \"Done.\"\n";
        let mut bench = Bench::new(script).await;
        bench.config.modes = Config::parse(modes, "limpid.toml").unwrap().modes;
        let once = Once::new();
        let tools: Vec<Arc<dyn Tool>> = vec![Arc::clone(&once) as _];
        let agent = Agent::open(AgentOptions { tools, ..bench.options() }).unwrap();
        let first = agent.chat(last("hi")).await.unwrap();
        once.running.acquire().await.unwrap().forget();
        let second = first.steer("Let us draw up a roadmap").await.unwrap();
        once.go_on.add_permits(1);
        let (first, second) = tokio::join!(all(first), all(second));
        let told = |event: &TurnEvent| matches!(event, TurnEvent::Notice(text) if text.contains("planning"));
        assert!(!first.iter().chain(&second).any(told), "{first:?} {second:?}");
        assert_eq!(agent.modes().state(&LAST).await.unwrap().mode, "assistant");
        assert!(agent.modes().history(&id(&agent).await).await.unwrap().is_empty());
        let calls = bench.server.calls();
        assert_eq!(calls[0].system(), calls[1].system());
    }
}

// OLLM-045
#[tokio::test]
async fn the_history_of_modes_is_shown_with_time_trigger_and_confidence_and_survives_a_restart() {
    let mut bench = Bench::new(OK).await;
    bench.config.modes = Config::parse("[modes]\nauto = true\n", "limpid.toml").unwrap().modes;
    let agent = bench.agent();
    say(&agent, "Let us draw up a roadmap").await;
    bench.clock.forward(jiff::Span::new().minutes(2));
    agent.conversations().set_mode(&id(&agent).await, "debugger").await.unwrap();
    let reply = bench.agent().command(&LAST, "/mode history").await.unwrap();
    let limpid_runtime::Input::Reply(reply) = reply else { panic!("{reply:?}") };
    assert_eq!(
        reply.text,
        "2026-03-28 13:02  planning → debugger (manual)\n2026-03-28 13:00  assistant → planning (auto, 70 % sure)"
    );
}
