//! What compaction leaves of a conversation, and what it never touches.

use std::sync::Arc;

use limpid_core::{FailureClass, Role, ToolProtocol};
use limpid_model::{ModelCall, ModelCard, ModelError};
use limpid_prompt::Prompt;
use limpid_runtime::{ConversationChoice, EventKind, Outcome, TurnEvent};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, events_of, outcome, question, talker, text_of, total};
use crate::kit::{Bench, say};

// OLLM-089 OLLM-132 OLLM-133 LES-070
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
            finished += usize::from(matches!(event.change, EventKind::CompactionFinished { .. }));
        }
        assert!(finished >= 2, "{profile}: {finished} compactions");
        let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
        let all = agent.store().messages(&conversation.id, None).await.unwrap().rows;
        assert_eq!(all.len(), 80, "{profile}: nothing is deleted");
    }
}

// OLLM-110
#[tokio::test]
async fn a_window_that_fills_up_is_warned_of_once_and_each_compaction_is_told() {
    let bench = bench().await;
    let model = talker(8192, "They talk about this and that.");
    let agent = agent(&bench, &model, BARE);
    let mut bus = agent.subscribe();
    for n in 1..=60 {
        say(&agent, &question(n)).await;
    }
    let compactions = events_of(&agent).await.len();
    let mut told = String::new();
    while let Ok(event) = bus.try_recv() {
        match event.change {
            EventKind::ContextWarning { used, available, advice } => {
                assert!(used < available && advice.contains("become a digest"), "{used} of {available}: {advice}");
                told.push('w');
            }
            EventKind::CompactionFinished { before, after, .. } => {
                assert!(after < before, "{before} to {after}");
                told.push('c');
            }
            _ => {}
        }
    }
    assert!(told.starts_with("wc") && told.contains("cw") && !told.contains("ww"), "{told}");
    assert_eq!(told.matches('c').count(), compactions, "{told}");
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
    let view = agent.conversations().context(&ConversationChoice::Last).await.unwrap().view;
    assert!(view.compactions >= 1 && !view.digests.iter().any(|digest| digest.text.contains("Kolibri")));
    for question in ["Search for the gate.", "Read the beginning."] {
        let events = say(&agent, question).await;
        let result = events.iter().find_map(|event| match event {
            TurnEvent::ToolDone { result, .. } => Some(result.clone()),
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
            events
                .iter()
                .any(|event| matches!(event, TurnEvent::Notice(text) if text.contains("was shortened for the model")))
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
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    let rows = agent.store().messages(&conversation.id, None).await.unwrap().rows;
    assert_eq!(rows[0].typed.as_deref(), Some(huge.as_str()));
}

// OLLM-100 OLLM-102
#[tokio::test]
async fn a_message_that_leaves_no_room_for_what_its_turn_finds_is_shortened_then() {
    let mut shortened = Vec::new();
    for words in (500..=620).step_by(10) {
        let bench = bench().await;
        bench.write("workspace/log.txt", &"a line of the log\n".repeat(2000));
        let answer = |call: &ModelCall| match call.prompt.messages().last().unwrap().call_id() {
            Some(_) => Said::Text("Read.".to_owned()),
            None => Said::Calls(vec![("read_file".to_owned(), r#"{"path":"log.txt"}"#.to_owned())]),
        };
        let model = Arc::new(Talker::new(ModelCard { tools: ToolProtocol::Native, ..card(4096) }, answer));
        let agent = agent(&bench, &model, &format!("{BARE}[tools]\ndefer = false\n"));
        let events = say(&agent, &format!("BEGIN {}END", "one more word ".repeat(words))).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{words}: {:?}", outcome(&events));
        let usable = card(4096).usable_window.unwrap().0 as usize;
        let sent = model.take_sent();
        assert!(sent.iter().all(|prompt| total(prompt) + usable / 4 <= usable), "{words}");
        let told = |event: &TurnEvent| matches!(event, TurnEvent::Notice(text) if text.contains("was shortened for the model"));
        let newest = |prompt: &Arc<Prompt>| {
            let asked = prompt.messages().iter().find(|message| message.text().starts_with("BEGIN"));
            asked.unwrap().text().contains("characters left out")
        };
        assert_eq!(newest(&sent[1]), events.iter().any(told), "{words}");
        shortened.push((newest(&sent[0]), newest(&sent[1])));
    }
    shortened.dedup();
    // The message in the first request, and in the one behind the tool's result.
    assert_eq!(shortened, [(false, false), (false, true), (true, true)]);
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
