//! How memories, their history and promotions are printed.

use std::collections::HashMap;

use limpid_core::{Memory, MemoryId};
use limpid_runtime::{Agent, marked_line};
use limpid_store::{Author, MemoryEvent, Promotion, Provenance};
use serde_json::{Value, json};

use crate::commands::listing::in_zone;
use crate::failure::Failure;
use crate::output;

/// A list of memories.
pub(super) async fn memories(agent: &Agent, memories: &[Memory], json: bool) -> Result<(), Failure> {
    let known = provenance(agent, memories).await?;
    if json {
        let rows: Vec<Value> = memories.iter().map(|memory| full(memory, known.get(&memory.id))).collect();
        return output::json("memories", &rows);
    }
    if memories.is_empty() {
        output::tell("Nothing.");
        return Ok(());
    }
    let row = |memory: &Memory| {
        vec![
            memory.category.to_string(),
            memory.key.clone(),
            memory.hits.to_string(),
            if memory.pinned { "pinned" } else { "" }.to_owned(),
            who(memory, known.get(&memory.id).map(|known| known.author)).to_owned(),
            one_line(&memory.content),
        ]
    };
    let rows: Vec<Vec<String>> = memories.iter().map(row).collect();
    output::line(&output::table(&["category", "key", "hits", "", "by", "content"], &rows))
}

/// One memory in full.
pub(super) async fn memory(agent: &Agent, memory: &Memory, json: bool) -> Result<(), Failure> {
    let known = provenance(agent, std::slice::from_ref(memory)).await?;
    let known = known.get(&memory.id);
    if json {
        return output::json("memory", &full(memory, known));
    }
    let mut lines = vec![
        ("number", memory.id.to_string()),
        ("key", memory.key.clone()),
        ("category", memory.category.to_string()),
        ("hits", memory.hits.to_string()),
        ("score", memory.score.to_string()),
        ("pinned", if memory.pinned { "yes" } else { "no" }.to_owned()),
        ("trust", memory.trust.to_string()),
    ];
    if let Some(known) = known {
        lines.push(("author", known.author.as_str().to_owned()));
        // The model names where it has it from, so these words are whoever's the memory is.
        lines.extend(known.source.as_ref().map(|source| ("source", marked_line(source, memory.trust))));
        lines.extend(known.conversation.as_ref().map(|id| ("conversation", id.to_string())));
        lines.push(("said", local(agent, known.at_ms)));
    }
    lines.push(("made", local(agent, memory.created_ms)));
    lines.push(("changed", local(agent, memory.updated_ms)));
    let content =
        if memory.trust.is_foreign() { output::behind_margin(&memory.content) } else { memory.content.clone() };
    output::line(&format!("{}\n\n{content}", output::fields(&lines)))
}

/// What happened to memories.
pub(super) fn events(agent: &Agent, events: &[MemoryEvent], json: bool) -> Result<(), Failure> {
    if json {
        let rows: Vec<Value> = events.iter().map(event).collect();
        return output::json("events", &rows);
    }
    if events.is_empty() {
        output::tell("Nothing.");
        return Ok(());
    }
    let row = |event: &MemoryEvent| {
        let memory = event.after.as_ref().or(event.before.as_ref());
        vec![
            event.id.0.to_string(),
            local(agent, event.at_ms),
            event.kind.as_str().to_owned(),
            memory.map_or_else(|| event.memory.to_string(), |memory| memory.key.clone()),
            event.author.map_or("", Author::as_str).to_owned(),
            memory.map_or("", |memory| memory.trust.as_str()).to_owned(),
            memory.map(|memory| one_line(&memory.content)).unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = events.iter().map(row).collect();
    output::line(&output::table(&["event", "when", "what", "key", "by", "trust", "content"], &rows))
}

/// What memories added to the soul, or are to.
pub(super) fn promotions(agent: &Agent, promotions: &[Promotion], json: bool) -> Result<(), Failure> {
    if json {
        let rows: Vec<Value> = promotions.iter().map(promotion).collect();
        return output::json("promotions", &rows);
    }
    if promotions.is_empty() {
        output::tell("Nothing.");
        return Ok(());
    }
    let row = |promotion: &Promotion| {
        vec![
            promotion.id.0.to_string(),
            local(agent, promotion.decided_ms.unwrap_or(promotion.proposed_ms)),
            promotion.state.as_str().to_owned(),
            promotion.memory.key.clone(),
            promotion.memory.hits.to_string(),
            promotion.trust.to_string(),
            one_line(&promotion.addition),
        ]
    };
    let rows: Vec<Vec<String>> = promotions.iter().map(row).collect();
    output::line(&output::table(&["promotion", "when", "state", "key", "hits", "trust", "addition"], &rows))
}

async fn provenance(agent: &Agent, memories: &[Memory]) -> Result<HashMap<MemoryId, Provenance>, Failure> {
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    Ok(agent.memory().who_said(&ids).await?.into_iter().collect())
}

/// Who a list says it is from: a stranger, whatever they said; else whether it was said or inferred.
fn who(memory: &Memory, author: Option<Author>) -> &'static str {
    if memory.trust.is_foreign() { memory.trust.as_str() } else { author.map_or("", Author::as_str) }
}

fn full(memory: &Memory, known: Option<&Provenance>) -> Value {
    let mut value = bare(memory);
    value["author"] = json!(known.map(|known| known.author.as_str()));
    value["source"] = json!(known.and_then(|known| known.source.as_deref()));
    value["conversation"] =
        json!(known.and_then(|known| known.conversation.as_ref()).map(limpid_core::ConversationId::as_str));
    value["said_ms"] = json!(known.map(|known| known.at_ms));
    value
}

fn bare(memory: &Memory) -> Value {
    json!({
        "id": memory.id.0,
        "key": memory.key,
        "content": memory.content,
        "category": memory.category.as_str(),
        "hits": memory.hits,
        "score": memory.score,
        "pinned": memory.pinned,
        "trust": memory.trust.as_str(),
        "created_ms": memory.created_ms,
        "updated_ms": memory.updated_ms,
    })
}

fn event(event: &MemoryEvent) -> Value {
    json!({
        "id": event.id.0,
        "memory": event.memory.0,
        "kind": event.kind.as_str(),
        "before": event.before.as_ref().map(bare),
        "after": event.after.as_ref().map(bare),
        "author": event.author.map(Author::as_str),
        "source": event.source,
        "at_ms": event.at_ms,
    })
}

fn promotion(promotion: &Promotion) -> Value {
    json!({
        "id": promotion.id.0,
        "state": promotion.state.as_str(),
        "addition": promotion.addition,
        "memory": bare(&promotion.memory),
        "trust": promotion.trust.as_str(),
        "source": promotion.source,
        "proposed_ms": promotion.proposed_ms,
        "decided_ms": promotion.decided_ms,
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn local(agent: &Agent, at_ms: i64) -> String {
    in_zone(at_ms, &agent.zone())
}
