//! What is done before a turn about a window that an earlier process left too full, and what every recount takes in.

use std::sync::Arc;

use limpid_core::{Role, ToolProtocol, Trust, UsableWindow, WindowSize};
use limpid_model::{ModelCall, ModelCard};
use limpid_prompt::count::{TokenCounter as _, WindowEstimate};
use limpid_runtime::{Agent, ConversationChoice, Outcome, PreviewRequest};
use limpid_store::{NewInbound, WindowEvent};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, events_of, outcome, question, talker, text_of, total};
use crate::kit::{Bench, say};

const LAST: ConversationChoice = ConversationChoice::Last;

async fn settle(agent: &Agent, text: &str) -> Vec<limpid_runtime::TurnEvent> {
    let events = say(agent, text).await;
    let id = agent.directory().find(&LAST).await.unwrap().unwrap().id;
    agent.conversations().wait_idle(&id).await;
    events
}

/// Compactions that a process which has compaction switched off left undone; the next process has it on.
async fn left_full(bench: &Bench, model: &Arc<Talker>) {
    let first = agent(bench, model, &format!("{BARE}[window]\ncompaction = \"off\"\n"));
    for n in 1.. {
        settle(&first, &question(n)).await;
        if (84..95).contains(&first.conversations().context(&LAST).await.unwrap().size.percent()) {
            break;
        }
    }
    assert_eq!(events_of(&first).await, []);
}

// OLLM-089
#[tokio::test]
async fn what_a_process_left_undone_is_compacted_before_the_next_turn_once() {
    let bench = bench().await;
    let model = talker(8192, "They talk; the port is 8080.");
    left_full(&bench, &model).await;
    model.take_sent();
    let second = agent(&bench, &model, BARE);
    settle(&second, "And now?").await;
    let paths: Vec<String> = model.take_sent().iter().map(|prompt| prompt.path().to_owned()).collect();
    assert_eq!(paths, ["summarize", "chat-remote"], "the digest is there before the answer");
    assert_eq!(kinds(&events_of(&second).await), ["compaction"]);
}

// OLLM-089
#[tokio::test]
async fn what_was_left_undone_waits_where_the_last_word_is_no_whole_answer() {
    let bench = bench().await;
    let model = talker(8192, "They talk; the port is 8080.");
    left_full(&bench, &model).await;
    // A turn whose provider fails leaves a question behind that nothing answers.
    let fails = |call: &ModelCall| match call.prompt.path() {
        path if path.starts_with("chat") => {
            Said::Error(limpid_model::ModelError::new(limpid_core::FailureClass::Malformed, "it broke"))
        }
        _ => Said::Text("They talk; the port is 8080.".to_owned()),
    };
    let broken = Arc::new(Talker::new(card(8192), fails));
    let off = agent(&bench, &broken, &format!("{BARE}[window]\ncompaction = \"off\"\n"));
    settle(&off, "Fail").await;
    drop(off);
    model.take_sent();
    let second = agent(&bench, &model, BARE);
    settle(&second, "And now?").await;
    let paths: Vec<String> = model.take_sent().iter().map(|prompt| prompt.path().to_owned()).collect();
    assert_eq!(paths, ["chat-remote", "summarize"], "first an answer, then the digest");
}

// OLLM-086 OLLM-102
#[tokio::test]
async fn messages_that_wait_beside_the_newest_are_counted_before_the_request_leaves() {
    let bench = bench().await;
    let model = talker(4096, "They talk; the port is 8080.");
    let first = agent(&bench, &model, BARE);
    for n in 1..=8 {
        settle(&first, &question(n)).await;
    }
    let percent = first.conversations().context(&LAST).await.unwrap().size.percent();
    assert!((40..80).contains(&percent), "{percent} %");
    let conversation = first.directory().find(&LAST).await.unwrap().unwrap().id;
    for n in 0..9 {
        let new = NewInbound {
            conversation: conversation.clone(),
            key: None,
            text: format!("Waiting {n}: {}", "what of the pump and the gate? ".repeat(20)),
            trust: Trust::Owner,
            typed: true,
            base: limpid_store::Base::Workspace,
            now_ms: first.now_ms(),
        };
        first.store().accept(new).await.unwrap();
    }
    drop(first);
    model.take_sent();
    let second = agent(&bench, &model, BARE);
    second.conversations().resume().await.unwrap();
    second.conversations().wait_idle(&conversation).await;
    let sent = model.take_sent();
    let chat = sent.iter().find(|prompt| prompt.path() == "chat-remote").unwrap();
    assert!((0..9).all(|n| text_of(chat).contains(&format!("Waiting {n}: "))), "{}", text_of(chat));
    let usable = card(4096).usable_window.unwrap().0 as usize;
    assert!(total(chat) + usable / 4 <= usable, "{} tokens of {usable}", total(chat));
}

