//! Conversations that are longer than the model's window.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod kit;

use std::sync::Arc;

use kit::{Bench, say};
use limpid_core::{FailureClass, Role, ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{Model, ModelCall, ModelCard, ModelError};
use limpid_prompt::Prompt;
use limpid_prompt::count::{Estimate, TokenCounter};
use limpid_runtime::{Agent, AgentEvent, AgentOptions, Change, Config, ConversationChoice, Outcome};
use limpid_testkit::{Said, Talker};

/// A remote model with a window of so many tokens.
fn card(window: u32) -> ModelCard {
    ModelCard {
        provider: "test".to_owned(),
        id: "talker".to_owned(),
        local: false,
        window: Some(WindowSize(window)),
        usable_window: Some(UsableWindow::default_for(WindowSize(window))),
        tools: ToolProtocol::None,
        thinking: false,
        vision: false,
        price: None,
    }
}

/// Answers every message at some length, and summaries with the text.
fn talker(window: u32, summary: &'static str) -> Arc<Talker> {
    let answer = move |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Text(summary.to_owned()),
        _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(12))),
    };
    Arc::new(Talker::new(card(window), answer))
}

fn agent(bench: &Bench, model: &Arc<Talker>, config: &str) -> Agent {
    let config = Config::parse(config, "limpid.toml").unwrap();
    let model = Arc::clone(model) as Arc<dyn Model>;
    Agent::open(AgentOptions { model: Some(model), config, ..bench.options() }).unwrap()
}

fn text_of(prompt: &Prompt) -> String {
    prompt.messages().iter().map(|message| format!("[{}] {}\n", message.role(), message.text())).collect()
}

fn total(prompt: &Prompt) -> usize {
    let counter = Estimate::default();
    let messages = prompt.messages().iter().map(|message| counter.count(message.text()));
    messages.sum::<usize>() + prompt.tools().iter().map(|tool| counter.count(&tool.declaration())).sum::<usize>()
}

fn question(n: usize) -> String {
    format!("Question {n}: {}", "what about this and that? ".repeat(10))
}

fn outcome(events: &[AgentEvent]) -> &Outcome {
    let done =
        events.iter().find_map(|event| if let AgentEvent::Done { outcome, .. } = event { Some(outcome) } else { None });
    done.unwrap_or_else(|| panic!("no end: {events:?}"))
}

// OLLM-089 OLLM-125 OLLM-132 OLLM-133 LES-070
#[tokio::test]
async fn a_conversation_at_4k_gets_digests_and_goes_on_with_them() {
    for profile in ["limpid", "ollm", "picoclaw", "kai", "koshi"] {
        let bench = Bench::new("[[reply]]\ntext = \"unused\"\n").await;
        let model = talker(4096, "They talk about this and that; the port is 8080.");
        let config = format!("[agent]\nprofile = \"{profile}\"\n[memory]\nenabled = false\n");
        let agent = agent(&bench, &model, &config);
        let mut bus = agent.subscribe();
        for n in 1..=40 {
            let events = say(&agent, &question(n)).await;
            assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{profile} {n}: {:?}", outcome(&events));
        }
        let sent = model.take_sent();
        let chats: Vec<&Arc<Prompt>> = sent.iter().filter(|prompt| prompt.path().starts_with("chat")).collect();
        assert_eq!(chats.len(), 40);
        let usable = card(4096).usable_window.unwrap().0 as usize;
        for prompt in &chats {
            assert!(total(prompt) + usable / 4 <= usable, "{profile}: {} tokens", total(prompt));
            assert_eq!(prompt.messages().iter().filter(|message| message.role() == Role::System).count(), 1);
        }
        let last = text_of(chats[39]);
        assert!(last.contains("the port is 8080"), "{profile}: {last}");
        assert!(last.contains("Question 1: what about"), "{profile}: the request that began it is pinned");
        assert!(last.contains("Question 39: ") && !last.contains("Question 5: "), "{profile}: {last}");
        let mut finished = 0;
        while let Ok(event) = bus.try_recv() {
            finished += usize::from(matches!(event.change, Change::CompactionFinished { .. }));
        }
        assert!(finished >= 2, "{profile}: {finished} compactions");
        let conversation = agent.find_conversation(&ConversationChoice::Last).await.unwrap().unwrap();
        let all = agent.store().messages(&conversation.id, None).await.unwrap().rows;
        assert_eq!(all.len(), 80, "{profile}: nothing is deleted");
    }
}

