//! When something is done about a window: moments that are kept, answers that are waited for, borders.

use std::sync::Arc;

use limpid_core::{FailureClass, Labelled, Trust, WindowSize};
use limpid_model::{ModelCall, ModelError};
use limpid_runtime::{Agent, ChatRequest, ConversationChoice, EventKind, Outcome};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, events_of, outcome, question, talker, total};
use crate::kit::{all, last, say};

const LAST: ConversationChoice = ConversationChoice::Last;

/// Says something and waits until nothing is left to do.
async fn settle(agent: &Agent, text: &str) -> Vec<limpid_runtime::TurnEvent> {
    let events = say(agent, text).await;
    let id = agent.directory().find(&LAST).await.unwrap().unwrap().id;
    agent.conversations().wait_idle(&id).await;
    events
}

// OLLM-103
#[tokio::test]
async fn a_moment_is_kept_every_five_turns_and_before_a_compaction_and_a_persons_own_stays() {
    let bench = bench().await;
    let model = talker(131_072, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, BARE);
    settle(&agent, &question(1)).await;
    agent.conversations().save_snapshot(&LAST, "before the detour").await.unwrap();
    for n in 2..=32 {
        settle(&agent, &question(n)).await;
    }
    let before = agent.conversations().context(&LAST).await.unwrap();
    assert_eq!(agent.conversations().compact(&LAST).await.unwrap().failure, None);
    let rows = agent.conversations().snapshots(&LAST).await.unwrap().rows;
    let told: Vec<(&str, Option<i64>)> =
        rows.iter().map(|row| (row.kept.reason.as_str(), row.kept.newest.map(|id| id.0))).collect();
    let five = "every five turns";
    let wanted = [
        ("before a compaction", Some(64)),
        (five, Some(60)),
        (five, Some(50)),
        (five, Some(40)),
        (five, Some(30)),
        ("before the detour", Some(2)),
    ];
    assert_eq!(told, wanted);
    agent.conversations().restore_snapshot(&LAST, rows[0].id).await.unwrap();
    let now = agent.conversations().context(&LAST).await.unwrap();
    assert_eq!((now.size, now.shown, now.view.digests.len()), (before.size, before.shown, 0));
}

/// What a stranger's text leads to keeps moments beside the owner's.
// SEC-102 OLLM-103
#[tokio::test]
async fn moments_with_a_strangers_text_push_out_none_of_the_others() {
    let bench = bench().await;
    let model = talker(131_072, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, BARE);
    for n in 1..=25 {
        settle(&agent, &question(n)).await;
    }
    let page = Labelled::new("Eve: look at this, again and again.".to_owned(), Trust::Outside);
    all(agent.chat(ChatRequest { handed_in: Some(page), ..last("Read this.") }).await.unwrap()).await;
    for n in 26..=60 {
        settle(&agent, &question(n)).await;
    }
    let rows = agent.conversations().snapshots(&LAST).await.unwrap().rows;
    let (theirs, ours): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.kept.of_strangers);
    assert_eq!(theirs.len(), 5);
    let ours: Vec<i64> = ours.iter().filter_map(|row| row.kept.newest.map(|id| id.0)).collect();
    assert_eq!(ours, [50, 40, 30, 20, 10]);
}

// OLLM-103 OLLM-026
#[tokio::test]
async fn a_restored_moment_brings_its_tier_back() {
    let bench = bench().await;
    let model = talker(16_384, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, BARE);
    settle(&agent, &question(1)).await;
    let kept = agent.conversations().save_snapshot(&LAST, "before it was made small").await.unwrap();
    let id = agent.directory().find(&LAST).await.unwrap().unwrap().id;
    agent.conversations().set_window(&id, Some(WindowSize(4096))).await.unwrap();
    settle(&agent, &question(2)).await;
    assert_eq!(agent.conversations().tiers(&LAST).await.unwrap().effective.number(), 1);
    agent.conversations().restore_snapshot(&LAST, kept.id).await.unwrap();
    settle(&agent, &question(3)).await;
    assert_eq!(agent.conversations().tiers(&LAST).await.unwrap().effective.number(), 3);
}

// OLLM-089
#[tokio::test]
async fn a_window_that_an_unanswered_message_fills_is_compacted_after_the_next_answer() {
    let bench = bench().await;
    let answer = |call: &ModelCall| {
        let newest = call.prompt.messages().last().unwrap().text().to_owned();
        match call.prompt.path() {
            "summarize" | "merge-summaries" => Said::Text("They talk; the port is 8080.".to_owned()),
            _ if newest.starts_with("Fail") => Said::Error(ModelError::new(FailureClass::Malformed, "it broke")),
            _ => Said::Text("Noted, in a few words.".to_owned()),
        }
    };
    let model = Arc::new(Talker::new(card(8192), answer));
    let agent = agent(&bench, &model, BARE);
    for n in 1.. {
        settle(&agent, &question(n)).await;
        if agent.conversations().context(&LAST).await.unwrap().size.percent() >= 73 {
            break;
        }
    }
    let failed = settle(&agent, &format!("Fail: {}", "what about this and that? ".repeat(60))).await;
    assert!(matches!(outcome(&failed), Outcome::Failed { .. }), "{:?}", outcome(&failed));
    let percent = agent.conversations().context(&LAST).await.unwrap().size.percent();
    assert!((80..95).contains(&percent), "{percent} %");
    assert_eq!(events_of(&agent).await, [], "nothing was answered");
    settle(&agent, "And now?").await;
    assert_eq!(events_of(&agent).await.len(), 1);
    assert!(model.take_sent().iter().any(|prompt| prompt.path() == "summarize"));
}