// OLLM-086
#[tokio::test]
async fn a_call_without_words_and_its_result_count_among_what_was_said_and_the_parts_add_up_to_the_request() {
    let bench = bench().await;
    let calls = |call: &ModelCall| match call.prompt.messages().last().unwrap().role() {
        Role::Tool => Said::Text("It is noon.".to_owned()),
        _ => Said::Calls(vec![("get_local_time".to_owned(), "{}".to_owned())]),
    };
    let native = ModelCard { tools: ToolProtocol::Native, ..card(32_768) };
    let model = Arc::new(Talker::new(native, calls));
    let agent = agent(&bench, &model, BARE);
    for n in 1..=3 {
        settle(&agent, &question(n)).await;
        let size = agent.conversations().context(&LAST).await.unwrap().size;
        assert_eq!((size.pin.0, size.digests.0), (0, 0), "nothing left the window: {size:?}");
        let request = PreviewRequest { conversation: LAST, ..PreviewRequest::default() };
        let prompt = agent.preview(request).await.unwrap().prompt;
        let count = |text: &str| WindowEstimate::default().count(text);
        let made = prompt.messages().iter().flat_map(limpid_prompt::PromptMessage::calls);
        let made: usize = made.map(|call| count(&call.name) + count(&call.arguments)).sum();
        assert!(made > 0);
        assert_eq!(size.total(), prompt.totals().unwrap().total, "{size:?}");
        let parts: usize = size.parts().iter().map(|(_, tokens)| tokens).sum();
        assert_eq!(parts, size.total() + size.reserve());
    }
}

// OLLM-090
#[tokio::test]
async fn a_profile_asks_for_summaries_in_its_own_words_and_one_without_any_in_the_default_ones() {
    let own = |profile: &str| -> Option<&str> {
        match profile {
            "limpid" | "ollm" => Some("Summarise"),
            "picoclaw" => Some("CONVERSATION:"),
            _ => None,
        }
    };
    let mut asked = Vec::new();
    for profile in ["limpid", "ollm", "picoclaw", "kai", "koshi"] {
        let bench = bench().await;
        let model = talker(8192, "They talk; the port is 8080.");
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"{profile}\"\n{BARE}"));
        for n in 1..=12 {
            settle(&agent, &question(n)).await;
        }
        model.take_sent();
        assert_eq!(agent.conversations().compact(&LAST).await.unwrap().failure, None, "{profile}");
        let sent = model.take_sent();
        let request = sent.iter().find(|prompt| prompt.path() == "summarize").unwrap();
        assert_eq!(request.profile(), profile);
        let text = text_of(request);
        assert!(text.contains(own(profile).unwrap_or("Summarise")), "{profile}: {text}");
        asked.push((profile, text.lines().next().unwrap_or_default().to_owned()));
    }
    assert_eq!(asked[0].1, asked[3].1, "kai");
    assert_eq!(asked[0].1, asked[4].1, "koshi");
}

// OLLM-091 OLLM-102
#[tokio::test]
async fn a_request_for_a_summary_obeys_the_gate_whatever_it_quotes() {
    let bench = bench().await;
    let model = talker(4096, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, &format!("{BARE}[window]\ncompaction = \"off\"\n"));
    for n in 1..=3 {
        settle(&agent, &question(n)).await;
    }
    // Two that are larger than the window each; of them only head and tail were sent.
    for n in 4..=5 {
        let events = settle(&agent, &format!("Long {n}: {} the end of {n}", "word after word ".repeat(1200))).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. } | Outcome::Failed { .. }));
    }
    model.take_sent();
    let done = agent.conversations().compact(&LAST).await.unwrap();
    assert_eq!(done.failure, None);
    assert!(!done.steps.iter().any(|step| step.contains("the request for a summary needs")), "{done:?}");
    let usable = card(4096).usable_window.unwrap().0 as usize;
    let asked: Vec<_> = model.take_calls().into_iter().filter(|call| call.prompt.path() == "summarize").collect();
    assert!(!asked.is_empty());
    for call in asked {
        let answer = call.sampling.max_output.unwrap() as usize;
        assert!(total(&call.prompt) + answer <= usable, "{} and {answer} of {usable}", total(&call.prompt));
    }
}

// OLLM-091 OLLM-102
#[tokio::test]
async fn a_request_for_a_summary_that_cannot_be_made_to_fit_is_not_sent_and_the_digest_needs_no_model() {
    let bench = bench().await;
    let short = |call: &ModelCall| match call.prompt.path() {
        path if path.starts_with("chat") => Said::Text("After it comes the next of all the numbers.".to_owned()),
        _ => Said::Text("They count, one number after the other.".to_owned()),
    };
    let model = Arc::new(Talker::new(card(131_072), short));
    let agent = agent(&bench, &model, BARE);
    for n in 1..=120 {
        settle(&agent, &format!("What comes after the number {n}?")).await;
    }
    let id = agent.directory().find(&LAST).await.unwrap().unwrap().id;
    agent.conversations().set_window(&id, Some(WindowSize(2048))).await.unwrap();
    model.take_sent();
    let done = agent.conversations().compact(&LAST).await.unwrap();
    assert_eq!(done.failure, None);
    let usable = UsableWindow::default_for(WindowSize(2048)).0 as usize;
    let sent = model.take_sent();
    assert!(sent.iter().all(|prompt| total(prompt) <= usable), "{:?}", sent.iter().map(|one| total(one)));
    let steps = done.steps.join("\n");
    assert!(
        steps.contains("the request for a summary needs") && steps.contains("and the window holds 1741"),
        "{steps}"
    );
    assert!(steps.contains("the digest was made without a model"), "{steps}");
}

fn kinds(events: &[WindowEvent]) -> Vec<&str> {
    events.iter().map(|event| event.new.kind.as_str()).collect()
}
