//! What a conversation remembers, and what it does not learn from another one.

#![allow(clippy::unwrap_used)]

mod kit;

use kit::{Bench, all, say};
use limpid_core::{Category, Memory, Trust};
use limpid_runtime::{Agent, ChatRequest, ConversationChoice};
use limpid_store::{Author, NewMemory};

async fn keep(agent: &Agent, key: &str, content: &str) {
    let new = NewMemory {
        key: Some(key.to_owned()),
        content: content.to_owned(),
        category: Category::General,
        trust: Trust::Owner,
        author: Author::Said,
        source: None,
        now_ms: agent.now_ms(),
    };
    agent.store().store_memory(new).await.unwrap();
}

/// The result that a request brings back last.
fn result(bench: &Bench, call: usize) -> String {
    let body = bench.server.calls()[call].json();
    let messages = body["messages"].as_array().unwrap().clone();
    let tool = messages.iter().rfind(|message| message["role"] == "tool").unwrap();
    tool["content"].as_str().unwrap().to_owned()
}

const ASK: &str = "[[reply]]\ncalls = [{ name = \"memory_query\", arguments = { query = \"tea\" } }]\n";

// KOSHI-025
#[tokio::test]
async fn the_same_query_in_the_next_turn_finds_what_is_there_by_then() {
    let twice = format!("{ASK}[[reply]]\ntext = \"Oolong.\"\n").repeat(2);
    let bench = Bench::new(&twice).await;
    let agent = bench.agent();
    keep(&agent, "drink", "tea: oolong").await;
    say(&agent, "what do I drink?").await;
    assert_eq!(result(&bench, 1), "[id:1] drink: tea: oolong");
    keep(&agent, "drink", "tea: none").await;
    keep(&agent, "cake", "goes with tea").await;
    say(&agent, "what do I drink?").await;
    let second = result(&bench, 3);
    assert!(second.contains("[id:1] drink: tea: none") && second.contains("[id:2] cake"), "{second}");
}

// LES-051
#[tokio::test]
async fn a_thousand_recalls_leave_the_memories_as_they_were() {
    let bench = Bench::new(&format!("{ASK}[[reply]]\ntext = \"Remember: tea at five.\"\n")).await;
    let agent = bench.agent();
    for n in 0..20 {
        keep(&agent, &format!("k{n}"), &format!("tea number {n}")).await;
    }
    let stored = async || -> (Vec<Memory>, usize) {
        let store = agent.store();
        (store.memories(None).await.unwrap().rows, store.memory_events(None).await.unwrap().rows.len())
    };
    let before = stored().await;
    say(&agent, "which tea?").await;
    assert!(result(&bench, 1).contains("tea number"), "the model was given what it asked for");
    for _ in 0..999 {
        assert!(!agent.recall("tea", 10).await.unwrap().is_empty());
    }
    assert_eq!(stored().await, before);
}

// LES-147
#[tokio::test]
async fn agents_and_chats_never_share_history() {
    let benches = [Bench::new("[[reply]]\ntext = \"ok\"\n").await, Bench::new("[[reply]]\ntext = \"ok\"\n").await];
    let agents = [benches[0].agent(), benches[1].agent()];
    let mut chats = Vec::new();
    for (at, agent) in agents.iter().enumerate() {
        for chat in 0..2 {
            let request = ChatRequest { text: format!("secret-{at}-{chat}"), ..ChatRequest::default() };
            let handle = agent.chat(request).await.unwrap();
            chats.push((at, chat, handle.conversation().clone()));
            all(handle).await;
        }
    }
    // Again, so that each request has a history of its own to bring.
    for (at, chat, id) in &chats {
        let conversation = ConversationChoice::Id(id.clone());
        let text = format!("again-{at}-{chat}");
        all(agents[*at].chat(ChatRequest { conversation, text, ..ChatRequest::default() }).await.unwrap()).await;
    }
    for (at, bench) in benches.iter().enumerate() {
        let calls = bench.server.calls();
        assert_eq!(calls.len(), 4);
        for (call, chat) in calls.iter().zip([0, 1, 0, 1]) {
            let body = call.text();
            let own = format!("secret-{at}-{chat}");
            assert!(body.contains(&own), "{body}");
            for other in ["secret-0-0", "secret-0-1", "secret-1-0", "secret-1-1"] {
                assert!(other == own || !body.contains(other), "{other} in a request of {own}: {body}");
            }
        }
    }
}