const BARE: &str = "[memory]\nenabled = false\n";

async fn events_of(agent: &Agent) -> Vec<limpid_store::WindowEvent> {
    let conversation = agent.find_conversation(&ConversationChoice::Last).await.unwrap().unwrap();
    agent.store().window_events(&conversation.id, 50).await.unwrap().rows
}

async fn bench() -> Bench {
    Bench::new("[[reply]]\ntext = \"unused\"\n").await
}

fn fails(call: &ModelCall) -> Said {
    match call.prompt.path() {
        "summarize" | "merge-summaries" => {
            Said::Error(ModelError::new(FailureClass::Server, "the provider died in mid-summary"))
        }
        _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(12))),
    }
}

// LES-079 OLLM-095 OLLM-096 OLLM-135
#[tokio::test]
async fn a_provider_that_dies_in_mid_summary_is_logged_and_the_digest_is_made_without_it() {
    let bench = bench().await;
    let model = Arc::new(Talker::new(card(4096), fails));
    let agent = agent(&bench, &model, BARE);
    for n in 1..=25 {
        say(&agent, &question(n)).await;
    }
    let attempts = events_of(&agent).await;
    assert!(!attempts.is_empty());
    for attempt in &attempts {
        assert_eq!(attempt.new.failure, None);
        assert!(attempt.new.after < attempt.new.before);
        let steps = attempt.new.steps.join("\n");
        assert!(steps.contains("the provider died in mid-summary") && steps.contains("without a model"), "{steps}");
    }
    let calls = model.take_sent().iter().filter(|prompt| prompt.path() == "summarize").count();
    assert!(calls <= attempts.len() * 3, "{calls} calls in {} compactions", attempts.len());
}

