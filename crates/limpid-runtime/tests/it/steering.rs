//! Messages and stops while a turn runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::kit::{Bench, Once, all, last, say, text};
use limpid_core::Role;
use limpid_runtime::{Agent, ConversationChoice, TurnEvent};
use limpid_store::{Audience, ConversationChange};
use limpid_turn::Outcome;

const ONCE: &str = "[[reply]]\ncalls = [{ id = \"o\", name = \"once\" }]\n[[reply]]\ntext = \"Done.\"\n";

async fn with_once(script: &str) -> (Bench, Agent, Arc<Once>) {
    let bench = Bench::new(script).await;
    let once = Once::new();
    let mut options = bench.options();
    options.tools = vec![Arc::clone(&once) as Arc<dyn limpid_runtime::Tool>];
    (bench, Agent::open(options).unwrap(), once)
}

async fn stored(agent: &Agent) -> Vec<(Role, String)> {
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    let rows = agent.store().messages(&conversation.id, None).await.unwrap().rows;
    rows.into_iter().map(|row| (row.message.role, row.typed.unwrap_or(row.message.text))).collect()
}

// ARC-011
#[tokio::test]
async fn a_message_during_a_tool_call_steers_the_turn() {
    let (bench, agent, once) = with_once(ONCE).await;
    let first = agent.chat(last("do it")).await.unwrap();
    once.running.acquire().await.unwrap().forget();
    let second = first.steer("and quickly").await.unwrap();
    once.go_on.add_permits(1);
    let (first, second) = tokio::join!(all(first), all(second));
    assert_eq!(bench.server.calls().len(), 2);
    assert_eq!(bench.server.calls()[1].user(), "and quickly");
    assert_eq!((text(&first), text(&second)), ("Done.".to_owned(), "Done.".to_owned()));
    let roles: Vec<String> = stored(&agent).await.into_iter().map(|(role, text)| format!("{role} {text}")).collect();
    assert_eq!(roles, ["user do it", "assistant ", "tool done", "user and quickly", "assistant Done."]);
}

// ARC-011 LES-144
#[tokio::test]
async fn a_message_that_finds_no_border_begins_the_next_turn_also_after_a_stop() {
    let (bench, agent, once) =
        with_once("[[reply]]\ncalls = [{ id = \"o\", name = \"once\" }]\n[[reply]]\ntext = \"The second.\"\n").await;
    let first = agent.chat(last("do it")).await.unwrap();
    once.running.acquire().await.unwrap().forget();
    let second = first.steer("then this").await.unwrap();
    first.cancel();
    let (first, second) = tokio::join!(all(first), all(second));
    assert!(matches!(first.last(), Some(TurnEvent::Done { outcome: Outcome::Cancelled, .. })));
    assert_eq!(text(&second), "The second.");
    assert!(bench.server.calls()[1].text().contains("stopped by the user"));
}

// LES-144 ARC-010
#[tokio::test]
async fn fifty_quick_messages_are_all_in_the_history() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = bench.agent();
    let conversation = agent.chat(last("0")).await.unwrap().conversation().clone();
    let mut handles = Vec::new();
    for n in 1..50 {
        let conversation = ConversationChoice::Id(conversation.clone());
        handles.push(agent.chat(limpid_runtime::ChatRequest { conversation, ..last(&n.to_string()) }).await.unwrap());
    }
    for handle in handles {
        let events = all(handle).await;
        assert!(matches!(events.last(), Some(TurnEvent::Done { outcome: Outcome::Answered { .. }, .. })), "{events:?}");
    }
    let said: Vec<String> =
        stored(&agent).await.into_iter().filter(|(role, _)| *role == Role::User).map(|(_, text)| text).collect();
    assert_eq!(said, (0..50).map(|n| n.to_string()).collect::<Vec<_>>());
}

// LES-141 SUR-012
#[tokio::test]
async fn a_stop_keeps_what_was_said_and_the_next_turn_is_valid() {
    let bench =
        Bench::new("[[reply]]\ntext = [\"It is\", \" noon\"]\nhang = \"end\"\n[[reply]]\ntext = \"As I said.\"\n")
            .await;
    let agent = bench.agent();
    let mut handle = agent.chat(last("time?")).await.unwrap();
    let mut seen = String::new();
    while seen != "It is noon" {
        if let Some(TurnEvent::Text(text)) = handle.next().await {
            seen.push_str(&text);
        }
    }
    handle.cancel();
    let events = all(handle).await;
    assert!(matches!(events.last(), Some(TurnEvent::Done { outcome: Outcome::Cancelled, .. })));
    say(&agent, "what?").await;
    let said: Vec<String> = stored(&agent).await.into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["time?", "It is noon", "what?", "As I said."]);
    let end = agent.store().requests(limpid_store::RequestFilter::default()).await.unwrap().rows.remove(1).end.unwrap();
    assert_eq!((end.text.as_str(), end.failure.unwrap().0), ("It is noon", limpid_core::FailureClass::Cancelled));
}

