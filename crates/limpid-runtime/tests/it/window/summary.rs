//! The one summary of the `picoclaw` profile: when it is made, of what, in how many calls.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use limpid_core::{MessageId, ToolProtocol};
use limpid_model::{Model, ModelCall, ModelCard, Pause};
use limpid_runtime::{Agent, AgentOptions, Config, ConversationChoice, TurnEvent};
use limpid_store::StoredMessage;
use limpid_testkit::{Said, Talker};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{agent, bench, card, events_of, text_of};
use crate::kit::{Bench, all, last, say};

const CONFIG: &str = "[agent]\nprofile = \"picoclaw\"\n[memory]\nenabled = false\n[tools]\ndefer = false\n";

const SUMMARY: &str = "They count, one number after the other.";

fn is_summary(call: &ModelCall) -> bool {
    matches!(call.prompt.path(), "summarize" | "merge-summaries")
}

/// Answers in a few words; calls a tool when it is told to.
fn answers(call: &ModelCall) -> Said {
    let newest = call.prompt.messages().last().unwrap();
    if is_summary(call) {
        Said::Text(SUMMARY.to_owned())
    } else if newest.text().starts_with("Look") {
        Said::Calls(vec![("list_dir".to_owned(), r#"{"path":"."}"#.to_owned())])
    } else {
        Said::Text("Noted.".to_owned())
    }
}

async fn start(model: &Arc<Talker>) -> (Bench, Agent) {
    let bench = bench().await;
    let agent = agent(&bench, model, CONFIG);
    (bench, agent)
}

/// Says something and waits until nothing is left to do. Returns the calls for summaries.
async fn count_on(agent: &Agent, model: &Talker, text: &str) -> Vec<ModelCall> {
    let events = say(agent, text).await;
    let is_notice = |event: &TurnEvent| matches!(event, TurnEvent::Notice(text) if !text.starts_with("no price"));
    assert!(!events.iter().any(is_notice), "{events:?}");
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    agent.conversations().wait_idle(&conversation.id).await;
    model.take_calls().into_iter().filter(is_summary).collect()
}

async fn rows(agent: &Agent) -> Vec<StoredMessage> {
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    agent.store().messages(&conversation.id, None).await.unwrap().rows
}

// PICO-041
#[tokio::test]
async fn more_than_twenty_messages_are_summarised_after_the_answer_and_the_chat_says_nothing_of_it() {
    let native = ModelCard { tools: ToolProtocol::Native, ..card(131_072) };
    // Ten turns are twenty messages; a turn with a call has four.
    for (plain, expected) in [(10, 0), (9, 3)] {
        let model = Arc::new(Talker::new(native.clone(), answers));
        let (_bench, agent) = start(&model).await;
        for n in 1..=plain {
            assert_eq!(count_on(&agent, &model, &format!("Number {n}.")).await.len(), 0, "{n} turns");
        }
        if plain == 9 {
            assert_eq!(count_on(&agent, &model, "Look around.").await.len(), expected);
        }
        assert_eq!(events_of(&agent).await.len(), usize::from(expected > 0));
        let messages = rows(&agent).await;
        assert_eq!(messages.len(), if plain == 9 { 22 } else { 20 }, "nothing else is in the chat's history");
    }
}

// PICO-041
#[tokio::test]
async fn three_quarters_of_the_window_are_summarised_however_few_the_messages() {
    let model = Arc::new(Talker::new(card(131_072), answers));
    let (_bench, agent) = start(&model).await;
    let usable = card(131_072).usable_window.unwrap().0 as usize;
    let part = "one more word ".repeat(1000);
    let mut calls = Vec::new();
    let mut shares = Vec::new();
    while calls.is_empty() && shares.len() < 40 {
        let size =
            agent.conversations().context(&ConversationChoice::Last).await.map_or(0, |report| report.size.total());
        shares.push(size * 100 / usable);
        // Few messages, each of some percent of the window.
        calls = count_on(&agent, &model, &part.repeat(3)).await;
    }
    let before = &events_of(&agent).await[0].new.before;
    assert!(shares.iter().all(|share| *share < 75), "{shares:?}");
    assert!(*before as usize * 100 / usable >= 72, "{before} tokens of {usable} were used");
    assert!(rows(&agent).await.len() <= 20);
}

// PICO-042 PICO-051
#[tokio::test]
async fn ten_messages_are_one_call_and_more_are_one_a_half_and_one_that_merges() {
    let mut shown = String::new();
    // All but the last four messages leave.
    for turns in [7, 8, 9] {
        let model = Arc::new(Talker::new(card(131_072), answers));
        let (_bench, agent) = start(&model).await;
        for n in 1..=turns {
            count_on(&agent, &model, &format!("Number {n}, after which comes another.")).await;
        }
        let report = agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
        assert_eq!(report.failure, None);
        let _ = writeln!(shown, "# {} messages leave", turns * 2 - 4);
        for call in model.take_calls() {
            let text = text_of(&call.prompt);
            let asked = text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n");
            let (most, heat) = (call.sampling.max_output, call.sampling.temperature);
            let _ = writeln!(shown, "## {}, at most {most:?} tokens at {heat:?}\n{asked}", call.prompt.path());
        }
    }
    insta::assert_snapshot!(shown);
}

// PICO-045 PICO-041
#[tokio::test]
async fn what_is_said_while_a_summary_is_made_is_still_there_afterwards() {
    let (go_on, (asked, mut is_asked)) = (Arc::new(Notify::new()), unbounded_channel());
    let held = Arc::clone(&go_on);
    let model = Arc::new(Talker::new(card(131_072), move |call: &ModelCall| {
        if call.prompt.path() == "summarize" {
            asked.send(()).unwrap();
            return Said::Held(Arc::clone(&held), SUMMARY.to_owned());
        }
        answers(call)
    }));
    let (_bench, agent) = start(&model).await;
    for n in 1..=11 {
        // The eleventh answer is there although its summary is not.
        say(&agent, &format!("Number {n}.")).await;
    }
    is_asked.recv().await.unwrap();
    let cut = rows(&agent).await[17].id;
    let mut later = Vec::new();
    for n in 12..=14 {
        later.push(agent.chat(last(&format!("Number {n}."))).await.unwrap());
    }
    assert!(is_asked.try_recv().is_err(), "one run a session");
    // One for each half.
    go_on.notify_one();
    is_asked.recv().await.unwrap();
    go_on.notify_one();
    for handle in later {
        let events = all(handle).await;
        assert!(events.last().is_some_and(TurnEvent::is_last), "{events:?}");
    }
    let report = agent.conversations().context(&ConversationChoice::Last).await.unwrap();
    assert_eq!((report.view.through, report.view.compactions), (Some(cut), 1));
    assert_eq!(report.view.digests[0].last, cut);
    let sent = model.take_sent().into_iter().rfind(|prompt| prompt.path() == "chat-remote").unwrap();
    let sent = text_of(&sent);
    assert!(sent.contains(SUMMARY) && !sent.contains("Number 9.\n"), "{sent}");
    for n in 10..=14 {
        assert_eq!(sent.matches(&format!("Number {n}.\n")).count(), 1, "number {n}: {sent}");
    }
    let ids: Vec<MessageId> = rows(&agent).await.iter().map(|row| row.id).filter(|id| *id > cut).collect();
    assert_eq!(report.shown, ids.len(), "everything after the cut is shown");
}

// PICO-051
#[tokio::test]
async fn a_summary_has_1024_tokens_or_its_share_of_the_window_and_half_a_minute() {
    let told = "a stretch of words that has to leave ".repeat(60);
    for (window, turns, most) in [(131_072, 7, Some(1024)), (8192, 5, None)] {
        let bench = bench().await;
        let (waited, mut waits) = unbounded_channel();
        let asked = Arc::new(Notify::new());
        let asks = Arc::clone(&asked);
        let model = Arc::new(Talker::new(card(window), move |call: &ModelCall| match call.prompt.path() {
            "summarize" => {
                asks.notify_one();
                Said::Silence
            }
            _ => answers(call),
        }));
        let agent = Agent::open(AgentOptions {
            model: Some(Arc::clone(&model) as Arc<dyn Model>),
            config: Config::parse(CONFIG, "limpid.toml").unwrap(),
            pause: Arc::new(Told { waited, asked }),
            ..bench.options()
        })
        .unwrap();
        for n in 1..=turns {
            say(&agent, &format!("Number {n}. {told}")).await;
        }
        model.take_calls();
        while waits.try_recv().is_ok() {}
        let report = agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
        let steps = report.steps.join("\n");
        assert!(steps.contains("no summary within 30 s") && steps.contains("without a model"), "{steps}");
        let share = agent.conversations().context(&ConversationChoice::Last).await.unwrap().size.available() / 5;
        let calls = model.take_calls();
        assert_eq!(calls.len(), 2, "the call and its retry");
        for call in &calls {
            let cap = call.sampling.max_output.unwrap() as usize;
            let is_right = most.map_or(cap <= share && cap + 50 >= share, |most| cap == most);
            assert!(is_right, "{window}: {cap} tokens, and the share is {share}");
            assert_eq!(call.sampling.temperature, None, "a remote model may refuse any");
        }
        let spent: Vec<Duration> = std::iter::from_fn(|| waits.try_recv().ok()).collect();
        assert_eq!(spent, [Duration::from_secs(30); 2]);
    }
}

/// Tells how long it is to wait, and lets that time pass once the model was asked.
struct Told {
    waited: UnboundedSender<Duration>,
    asked: Arc<Notify>,
}

impl Pause for Told {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        let _ = self.waited.send(time);
        let asked = Arc::clone(&self.asked);
        async move { asked.notified().await }.boxed()
    }
}