// LES-080 LES-013
#[tokio::test]
async fn off_a_full_window_is_an_error_with_its_sizes_and_no_summary_is_asked_for() {
    let bench = bench().await;
    let model = talker(4096, "A summary of what was said so far.");
    let agent = agent(&bench, &model, &format!("{BARE}[window]\ncompaction = \"off\"\n"));
    let mut failure = None;
    for n in 1..=40 {
        let events = say(&agent, &question(n)).await;
        if let Outcome::Failed { message, .. } = outcome(&events) {
            failure = Some(message.clone());
            break;
        }
    }
    let message = failure.unwrap();
    for part in ["system ", "recent ", "in flight ", "reserve ", "can use 3482", "compaction is off", "/compact"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(model.take_sent().iter().all(|prompt| prompt.path().starts_with("chat")));
    assert_eq!(events_of(&agent).await, []);
    // What the person asks for is still done, and the conversation goes on.
    let report = agent.compact(&ConversationChoice::Last).await.unwrap();
    assert!(report.failure.is_none() && report.after < report.before, "{report:?}");
    assert!(matches!(outcome(&say(&agent, "And now?").await), Outcome::Answered { .. }));
}

// LES-080 OLLM-097 OLLM-106 PICO-049
#[tokio::test]
async fn a_compaction_by_hand_is_undone_and_the_next_request_is_as_before() {
    let bench = bench().await;
    let model = talker(16_384, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, BARE);
    for n in 1..=14 {
        say(&agent, &question(n)).await;
    }
    let last = || ConversationChoice::Last;
    let before = agent.context(&last()).await.unwrap();
    let report = agent.compact(&last()).await.unwrap();
    assert!(report.failure.is_none() && report.after < report.before, "{report:?}");
    let compacted = agent.context(&last()).await.unwrap();
    assert_eq!(compacted.view.digests.len(), 1);
    assert_eq!(compacted.ledger.conversation() as u64, report.after, "what it says it freed is freed");
    agent.undo_compaction(&last()).await.unwrap();
    let undone = agent.context(&last()).await.unwrap();
    assert_eq!((undone.ledger, undone.view.digests.len()), (before.ledger, 0));
    assert!(agent.undo_compaction(&last()).await.is_err(), "there is nothing more to undo");
    // A later compaction does not take the number of the one that was undone.
    agent.compact(&last()).await.unwrap();
    assert_eq!(agent.context(&last()).await.unwrap().view.compactions, 2);
}

// OLLM-103 OLLM-139
#[tokio::test]
async fn a_kept_moment_is_listed_and_restores_messages_digests_and_mode() {
    let bench = bench().await;
    let model = talker(16_384, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, BARE);
    let last = || ConversationChoice::Last;
    for n in 1..=12 {
        say(&agent, &question(n)).await;
    }
    agent.compact(&last()).await.unwrap();
    let kept = agent.keep_moment(&last(), "before the detour").await.unwrap();
    let then = agent.context(&last()).await.unwrap();
    say(&agent, "A detour that leads nowhere.").await;
    say(&agent, &question(13)).await;
    assert!(agent.snapshots(&last()).await.unwrap().rows.iter().any(|row| row.kept.reason == "before the detour"));
    agent.restore_snapshot(&last(), kept.id).await.unwrap();
    let now = agent.context(&last()).await.unwrap();
    assert_eq!((now.ledger, now.view.digests, now.shown), (then.ledger, then.view.digests, then.shown));
    assert_eq!(now.conversation.mode, then.conversation.mode);
    model.take_sent();
    say(&agent, "On we go.").await;
    let sent = text_of(&model.take_sent()[0]);
    assert!(!sent.contains("A detour") && sent.contains("Question 12: "), "{sent}");
    assert!(agent.restore_snapshot(&last(), 4711).await.is_err());
}

// PICO-050
#[tokio::test]
async fn a_request_that_its_provider_finds_too_large_is_sent_again_smaller() {
    let bench = bench().await;
    let answer = |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Text("They talk; the port is 8080.".to_owned()),
        _ if total(&call.prompt) > 3000 => Said::Error(ModelError::new(FailureClass::Overflow, "prompt is too long")),
        _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(12))),
    };
    // The server holds far less than its card says.
    let model = Arc::new(Talker::new(card(32_768), answer));
    let agent = agent(&bench, &model, BARE);
    for n in 1..=40 {
        let events = say(&agent, &question(n)).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{n}: {:?}", outcome(&events));
    }
    let large = model.take_sent().iter().filter(|prompt| total(prompt) > 3000).count();
    assert!(large > 0, "the provider refused some");
}

// PICO-043 LES-071 PICO-040 PICO-041
#[tokio::test]
async fn a_fact_of_the_first_summary_is_there_after_five_rounds() {
    let bench = bench().await;
    // It keeps what it was told to keep, and nothing else.
    let answer = |call: &ModelCall| {
        let text = text_of(&call.prompt);
        match call.prompt.path() {
            "summarize" | "merge-summaries" if text.contains("Kolibri") => {
                Said::Text("The garden gate opens with Kolibri; they talked.".to_owned())
            }
            "summarize" | "merge-summaries" => Said::Text("They talked about this and that.".to_owned()),
            _ => Said::Text("Noted.".to_owned()),
        }
    };
    let model = Arc::new(Talker::new(card(32_768), answer));
    let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"picoclaw\"\n{BARE}"));
    say(&agent, "The weather is fine.").await;
    say(&agent, "The garden gate opens with Kolibri.").await;
    for n in 3..=60 {
        say(&agent, &format!("Short question {n}?")).await;
    }
    let attempts = events_of(&agent).await;
    assert!(attempts.len() >= 5, "{} rounds", attempts.len());
    let last = model.take_sent().iter().rev().find(|prompt| prompt.path().starts_with("chat")).cloned().unwrap();
    let sent = text_of(&last);
    assert!(sent.contains("Kolibri") && sent.contains("## Summary of Previous Conversation"), "{sent}");
    let shown = last.messages().iter().filter(|message| message.role() != Role::System).count();
    assert!(shown <= 24, "{shown} messages");
}