// ARC-010
#[tokio::test]
async fn two_processes_take_turns_and_other_conversations_run_beside() {
    let (bench, agent, once) = with_once("[[reply]]\nwhen = \"do it\"\ncalls = [{ id = \"o\", name = \"once\" }]\n[[reply]]\nwhen = \"beside\"\ntext = \"Beside.\"\n[[reply]]\ntext = \"After.\"\n").await;
    let first = agent.chat(last("do it")).await.unwrap();
    once.running.acquire().await.unwrap().forget();

    let other = bench.agent();
    let here = ConversationChoice::Id(first.conversation().clone());
    let mut waiting = other.chat(limpid_runtime::ChatRequest { conversation: here, ..last("me too") }).await.unwrap();
    let beside = limpid_runtime::ChatRequest { conversation: ConversationChoice::New, ..last("beside") };
    assert_eq!(text(&all(other.chat(beside).await.unwrap()).await), "Beside.");

    assert!(matches!(waiting.next().await, Some(TurnEvent::Accepted { .. })));
    assert!(tokio::time::timeout(Duration::from_millis(100), waiting.next()).await.is_err(), "it waits for the lease");
    once.go_on.add_permits(1);
    let (first, second) = tokio::join!(all(first), all(waiting));
    assert_eq!(text(&first), "After.");
    assert!(second.last().unwrap().is_last());
    assert_eq!(once.runs.load(Ordering::SeqCst), 1);
}

// LES-145
#[tokio::test]
async fn a_message_that_is_delivered_again_is_answered_once() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = bench.agent();
    let conversation = agent.chat(last("hi")).await.unwrap().conversation().clone();
    let update = || limpid_runtime::ChatRequest {
        conversation: ConversationChoice::Id(conversation.clone()),
        key: Some("update 7".to_owned()),
        ..last("once")
    };
    all(agent.chat(update()).await.unwrap()).await;
    let again = all(agent.chat(update()).await.unwrap()).await;
    assert!(matches!(again.last(), Some(TurnEvent::Interrupted(_))));
    all(bench.agent().chat(update()).await.unwrap()).await;
    let said: Vec<String> = stored(&agent).await.into_iter().map(|(_, text)| text).collect();
    assert_eq!(said.iter().filter(|text| *text == "once").count(), 1);
}

/// Whoever stops what waits has thought better of it; what else was said meanwhile is answered.
// ARC-010 LES-144
#[tokio::test]
async fn a_message_that_is_stopped_while_it_waits_for_another_process_is_taken_back() {
    let (bench, agent, once) =
        with_once("[[reply]]\nwhen = \"do it\"\ncalls = [{ id = \"o\", name = \"once\" }]\n[[reply]]\ntext = \"ok\"\n")
            .await;
    let first = agent.chat(last("do it")).await.unwrap();
    once.running.acquire().await.unwrap().forget();
    let other = bench.agent();
    let here = || ConversationChoice::Id(first.conversation().clone());
    let say = |text: &str| limpid_runtime::ChatRequest { conversation: here(), ..last(text) };
    let letter = Some(limpid_core::Labelled::outside("Dear Ada".to_owned()));
    let stopped = limpid_runtime::ChatRequest { handed_in: letter, ..say("begin anew") };
    let stopped = other.chat(stopped).await.unwrap();
    let waiting = other.chat(say("me too")).await.unwrap();
    stopped.cancel();
    let events = all(stopped).await;
    let end = events.last();
    assert!(matches!(end, Some(TurnEvent::Done { outcome: Outcome::Cancelled, answer: None })), "{events:?}");
    once.go_on.add_permits(1);
    let (_, events) = tokio::join!(all(first), all(waiting));
    assert!(matches!(events.last(), Some(TurnEvent::Done { outcome: Outcome::Answered { .. }, .. })), "{events:?}");
    other.conversations().resume().await.unwrap();
    let said: Vec<String> = stored(&agent).await.into_iter().map(|(_, text)| text).collect();
    assert!(said.contains(&"me too".to_owned()) && !said.contains(&"begin anew".to_owned()), "{said:?}");
    assert!(said.iter().all(|text| !text.contains("Dear Ada")), "{said:?}");
    assert!(agent.store().conversations_that_wait().await.unwrap().is_empty());
}

/// The same within the turn that hears it: that one ends, and nothing answers the message after it.
// LES-144
#[tokio::test]
async fn a_message_that_is_stopped_in_the_midst_of_a_turn_is_not_answered_after_it() {
    let (_bench, agent, once) =
        with_once("[[reply]]\nwhen = \"do it\"\ncalls = [{ id = \"o\", name = \"once\" }]\n[[reply]]\ntext = \"ok\"\n")
            .await;
    let first = agent.chat(last("do it")).await.unwrap();
    once.running.acquire().await.unwrap().forget();
    let here = ConversationChoice::Id(first.conversation().clone());
    let second = limpid_runtime::ChatRequest { conversation: here, ..last("begin anew") };
    let second = agent.chat(second).await.unwrap();
    second.cancel();
    once.go_on.add_permits(1);
    let (_, events) = tokio::join!(all(first), all(second));
    assert!(events.last().is_some_and(TurnEvent::is_last), "{events:?}");
    assert!(agent.store().conversations_that_wait().await.unwrap().is_empty());
    assert!(stored(&agent).await.iter().all(|(role, text)| *role != Role::Assistant || text != "ok"));
}

