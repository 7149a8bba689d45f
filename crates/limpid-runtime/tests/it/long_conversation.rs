//! What stays the same from one request of a conversation to the next.

use std::collections::HashSet;
use std::sync::Arc;

use crate::kit::{Bench, say};
use jiff::ToSpan;
use limpid_core::{UsableWindow, WindowSize};
use limpid_model::protocol::{Dialect, Protocol};
use limpid_model::{Endpoint, Model, ModelCard, RemoteModel, Timeouts};
use limpid_runtime::{Agent, AgentOptions, ConversationChoice, PreviewRequest};
use limpid_store::RequestFilter;
use serde_json::Value;

fn agent(bench: &Bench, protocol: Protocol) -> Agent {
    let card = ModelCard {
        provider: protocol.as_str().to_owned(),
        id: "m".to_owned(),
        window: Some(WindowSize(16_384)),
        usable_window: Some(UsableWindow(12_000)),
        ..ModelCard::default()
    };
    let endpoint = Endpoint {
        protocol,
        dialect: Dialect::default(),
        base_url: bench.server.url(),
        key: None,
        key_variable: None,
        access: limpid_model::Access::default(),
        timeouts: Timeouts::default(),
        key_command: None,
        listed: Vec::new(),
    };
    let model: Arc<dyn Model> = Arc::new(RemoteModel::new(card, endpoint).unwrap());
    Agent::open(AgentOptions { model: Some(model), ..bench.options() }).unwrap()
}

/// The blocks of a request as the provider's cache sees them: in the order tools, system, messages; each with whether
/// it carries a mark.
fn blocks(body: &Value) -> Vec<(String, bool)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let messages = list(&body["messages"]).into_iter().flat_map(|message| {
        let role = message["role"].clone();
        list(&message["content"]).into_iter().map(move |mut block| {
            block["role"] = role.clone();
            block
        })
    });
    let all = list(&body["tools"]).into_iter().chain(list(&body["system"])).chain(messages);
    all.map(|mut block| {
        let mark = block.as_object_mut().unwrap().remove("cache_control").is_some();
        (block.to_string(), mark)
    })
    .collect()
}

/// A cache that keeps what stands before a mark, and finds it again up to 20 blocks before one.
#[derive(Default)]
struct Cache(HashSet<String>);

impl Cache {
    /// The share of a request that it has, in percent of its bytes.
    fn ask(&mut self, blocks: &[(String, bool)]) -> usize {
        let upto = |end: usize| blocks[..end].iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("\n");
        let marks: Vec<usize> = (1..=blocks.len()).filter(|end| blocks[end - 1].1).collect();
        assert!(marks.len() <= 4, "the provider takes four marks, not {}", marks.len());
        let known = |end: &usize| self.0.contains(&upto(*end));
        let found = marks.iter().flat_map(|&mark| mark.saturating_sub(20)..=mark).filter(known).max().unwrap_or(0);
        self.0.extend(marks.into_iter().map(upto));
        upto(found).len() * 100 / upto(blocks.len()).len()
    }
}

// LES-025 PRO-043
#[tokio::test]
async fn the_twentieth_turn_is_read_from_the_providers_cache() {
    let bench = Bench::new("[[reply]]\ntext = \"An answer of a few words, as usual.\"\n").await;
    let agent = agent(&bench, Protocol::Anthropic);
    for turn in 1..=20 {
        say(&agent, &format!("Question {turn}, of a few words as well.")).await;
        bench.clock.forward(7.minutes());
    }
    let mut cache = Cache::default();
    let calls = bench.server.calls();
    let read: Vec<usize> = calls.iter().map(|call| cache.ask(&blocks(&call.json()))).collect();
    assert_eq!((read.len(), read[0]), (20, 0));
    assert!(read[19] >= 90, "{read:?} percent");
}

// OLLM-018
#[tokio::test]
async fn the_server_is_told_the_usable_window_in_every_request_of_a_conversation() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = agent(&bench, Protocol::Ollama);
    for said in ["hi", "and now?", &"a long message ".repeat(300)] {
        say(&agent, said).await;
    }
    let told: Vec<Value> = bench.server.calls().iter().map(|call| call.json()["options"]["num_ctx"].clone()).collect();
    assert_eq!(told, [12_000, 12_000, 12_000]);
}

// OLLM-013
#[tokio::test]
async fn each_request_of_a_turn_is_kept_with_the_hash_of_its_prompt() {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.config.agent.profile = "ollm".to_owned();
    let agent = agent(&bench, Protocol::OpenaiChat);
    let mut expected = Vec::new();
    for mode in ["assistant", "assistant", "planning"] {
        let mut request = crate::kit::last("hi");
        request.mode = Some(mode.to_owned());
        let next = PreviewRequest {
            conversation: ConversationChoice::Last,
            text: "hi".to_owned(),
            mode: Some(mode.to_owned()),
            ..PreviewRequest::default()
        };
        expected.push(agent.preview(next).await.unwrap().prompt.revision().to_owned());
        crate::kit::all(agent.chat(request).await.unwrap()).await;
    }
    let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
    let kept: Vec<String> = rows.iter().rev().map(|row| row.revision.clone()).collect();
    assert_eq!(kept, expected);
    assert!(kept[0] == kept[1] && kept[1] != kept[2] && kept[0].len() == 16, "{kept:?}");
}
