//! Large messages that wait beside each other: every one is answered, whatever it takes.

use std::sync::Arc;

use limpid_core::{Role, Trust};
use limpid_model::ModelCall;
use limpid_prompt::Prompt;
use limpid_runtime::{Agent, ConversationChoice, Outcome, TurnEvent};
use limpid_store::{ConversationKind, NewInbound};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, outcome, talker, text_of, total};
use crate::kit::{Bench, all, last, say};

const LAST: ConversationChoice = ConversationChoice::Last;

fn large(name: &str) -> String {
    format!("{name} begins. {} {name} ends.", "what of the pump and the gate? ".repeat(900))
}

/// Messages that a process accepted and did not answer before it was killed.
async fn left_waiting(bench: &Bench, model: &Arc<Talker>, texts: &[(String, Trust)]) -> Agent {
    let first = agent(bench, model, BARE);
    say(&first, "hello").await;
    let conversation = first.last_chat().await;
    for (text, trust) in texts {
        let (text, trust) = (text.clone(), *trust);
        let new = NewInbound {
            conversation: conversation.clone(),
            key: None,
            text,
            trust,
            typed: true,
            base: limpid_store::Base::Workspace,
            now_ms: first.now_ms(),
        };
        first.store().accept(new).await.unwrap();
    }
    drop(first);
    model.take_sent();
    let second = agent(bench, model, BARE);
    second.conversations().resume().await.unwrap();
    second.conversations().wait_idle(&conversation).await;
    second
}

trait LastChat {
    async fn last_chat(&self) -> limpid_core::ConversationId;
}

impl LastChat for Agent {
    async fn last_chat(&self) -> limpid_core::ConversationId {
        self.store().last_conversation(ConversationKind::Chat).await.unwrap().unwrap().id
    }
}

fn chats(model: &Talker) -> Vec<Arc<Prompt>> {
    model.take_sent().into_iter().filter(|prompt| prompt.path() == "chat-remote").collect()
}

// OLLM-102 SEC-040
#[tokio::test]
async fn two_large_messages_that_a_killed_process_left_are_both_answered_and_kept_whole() {
    for window in [2048, 4096, 8192] {
        let bench = bench().await;
        let model = talker(window, "They talk; the port is 8080.");
        let texts = ["Alpha", "Omega"].map(|name| (large(name), Trust::Owner));
        let second = left_waiting(&bench, &model, &texts).await;
        let sent = chats(&model);
        for name in ["Alpha", "Omega"] {
            let both = [format!("{name} begins."), format!("{name} ends.")];
            assert!(
                sent.iter().any(|prompt| both.iter().all(|part| text_of(prompt).contains(part))),
                "{window} {name}"
            );
        }
        let usable = card(window).usable_window.unwrap().0 as usize;
        assert!(sent.iter().all(|prompt| total(prompt) + usable / 4 <= usable), "{window}");
        let id = second.last_chat().await;
        let rows = second.store().messages(&id, None).await.unwrap().rows;
        let typed: Vec<&str> = rows.iter().filter_map(|row| row.typed.as_deref()).collect();
        assert!(texts.iter().all(|(text, _)| typed.contains(&text.as_str())), "{window}: the whole is kept");
        assert_eq!(rows.last().unwrap().message.role, Role::Assistant, "{window}");
        // What the next request says of them is what this one said.
        let before = text_of(sent.last().unwrap());
        say(&second, "and?").await;
        let after = text_of(&chats(&model)[0]);
        if second.store().window_events(&id, 9).await.unwrap().rows.is_empty() {
            assert!(after.starts_with(&before), "{window}:\n{before}\n----\n{after}");
        }
    }
}

// OLLM-102
#[tokio::test]
async fn the_newest_message_of_the_owner_is_shortened_last() {
    let bench = bench().await;
    let model = talker(8192, "They talk; the port is 8080.");
    let own = format!("Own begins. {} Own ends.", "the owner wrote this. ".repeat(150));
    let texts = [(large("Alpha"), Trust::Owner), (own.clone(), Trust::Owner), (large("Guest"), Trust::Guest)];
    left_waiting(&bench, &model, &texts).await;
    let sent = chats(&model);
    let text = text_of(&sent[0]);
    assert!(text.contains(&own), "{text}");
    assert!(text.contains("Alpha begins.") && text.contains("Guest begins.") && text.contains("characters left out"));
}

