//! Conversations that are longer than the model's window.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod kit;

use std::sync::Arc;

use kit::{Bench, say};
use limpid_core::{Role, ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{Model, ModelCall, ModelCard};
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
