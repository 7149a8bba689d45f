//! Conversations that are longer than the model's window.

mod by_hand;
mod cleaned;
mod digests;
mod large_waiting;
mod left_undone;
mod lessons;
mod moments;
mod pinned;
mod refused_summaries;
mod rules;
mod scripted;
mod summary;

use std::sync::Arc;

use crate::kit::Bench;
use limpid_core::{ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{Model, ModelCall, ModelCard};
use limpid_prompt::Prompt;
use limpid_prompt::count::{Estimate, TokenCounter};
use limpid_runtime::{Agent, AgentOptions, Config, ConversationChoice, Outcome, TurnEvent};
use limpid_testkit::{Said, Talker};

/// A remote model with a window of so many tokens.
fn card(window: u32) -> ModelCard {
    ModelCard {
        provider: "test".to_owned(),
        id: "talker".to_owned(),
        window: Some(WindowSize(window)),
        usable_window: Some(UsableWindow::default_for(WindowSize(window))),
        tools: ToolProtocol::None,
        ..ModelCard::default()
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

fn outcome(events: &[TurnEvent]) -> &Outcome {
    let done =
        events.iter().find_map(|event| if let TurnEvent::Done { outcome, .. } = event { Some(outcome) } else { None });
    done.unwrap_or_else(|| panic!("no end: {events:?}"))
}

const BARE: &str = "[memory]\nenabled = false\n";

async fn events_of(agent: &Agent) -> Vec<limpid_store::WindowEvent> {
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    agent.store().window_events(&conversation.id, 50).await.unwrap().rows
}

async fn bench() -> Bench {
    Bench::new("[[reply]]\ntext = \"unused\"\n").await
}
