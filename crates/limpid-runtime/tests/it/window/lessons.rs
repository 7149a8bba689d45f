//! What goes wrong with compaction in the field, and does not here.

use std::sync::Arc;

use jiff::ToSpan;
use limpid_core::{ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{ModelCall, ModelCard};
use limpid_prompt::Prompt;
use limpid_runtime::{Agent, ChatRequest, ConversationChoice, EventKind, Outcome, TurnEvent};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, events_of, outcome, question, talker, text_of, total};
use crate::kit::{all, say};

/// The sections of the system prompt.
fn sections(prompt: &Prompt) -> Vec<String> {
    let parts = prompt.messages()[0].parts().iter().map(|part| part.section().to_owned());
    let mut sections: Vec<String> = parts.collect();
    sections.dedup();
    sections
}

// LES-072
#[tokio::test]
async fn prompt_files_skills_and_standing_orders_are_there_after_a_compaction() {
    const ORDER: &str = "Never open the north gate after dark.";
    for profile in ["limpid", "ollm", "picoclaw", "kai", "koshi"] {
        let bench = bench().await;
        let prompt = format!("[prompt]\nadditional_instructions = \"{ORDER}\"\n");
        bench.write("soul.md", &format!("You keep the gates.\n{ORDER}\n"));
        bench.write("workspace/AGENTS.md", &format!("# Agent\n{ORDER}\n"));
        bench.write(
            "skills/tea/SKILL.md",
            "---\nname: tea\ntitle: Tea\ndescription: Brew tea\n---\nSteep at 80 degrees.\n",
        );
        let model = talker(16_384, "They talk; the port is 8080.");
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"{profile}\"\n{BARE}{prompt}"));
        say(&agent, &question(1)).await;
        agent.conversations().use_skills(&ConversationChoice::Last, vec!["tea".to_owned()]).await.unwrap();
        for n in 2..=9 {
            say(&agent, &question(n)).await;
        }
        let before = model.take_sent().pop().unwrap();
        assert!(text_of(&before).contains(ORDER), "{profile}: {}", text_of(&before));
        let skill = text_of(&before).contains("Steep at 80 degrees.");
        let report = agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
        assert_eq!(report.failure, None);
        model.take_sent();
        say(&agent, &question(10)).await;
        let after = model.take_sent().pop().unwrap();
        assert!(!text_of(&after).contains("Question 3: "), "{profile} was compacted");
        // The summary of a profile that keeps one in its system prompt is new.
        let kept = |prompt: &Prompt| sections(prompt).into_iter().filter(|id| id != "suffix").collect::<Vec<_>>();
        assert_eq!(kept(&before), kept(&after), "{profile}");
        assert!(text_of(&after).contains(ORDER), "{profile}: {}", text_of(&after));
        assert_eq!(text_of(&after).contains("Steep at 80 degrees."), skill, "{profile}");
    }
}

// LES-073
#[tokio::test]
async fn a_denied_tool_a_mode_and_a_window_stay_over_compaction_restart_and_midnight() {
    let bench = bench().await;
    let native = ModelCard { tools: ToolProtocol::Native, ..card(16_384) };
    let answer = |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Text("They talk; read_file is allowed from here on.".to_owned()),
        _ if call.prompt.messages().last().unwrap().text().starts_with("Read") => {
            Said::Calls(vec![("read_file".to_owned(), r#"{"path":"secret.txt"}"#.to_owned())])
        }
        _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(12))),
    };
    let model = Arc::new(Talker::new(native, answer));
    let config = format!("{BARE}[tools]\ndefer = false\n[policy]\ndeny = [{{ tool = \"read_file\" }}]\n");
    let first = agent(&bench, &model, &config);
    let request = ChatRequest {
        text: question(1),
        mode: Some("developer".to_owned()),
        model: Some("test/talker".to_owned()),
        ..ChatRequest::default()
    };
    all(first.chat(request).await.unwrap()).await;
    let id = first.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    first.conversations().set_window(&id, Some(WindowSize(8192))).await.unwrap();
    let settings = |agent: &Agent| {
        let agent = agent.clone();
        async move {
            let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
            let tiers = agent.conversations().tiers(&ConversationChoice::Last).await.unwrap();
            (conversation.mode, conversation.model, tiers.window)
        }
    };
    let before = settings(&first).await;
    assert_eq!(before.0.as_deref(), Some("developer"));
    for n in 2..=30 {
        say(&first, &question(n)).await;
    }
    assert!(events_of(&first).await.iter().any(|event| event.new.view.is_some()), "it was compacted");
    drop(first);
    bench.clock.forward(26.hours());
    bench.write("workspace/secret.txt", "Kolibri");
    let second = agent(&bench, &model, &config);
    model.take_sent();
    say(&second, "Read the secret.").await;
    // It is not declared; called all the same, it gives the model an error and no word of the file.
    let sent = model.take_sent();
    let texts: Vec<&str> =
        sent.iter().flat_map(|prompt| prompt.messages()).map(limpid_prompt::PromptMessage::text).collect();
    assert!(sent.len() > 1 && texts.iter().all(|text| !text.contains("Kolibri")), "{texts:#?}");
    assert_eq!(settings(&second).await, before);
}

