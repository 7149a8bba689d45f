//! `memory_query`: finds what is remembered by words of the model's own choosing (KOSHI-020 to 025).

use async_trait::async_trait;
use limpid_core::Trust;
use limpid_core::recall::{query_words, rank};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Tool, ToolContext, ToolText, read_arguments, schema_of};

/// Memories that one query returns.
const RESULTS: usize = 10;

/// Memories that are ranked; more than a person's store has for any sensible query.
const CANDIDATES: u32 = 500;

/// Queries that one message of the person allows (KOSHI-022).
const QUERIES: u32 = 3;

/// Finds memories by words.
#[derive(Clone, Copy, Debug)]
pub struct MemoryQuery;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
}

#[async_trait]
impl Tool for MemoryQuery {
    fn name(&self) -> &'static str {
        "memory_query"
    }

    fn group(&self) -> &'static str {
        "memory"
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn calls_a_message(&self) -> Option<(u32, &'static str)> {
        Some((QUERIES, "at most 3 memory queries for one message; answer with what you have"))
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let Arguments { query } = read_arguments(arguments)?;
        let words = query_words(&query);
        if words.is_empty() {
            return Err("the query has no word to search for".to_owned());
        }
        let found = context.store.candidates(&words, CANDIDATES).await.map_err(|error| error.to_string())?;
        let mut ranked = rank(&found.corpus, found.memories, context.now_ms());
        ranked.truncate(RESULTS);
        if ranked.is_empty() {
            return Ok(ToolText::own(format!(
                "none of {} memories holds any of: {}",
                found.corpus.documents,
                words.join(", ")
            )));
        }
        let trust = ranked.iter().fold(Trust::Owner, |trust, hit| trust.join(hit.memory.trust));
        let lines: Vec<String> = ranked
            .iter()
            .map(|hit| format!("[id:{}] {}: {}", hit.memory.id, hit.memory.key, hit.memory.content))
            .collect();
        Ok(ToolText { text: lines.join("\n"), trust })
    }
}