/// Who reads the conversation is asked at each call: others may read it since the turn began.
// SEC-065 PICO-029
#[tokio::test]
async fn a_turn_under_way_keeps_from_others_what_is_the_owners() {
    for audience in [Audience::Group, Audience::Owner] {
        let (bench, agent, once) = with_once(
            "[[reply]]\nwhen = \"do it\"\n\
             calls = [{ id = \"p\", name = \"read_file\", arguments = { path = \"outside/page.md\" } }, { id = \"o\", name = \"once\" }]\n\
             [[reply]]\ncalls = [{ id = \"d\", name = \"read_file\", arguments = { path = \"diary.md\" } }]\n\
             [[reply]]\ntext = \"ok\"\n",
        )
        .await;
        bench.write("outside/page.md", "Dear all");
        bench.write("workspace/diary.md", "The PIN is 4711.");
        let turn = agent.chat(last("do it")).await.unwrap();
        once.running.acquire().await.unwrap().forget();
        let change = vec![ConversationChange::Audience(audience)];
        agent.store().change_conversation(turn.conversation(), change, 1).await.unwrap();
        once.go_on.add_permits(1);
        all(turn).await;
        let told = bench.server.calls().last().unwrap().text();
        let drafts = agent.drafts().list(false).await.unwrap().rows.len();
        let is_private = audience == Audience::Owner;
        assert_eq!((told.contains("4711"), drafts), (is_private, usize::from(!is_private)), "{told}");
    }
}

/// A message that comes again while the turn that has it runs is in that turn already, whether the turn began with it or
/// was steered by it.
// LES-145
#[tokio::test]
async fn a_message_that_is_delivered_again_while_its_turn_runs_is_in_it_once() {
    let (bench, agent, once) = with_once(ONCE).await;
    let begun = limpid_runtime::ChatRequest { key: Some("update 1".to_owned()), ..last("do it") };
    let first = agent.chat(begun.clone()).await.unwrap();
    once.running.acquire().await.unwrap().forget();
    let here = ConversationChoice::Id(first.conversation().clone());
    let steers = limpid_runtime::ChatRequest {
        conversation: here.clone(),
        key: Some("update 2".to_owned()),
        ..last("and quickly")
    };
    let begun = limpid_runtime::ChatRequest { conversation: here, ..begun };
    let mut handles = vec![first];
    for request in [&begun, &steers, &steers, &begun] {
        handles.push(agent.chat(request.clone()).await.unwrap());
    }
    once.go_on.add_permits(1);
    for handle in handles {
        let events = all(handle).await;
        assert!(events.last().is_some_and(TurnEvent::is_last), "{events:?}");
    }
    let said: Vec<String> = stored(&agent).await.into_iter().map(|(role, text)| format!("{role} {text}")).collect();
    assert_eq!(said, ["user do it", "assistant ", "tool done", "user and quickly", "assistant Done."]);
    assert_eq!(bench.server.calls().len(), 2);
    // A second start finds nothing that still waits.
    let again = bench.agent();
    again.conversations().resume().await.unwrap();
    assert_eq!(stored(&again).await.len(), 5);
}

// LES-144
#[tokio::test]
async fn a_message_during_a_call_that_times_out_is_answered() {
    let bench =
        Bench::new("[[reply]]\ncalls = [{ id = \"s\", name = \"hangs\" }]\n[[reply]]\ntext = \"Both.\"\n").await;
    let mut options = bench.options();
    options.tools = vec![Arc::new(crate::kit::Hangs) as Arc<dyn limpid_runtime::Tool>];
    let agent = Agent::open(options).unwrap();
    let mut first = agent.chat(last("do it")).await.unwrap();
    while !matches!(first.next().await, Some(TurnEvent::ToolStarted { .. })) {}
    let second = first.steer("are you there?").await.unwrap();
    let (first, second) = tokio::join!(all(first), all(second));
    assert!(matches!(first.last(), Some(TurnEvent::Done { outcome: Outcome::Answered { .. }, .. })), "{first:?}");
    assert_eq!(text(&second), "Both.");
    let said = stored(&agent).await;
    assert_eq!(said.iter().filter(|(_, text)| text == "are you there?").count(), 1, "{said:?}");
    let request = bench.server.calls().last().unwrap().text();
    assert!(request.contains("no result within") && request.contains("are you there?"), "{request}");
}
