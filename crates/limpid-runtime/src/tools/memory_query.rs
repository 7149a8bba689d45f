//! `memory_query`: finds what is remembered by words of the model's own choosing (KOSHI-020 to 025).

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::recall::{query_words, rank};
use limpid_core::{Memory, ToolClass, Trust};
use limpid_store::{Store, StoreError};
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
#[derive(Clone)]
pub struct MemoryQuery {
    store: Arc<dyn Store>,
}

impl MemoryQuery {
    /// The tool over a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

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

    fn class(&self) -> ToolClass {
        ToolClass::Read
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
        let mut found = recall(&*self.store, &query, context.now_ms()).await.map_err(|error| error.to_string())?;
        if found.words.is_empty() {
            return Err("the query has no word to search for".to_owned());
        }
        found.memories.truncate(RESULTS);
        if found.memories.is_empty() {
            let Recalled { words, of, .. } = found;
            return Ok(ToolText::own(format!("none of {of} memories holds any of: {}", words.join(", "))));
        }
        let trust = found.memories.iter().fold(Trust::Owner, |trust, memory| trust.join(memory.trust));
        let line = |memory: &Memory| format!("[id:{}] {}: {}", memory.id, memory.key, memory.content);
        let lines: Vec<String> = found.memories.iter().map(line).collect();
        Ok(ToolText { text: lines.join("\n"), trust })
    }
}

/// What a query found.
pub(crate) struct Recalled {
    /// The words that were searched.
    pub(crate) words: Vec<String>,
    /// How many memories there are.
    pub(crate) of: u64,
    /// Those that hold any of the words, best first.
    pub(crate) memories: Vec<Memory>,
}

/// Finds memories by the words of a text, for the model and for the owner alike.
pub(crate) async fn recall(store: &dyn Store, text: &str, now_ms: i64) -> Result<Recalled, StoreError> {
    let words = query_words(text);
    let found = store.candidates(&words, CANDIDATES).await?;
    let ranked = rank(&found.corpus, found.memories, now_ms);
    let memories = ranked.into_iter().map(|hit| hit.memory).collect();
    Ok(Recalled { words, of: found.corpus.documents, memories })
}