// LES-076
#[tokio::test]
async fn of_an_unknown_model_a_careful_window_is_assumed_and_said_once() {
    let bench = bench().await;
    let unknown = ModelCard { window: None, usable_window: None, ..card(4096) };
    let answer = |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Text("They talk; the port is 8080.".to_owned()),
        _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(60))),
    };
    let model = Arc::new(Talker::new(unknown, answer));
    // What a reply may have says nothing of the window.
    let agent = agent(&bench, &model, &format!("{BARE}[limits]\noutput_tokens = 900\n"));
    let mut notices = 0;
    for n in 1..=60 {
        let events = say(&agent, &question(n)).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }));
        let is_about = |event: &&TurnEvent| matches!(event, TurnEvent::Notice(text) if text.contains("window"));
        notices += events.iter().filter(is_about).count();
    }
    assert_eq!(notices, 1);
    let largest = model.take_sent().iter().map(|prompt| total(prompt)).max().unwrap();
    let careful = UsableWindow::default_for(WindowSize(16_384)).0 as usize;
    assert_eq!(agent.conversations().context(&ConversationChoice::Last).await.unwrap().size.usable.0 as usize, careful);
    assert!(largest + careful / 4 <= careful && largest > 4096, "{largest}");
}

// LES-077
#[tokio::test]
async fn a_server_that_counts_three_times_as_much_is_compacted_in_its_own_tokens() {
    let bench = bench().await;
    let answer = |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Text("They talk; the port is 8080.".to_owned()),
        _ => Said::Text("Noted, and so on and so forth.".to_owned()),
    };
    let model = Arc::new(Talker::new(card(32_768), answer).counting(300));
    let agent = agent(&bench, &model, BARE);
    let mut n = 0;
    let usual = "what about this and that? ".repeat(10);
    loop {
        n += 1;
        assert!(n < 200, "it never compacts");
        say(&agent, &format!("Question {n}: {usual}")).await;
        let id = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        agent.conversations().wait_idle(&id).await;
        if !events_of(&agent).await.is_empty() {
            break;
        }
    }
    let calls = model.take_sent();
    let last = calls.iter().rev().find(|prompt| prompt.path() == "chat-remote").unwrap();
    let usable = card(32_768).usable_window.unwrap().0 as usize;
    let system = 3 * last.messages()[0].text().chars().count().div_ceil(4);
    let available = usable - usable.div_euclid(4).min(4096) - system;
    // By the server's count, the answer included.
    let percent = (3 * (total(last) + 8) - system) * 100 / available;
    assert!(
        (72..=88).contains(&percent),
        "{n} turns, compacted at {percent} % of what is available, which should be 80: {:?}",
        events_of(&agent).await
    );
}

// LES-078 OLLM-110
#[tokio::test]
async fn a_history_that_cannot_be_shortened_is_reported_once_and_answered_on() {
    let bench = bench().await;
    let answer = |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Text(String::new()),
        _ => Said::Text("1".to_owned()),
    };
    let model = Arc::new(Talker::new(card(32_768), answer));
    // Over 20 messages it wants a summary, and no summary is shorter than these.
    let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"picoclaw\"\n{BARE}"));
    let mut bus = agent.subscribe();
    for n in 0..30 {
        let events = say(&agent, &(n % 10).to_string()).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{n}");
    }
    let mut failed = 0;
    while let Ok(event) = bus.try_recv() {
        assert!(!matches!(event.change, EventKind::CompactionFinished { .. }));
        failed += usize::from(matches!(event.change, EventKind::CompactionFailed { again: false, .. }));
    }
    let calls = model.take_sent().iter().filter(|prompt| !prompt.path().starts_with("chat")).count();
    let attempts = events_of(&agent).await;
    assert_eq!(failed, 1, "reported once");
    assert!(calls <= 3 * attempts.len() && attempts.len() <= 6, "{calls} calls in {} attempts", attempts.len());
    assert!(attempts.iter().all(|attempt| attempt.new.failure.is_some()), "each ends in a reason");
}