// LES-070
#[tokio::test]
async fn a_fact_that_left_the_window_is_found_by_the_tools() {
    let bench = bench().await;
    let answer = |call: &ModelCall| {
        let messages = call.prompt.messages();
        let newest = messages.iter().rev().find(|message| message.role() == Role::User).unwrap();
        match call.prompt.path() {
            "summarize" | "merge-summaries" => Said::Text("They talked about this and that.".to_owned()),
            _ if messages.last().unwrap().role() == Role::Tool => Said::Text("Found.".to_owned()),
            _ if newest.text().starts_with("Search") => {
                Said::Calls(vec![("search_history".to_owned(), r#"{"query":"garden gate"}"#.to_owned())])
            }
            _ if newest.text().starts_with("Read") => {
                Said::Calls(vec![("read_history".to_owned(), r#"{"from":1,"to":4}"#.to_owned())])
            }
            _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(40))),
        }
    };
    let native = ModelCard { tools: ToolProtocol::Native, ..card(16_384) };
    let model = Arc::new(Talker::new(native, answer));
    let agent = agent(&bench, &model, "[tools]\ndefer = false\n");
    say(&agent, "Let us begin.").await;
    say(&agent, "The garden gate opens with Kolibri.").await;
    for n in 3..=40 {
        say(&agent, &question(n)).await;
    }
    let view = agent.context(&ConversationChoice::Last).await.unwrap().view;
    assert!(view.compactions >= 1 && !view.digests.iter().any(|digest| digest.text.contains("Kolibri")));
    for question in ["Search for the gate.", "Read the beginning."] {
        let events = say(&agent, question).await;
        let result = events.iter().find_map(|event| match event {
            AgentEvent::ToolDone { result, .. } => Some(result.clone()),
            _ => None,
        });
        let result = result.unwrap_or_else(|| panic!("{events:?}"));
        assert!(result.contains("opens with Kolibri") && result.contains("[message 3]"), "{result}");
    }
}

// OLLM-102 LES-078
#[tokio::test]
async fn a_message_larger_than_the_window_is_answered_by_its_head_and_tail_and_kept_whole() {
    let bench = bench().await;
    let model = talker(4096, "A summary of what was said so far.");
    let agent = agent(&bench, &model, BARE);
    let huge = format!("BEGIN {} END", "one more word ".repeat(3000));
    for n in 1..=3 {
        let events = say(&agent, &huge).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{n}: {:?}", outcome(&events));
        assert!(
            events.iter().any(|event| matches!(event, AgentEvent::Notice(text) if text.contains("head and its tail")))
        );
    }
    let usable = card(4096).usable_window.unwrap().0 as usize;
    for prompt in model.take_sent().iter().filter(|prompt| prompt.path().starts_with("chat")) {
        assert!(total(prompt) + usable / 4 <= usable);
        let newest = prompt.messages().last().unwrap().text().to_owned();
        assert!(
            newest.starts_with("BEGIN ") && newest.contains("characters left out") && newest.contains("END"),
            "{newest}"
        );
    }
    let conversation = agent.find_conversation(&ConversationChoice::Last).await.unwrap().unwrap();
    let rows = agent.store().messages(&conversation.id, None).await.unwrap().rows;
    assert_eq!(rows[0].typed.as_deref(), Some(huge.as_str()));
}

// PRO-041 LES-020
#[tokio::test]
async fn between_two_compactions_every_request_begins_with_the_one_before() {
    let bench = bench().await;
    let model = talker(8192, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, BARE);
    for n in 1..=60 {
        say(&agent, &question(n)).await;
        bench.clock.forward(jiff::ToSpan::minutes(7));
    }
    let sent = model.take_sent();
    let chats: Vec<Vec<String>> = sent
        .iter()
        .filter(|prompt| prompt.path().starts_with("chat"))
        .map(|prompt| prompt.messages().iter().map(|message| message.text().to_owned()).collect())
        .collect();
    let borders = chats.windows(2).filter(|pair| !pair[1].starts_with(&pair[0])).count();
    let done = events_of(&agent).await.iter().filter(|event| event.new.view.is_some()).count();
    assert!(done >= 2, "{done} compactions");
    assert!(borders <= done, "{borders} borders in {done} compactions");
}
