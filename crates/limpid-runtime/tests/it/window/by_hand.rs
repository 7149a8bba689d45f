//! What a person does with a window: compact, undo, keep, restore, and switch it off.

use std::collections::HashSet;
use std::sync::Arc;

use limpid_core::Trust;
use limpid_model::ModelCard;
use limpid_runtime::earlier::{earlier, say_instead, sayable};
use limpid_runtime::{ChatRequest, ConversationChoice, Outcome};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, events_of, outcome, question, talker, text_of};
use crate::kit::say;

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
    let report = agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
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
    let before = agent.conversations().context(&last()).await.unwrap();
    let report = agent.conversations().compact(&last()).await.unwrap();
    assert!(report.failure.is_none() && report.after < report.before, "{report:?}");
    let compacted = agent.conversations().context(&last()).await.unwrap();
    assert_eq!(compacted.view.digests.len(), 1);
    assert_eq!(compacted.size.conversation() as u64, report.after, "what it says it freed is freed");
    agent.conversations().undo_compaction(&last()).await.unwrap();
    let undone = agent.conversations().context(&last()).await.unwrap();
    assert_eq!((undone.size, undone.view.digests.len()), (before.size, 0));
    assert!(agent.conversations().undo_compaction(&last()).await.is_err(), "there is nothing more to undo");
    // A later compaction does not take the number of the one that was undone.
    agent.conversations().compact(&last()).await.unwrap();
    assert_eq!(agent.conversations().context(&last()).await.unwrap().view.compactions, 2);
    // Nor does its undoing bring back what was undone before.
    agent.conversations().undo_compaction(&last()).await.unwrap();
    let undone = agent.conversations().context(&last()).await.unwrap();
    assert_eq!((undone.size, undone.view.digests.len()), (before.size, 0));
}

// SEC-001 SEC-055
#[tokio::test]
async fn a_summary_by_a_model_that_searches_is_outside_text() {
    for (summarizer, expected) in [("talker", Trust::Owner), ("talker:online", Trust::Outside)] {
        let bench = bench().await;
        let model = talker(16_384, "They talk; the port is 8080.");
        let agent_before = agent(&bench, &model, BARE);
        for n in 1..=14 {
            say(&agent_before, &question(n)).await;
        }
        drop(agent_before);
        // The owner changes the model and has the window made smaller before anything else is said.
        let card = ModelCard { id: summarizer.to_owned(), ..card(16_384) };
        let model = Arc::new(Talker::new(card, |_| Said::Text("They talk; the port is 8080.".to_owned())));
        let agent = agent(&bench, &model, BARE);
        let last = || ConversationChoice::Last;
        let report = agent.conversations().compact(&last()).await.unwrap();
        assert!(report.failure.is_none() && report.after < report.before, "{report:?}");
        let digests = agent.conversations().context(&last()).await.unwrap().view.digests;
        assert_eq!(digests.iter().map(|digest| digest.trust).collect::<Vec<_>>(), [expected], "{summarizer}");
    }
}

// SUR-020
#[tokio::test]
async fn what_a_digest_stands_for_is_not_said_again_until_it_is_shown() {
    let bench = bench().await;
    let model = talker(16_384, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, BARE);
    for n in 1..=14 {
        say(&agent, &question(n)).await;
    }
    let last = ConversationChoice::Last;
    let id = agent.store().conversations(1).await.unwrap().rows[0].id.clone();
    let rows = agent.store().messages(&id, None).await.unwrap().rows;
    let typed: HashSet<String> = agent.store().typed(&id).await.unwrap().into_iter().collect();
    agent.conversations().compact(&last).await.unwrap();
    let through = agent.store().window(&id).await.unwrap().through;
    let open = sayable(&rows, &typed, &[], through);
    assert!(!open.is_empty() && open.len() < 14 && open.iter().all(|id| Some(*id) > through), "{open:?}");
    let first = rows[0].id;
    let newest = earlier(&agent, &id, first).await.unwrap().newest;
    let request = || ChatRequest {
        conversation: ConversationChoice::Id(id.clone()),
        text: "Only this.".to_owned(),
        ..ChatRequest::default()
    };
    let why = say_instead(&agent, request(), first, newest).await.err().unwrap().to_string();
    assert!(why.contains("part of a summary by now") && why.contains("/compact undo"), "{why}");
    assert_eq!(agent.store().hidden_turns(&id).await.unwrap(), []);
    agent.conversations().undo_compaction(&last).await.unwrap();
    model.take_sent();
    let mut turn = say_instead(&agent, request(), first, newest).await.unwrap();
    while turn.next().await.is_some() {}
    let sent = text_of(&model.take_sent()[0]);
    assert!(sent.contains("Only this.") && !sent.contains(&question(14)) && !sent.contains("8080"), "{sent}");
    assert_eq!(agent.store().hidden_turns(&id).await.unwrap().len(), 14);
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
    agent.conversations().compact(&last()).await.unwrap();
    let kept = agent.conversations().save_snapshot(&last(), "before the detour").await.unwrap();
    let then = agent.conversations().context(&last()).await.unwrap();
    say(&agent, "A detour that leads nowhere.").await;
    say(&agent, &question(13)).await;
    assert!(
        agent
            .conversations()
            .snapshots(&last())
            .await
            .unwrap()
            .rows
            .iter()
            .any(|row| row.kept.reason == "before the detour")
    );
    agent.conversations().restore_snapshot(&last(), kept.id).await.unwrap();
    let now = agent.conversations().context(&last()).await.unwrap();
    assert_eq!((now.size, now.view.digests, now.shown), (then.size, then.view.digests, then.shown));
    assert_eq!(now.conversation.mode, then.conversation.mode);
    model.take_sent();
    say(&agent, "On we go.").await;
    let sent = text_of(&model.take_sent()[0]);
    assert!(!sent.contains("A detour") && sent.contains("Question 12: "), "{sent}");
    assert!(agent.conversations().restore_snapshot(&last(), 4711).await.is_err());
}