// OLLM-026 OLLM-027
#[tokio::test]
async fn a_window_that_has_grown_is_taken_at_a_compaction_and_not_before() {
    const SUMMARY: &str = "They talk; the port is 8080.";
    let bench = bench().await;
    let first = agent(&bench, &talker(16_384, SUMMARY), BARE);
    for n in 1..=12 {
        settle(&first, &question(n)).await;
    }
    drop(first);
    let agent = agent(&bench, &talker(32_768, SUMMARY), BARE);
    let usable = async || agent.conversations().context(&LAST).await.unwrap().size.usable.0;
    let mut bus = agent.subscribe();
    settle(&agent, &question(13)).await;
    assert_eq!(usable().await, 13_926);
    assert_eq!(agent.conversations().compact(&LAST).await.unwrap().failure, None);
    settle(&agent, &question(14)).await;
    assert_eq!(usable().await, 27_853);
    let tiers: Vec<EventKind> = std::iter::from_fn(|| bus.try_recv().ok())
        .map(|event| event.change)
        .filter(|change| matches!(change, EventKind::PromptTierChanged { .. }))
        .collect();
    assert_eq!(tiers, [EventKind::PromptTierChanged { old: 3, new: 4, reason: "compaction".to_owned() }]);
}

// OLLM-122 LES-078
#[tokio::test]
async fn a_compaction_that_failed_is_not_tried_again_at_the_next_start() {
    let bench = bench().await;
    let answer = |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Text(String::new()),
        _ => Said::Text("1".to_owned()),
    };
    let config = format!("[agent]\nprofile = \"picoclaw\"\n{BARE}");
    let model = Arc::new(Talker::new(card(32_768), answer));
    let first = agent(&bench, &model, &config);
    let mut n = 0;
    while n == 0 || events_of(&first).await.is_empty() {
        n += 1;
        settle(&first, &(n % 10).to_string()).await;
    }
    assert!(events_of(&first).await[0].new.failure.is_some());
    drop(first);
    model.take_sent();
    let second = agent(&bench, &model, &config);
    settle(&second, "and?").await;
    let asked = model.take_sent();
    assert!(asked[0].path().starts_with("chat"), "the answer comes first: {}", asked[0].path());
}

// OLLM-101 OLLM-122
#[tokio::test]
async fn no_note_is_asked_for_after_a_summary_since_nobody_waits_twice() {
    let bench = bench().await;
    let answer = |call: &ModelCall| match call.prompt.path() {
        path if path.starts_with("chat") => Said::Text("After it comes the next of all the numbers.".to_owned()),
        _ => Said::Text("They count, one number after the other.".to_owned()),
    };
    let model = Arc::new(Talker::new(card(8192), answer));
    let agent = agent(&bench, &model, BARE);
    let mut n = 0;
    while n == 0 || events_of(&agent).await.is_empty() {
        n += 1;
        settle(&agent, &format!("Short question {n}: what comes after the number {n}, and after that?")).await;
    }
    let id = agent.directory().find(&LAST).await.unwrap().unwrap().id;
    agent.conversations().set_window(&id, Some(WindowSize(2048))).await.unwrap();
    model.take_sent();
    let answered = settle(&agent, "And now?").await;
    assert!(matches!(outcome(&answered), Outcome::Answered { .. }), "{:?}", outcome(&answered));
    let paths: Vec<String> = model.take_sent().iter().map(|prompt| prompt.path().to_owned()).collect();
    assert_eq!(paths[0], "chat-remote", "{paths:?}");
    let kinds: Vec<String> = events_of(&agent).await.into_iter().map(|event| event.new.kind).collect();
    assert_eq!(kinds, ["rollover", "compaction"]);
}

// PICO-050
#[tokio::test]
async fn a_provider_that_finds_everything_too_large_is_asked_three_times() {
    let bench = bench().await;
    let answer = |call: &ModelCall| match call.prompt.messages().last().unwrap().text() {
        text if text.starts_with("And now") => {
            Said::Error(ModelError::new(FailureClass::Overflow, "prompt is too long"))
        }
        _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(12))),
    };
    let model = Arc::new(Talker::new(card(32_768), answer));
    let agent = agent(&bench, &model, BARE);
    for n in 1..=30 {
        settle(&agent, &question(n).repeat(4)).await;
    }
    model.take_sent();
    let events = settle(&agent, "And now?").await;
    assert!(
        matches!(outcome(&events), Outcome::Failed { class: FailureClass::Overflow, .. }),
        "{:?}",
        outcome(&events)
    );
    let sizes: Vec<usize> =
        model.take_sent().iter().filter(|sent| sent.path() == "chat-remote").map(|sent| total(sent)).collect();
    assert!(sizes.len() == 3 && sizes.is_sorted_by(|a, b| a > b), "each smaller than the one before: {sizes:?}");
}