// OLLM-102
#[tokio::test]
async fn more_messages_than_a_window_can_show_are_answered_one_after_the_other() {
    let bench = bench().await;
    let model = talker(2048, "They talk; the port is 8080.");
    let texts: Vec<(String, Trust)> =
        (0..60).map(|n| (format!("Message {n}: {}", large("It")), Trust::Owner)).collect();
    let second = left_waiting(&bench, &model, &texts).await;
    let id = second.last_chat().await;
    assert_eq!(second.store().waiting(&id).await.unwrap().rows, []);
    let rows = second.store().messages(&id, None).await.unwrap().rows;
    assert_eq!(rows.last().unwrap().message.role, Role::Assistant);
    let said: String = chats(&model).iter().map(|prompt| text_of(prompt)).collect();
    assert!((0..60).all(|n| said.contains(&format!("Message {n}: "))), "each was read by the model");
}

// LES-145
#[tokio::test]
async fn a_process_whose_message_another_one_failed_to_answer_says_how_that_ended() {
    let bench = bench().await;
    let broken =
        |_: &ModelCall| Said::Error(limpid_model::ModelError::new(limpid_core::FailureClass::Malformed, "it broke"));
    let model = Arc::new(Talker::new(card(8192), broken));
    let [first, second] = [agent(&bench, &model, BARE), agent(&bench, &model, BARE)];
    say(&first, "hello").await;
    let id = first.last_chat().await;
    first.conversations().wait_idle(&id).await;
    // The first process holds the conversation while both messages are accepted.
    let lease = first.store().acquire(&id, "another", first.now_ms(), 60_000).await.unwrap();
    let limpid_store::Acquired::Lease(lease) = lease else { panic!() };
    let mine = first.chat(last("one")).await.unwrap();
    let theirs = second.chat(last("two")).await.unwrap();
    first.store().release(&id, lease.fence).await.unwrap();
    let ends: Vec<TurnEvent> = [all(mine).await, all(theirs).await].map(|mut events| events.pop().unwrap()).into();
    for end in ends {
        assert!(
            matches!(outcome(std::slice::from_ref(&end)), Outcome::Failed { message, .. } if message.contains("it broke")),
            "{end:?}"
        );
    }
}

// PRO-041 OLLM-093 OLLM-098
#[tokio::test]
async fn what_is_shown_stays_the_same_between_two_changes_of_the_window_whatever_is_counted() {
    let mut pairs = 0;
    for (window, hundredths) in [(4096, 60), (4096, 170), (8192, 240)] {
        let bench = bench().await;
        let answer = |call: &ModelCall| match call.prompt.path() {
            "summarize" | "merge-summaries" | "state-snapshot" => Said::Text("They talk; the port is 8080.".to_owned()),
            _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(12))),
        };
        let model = Arc::new(Talker::new(card(window), answer));
        let other = Arc::new(Talker::new(card(window), answer).counting(hundredths));
        let (mut before, mut seen): (Option<String>, [usize; 2]) = (None, [0; 2]);
        for n in 0..45 {
            // A provider whose counts change from process to process.
            let model = if n % 3 == 0 { &model } else { &other };
            let agent = agent(&bench, model, BARE);
            let words = if n % 7 == 3 { 260 } else { 12 };
            let events = say(&agent, &format!("Question {n}: {}", "and what of this? ".repeat(words))).await;
            assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{window} {n}: {:?}", outcome(&events));
            let id = agent.last_chat().await;
            agent.conversations().wait_idle(&id).await;
            let sent = chats(model);
            let changes = agent.store().window_events(&id, 200).await.unwrap().rows;
            let changes = changes.iter().filter(|event| event.new.view.is_some()).count();
            let first = text_of(&sent[0]);
            // The window may have changed after the last answer, so both turns must have left it alone.
            if let Some(before) = before.filter(|_| seen == [changes; 2]) {
                pairs += 1;
                assert!(first.starts_with(&before), "{window} {n}:\n{before}\n----\n{first}");
            }
            (before, seen) = (Some(text_of(sent.last().unwrap())), [seen[1], changes]);
        }
        assert!(
            agent(&bench, &model, BARE).conversations().context(&LAST).await.unwrap().view.compactions > 0,
            "{window}"
        );
    }
    assert!(pairs > 40, "{pairs}");
}
