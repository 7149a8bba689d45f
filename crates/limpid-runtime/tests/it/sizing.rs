//! The window of a conversation: its size, its tier, and what is taken out of it.

use crate::kit::{Bench, say};
use limpid_core::{ConversationId, WindowSize};
use limpid_runtime::{Agent, ChangeOutcome, ConversationChoice, Environment, EventKind, TurnEvent};
use limpid_testkit::Recorded;
use serde_json::Value;

const REPLIES: &str = "[[reply]]\ntext = \"One.\"\n[[reply]]\ntext = \"Two.\"\n[[reply]]\ntext = \"Three.\"\n";

async fn id(agent: &Agent) -> ConversationId {
    agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id
}

/// An agent that asks Ollama for a model with a window.
fn with_window(bench: &mut Bench, window: u32) -> Agent {
    bench.config.model = Some("ollama/small".to_owned());
    bench.config.agent.profile = "ollm".to_owned();
    bench.write("models.toml", &format!("[[model]]\nnames = [\"ollama/small\"]\nwindow = {window}\n"));
    let environment = Environment::new([("OLLAMA_HOST".to_owned(), bench.server.url())]);
    Agent::open(limpid_runtime::AgentOptions { environment, ..bench.options() }).unwrap()
}

fn num_ctx(calls: &[Recorded]) -> Vec<Value> {
    calls.iter().map(|call| call.json()["options"]["num_ctx"].clone()).collect()
}

fn warned(events: &[TurnEvent]) -> bool {
    events.iter().any(|event| matches!(event, TurnEvent::Notice(text) if text.contains("stays at 16384")))
}

// OLLM-018 OLLM-026 OLLM-027 OLLM-110 LES-076
#[tokio::test]
async fn a_larger_window_only_warns_until_the_person_takes_it() {
    let mut bench = Bench::new(REPLIES).await;
    say(&with_window(&mut bench, 16_384), "hi").await;
    let agent = with_window(&mut bench, 20_480);
    let mut bus = agent.subscribe();
    assert!(warned(&say(&agent, "and?").await));
    assert!(!warned(&say(&agent, "and?").await), "once in 30 seconds");
    assert_eq!(num_ctx(&bench.server.calls()), [13_926, 13_926, 13_926]);
    let calls = bench.server.calls();
    assert_eq!(calls[0].system(), calls[2].system());
    assert!(bus.try_recv().is_err(), "nothing changed");
    let tiers = agent.conversations().tiers(&ConversationChoice::Last).await.unwrap();
    assert_eq!((tiers.actual, tiers.window), (Some(WindowSize(20_480)), Some(WindowSize(16_384))));
    assert_eq!(tiers.effective.number(), 3);

    let id = id(&agent).await;
    agent.conversations().set_window(&id, Some(WindowSize(20_480))).await.unwrap();
    let changes: Vec<EventKind> = std::iter::from_fn(|| bus.try_recv().ok()).map(|event| event.change).collect();
    assert_eq!(changes[0], EventKind::PromptTierChanged { old: 3, new: 4, reason: "resize".to_owned() });
    let told = matches!(&changes[1], EventKind::SystemPromptUpdated { tier: 4, reason, .. } if reason == "tier");
    // A higher tier has room for more tools.
    let rest = changes[2..].iter().all(|change| matches!(change, EventKind::ActiveToolsUpdated(_)));
    assert!(told && rest, "{changes:?}");
    say(&agent, "and now?").await;
    let calls = bench.server.calls();
    assert_eq!(num_ctx(&calls)[3], 17_408);
    assert_ne!(calls[2].system(), calls[3].system());
    assert!(bus.try_recv().is_err(), "the prompt that is sent is the one that was told of");
}

// OLLM-018 OLLM-026
#[tokio::test]
async fn a_smaller_window_holds_over_a_restart_and_in_new_conversations_not() {
    let mut bench = Bench::new(REPLIES).await;
    let agent = with_window(&mut bench, 16_384);
    say(&agent, "hi").await;
    let id = id(&agent).await;
    let too_large = agent.conversations().set_window(&id, Some(WindowSize(32_768))).await.unwrap_err().to_string();
    assert_eq!(too_large, "ollama/small cannot have a window of 32768 tokens; choose 2048 to 16384");
    assert!(agent.conversations().set_window(&id, Some(WindowSize(100))).await.is_err());
    let settled = agent.conversations().set_window(&id, Some(WindowSize(4096))).await.unwrap();
    assert_eq!(settled, ChangeOutcome::Applied("the model's own".to_owned()));
    let agent = with_window(&mut bench, 16_384);
    say(&agent, "and?").await;
    let new = limpid_runtime::ChatRequest { text: "hi".into(), ..Default::default() };
    crate::kit::all(agent.chat(new).await.unwrap()).await;
    assert_eq!(num_ctx(&bench.server.calls()), [13_926, 3482, 13_926]);
    assert_eq!(agent.conversations().tiers(&ConversationChoice::Id(id.clone())).await.unwrap().effective.number(), 1);
    agent.conversations().set_window(&id, None).await.unwrap();
    assert_eq!(agent.conversations().tiers(&ConversationChoice::Id(id)).await.unwrap().effective.number(), 3);
}

// LES-148
#[tokio::test]
async fn a_turn_is_taken_out_of_what_is_sent_and_put_back() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "I like tea").await;
    say(&agent, "I like coffee").await;
    let id = id(&agent).await;
    assert_eq!(agent.conversations().undo_turn(&id).await.unwrap(), ChangeOutcome::Applied("I like coffee".to_owned()));
    let agent = bench.agent();
    say(&agent, "What do I like?").await;
    let sent = |at: usize| bench.server.calls()[at].text();
    assert!(sent(2).contains("I like tea") && !sent(2).contains("coffee"), "{}", sent(2));
    assert_eq!(agent.store().messages(&id, None).await.unwrap().rows.len(), 6, "nothing is deleted");
    // The last turn in the window is the newest; the one that is out stays out.
    assert_eq!(
        agent.conversations().undo_turn(&id).await.unwrap(),
        ChangeOutcome::Applied("What do I like?".to_owned())
    );
    assert_eq!(agent.conversations().undo_turn(&id).await.unwrap(), ChangeOutcome::Applied("I like tea".to_owned()));
    assert!(agent.conversations().undo_turn(&id).await.is_err());
    for _ in 0..3 {
        agent.conversations().redo_turn(&id).await.unwrap();
    }
    assert!(agent.conversations().redo_turn(&id).await.is_err());
    say(&agent, "And?").await;
    assert!(sent(3).contains("I like tea") && sent(3).contains("coffee"));
}

// LES-148
#[tokio::test]
async fn of_several_turns_that_are_out_the_one_that_went_last_comes_back_first() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "I like tea").await;
    say(&agent, "I like coffee").await;
    let id = id(&agent).await;
    for _ in 0..2 {
        agent.conversations().undo_turn(&id).await.unwrap();
    }
    agent.conversations().redo_turn(&id).await.unwrap();
    say(&agent, "What do I like?").await;
    let sent = bench.server.calls()[2].text();
    assert!(sent.contains("I like tea") && !sent.contains("coffee"), "{sent}");
}
