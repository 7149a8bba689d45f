//! `memory_query`: finds what is remembered by words of the model's own choosing.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::recall::plain_words;
use limpid_core::{Labelled, Memory, MemoryId, Sentence, ToolClass, Trust, sentence};
use limpid_store::{Author, ConversationKind, Store};
use limpid_tools::{Tool, ToolContext, echoed, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::memory::{Recalled, SemanticIndex, recall};
use crate::tools::trouble;

/// Memories that one query returns when the model does not say how many.
const RESULTS: usize = 10;

/// Of these, memories of strangers' at most.
const OF_STRANGERS: usize = 3;

/// Memories that one query returns at most.
const MOST_RESULTS: usize = 50;

/// Queries that one message of the person allows.
const QUERIES: u32 = 3;

/// Finds memories by words.
#[derive(Clone)]
pub struct MemoryQuery {
    store: Arc<dyn Store>,
    semantics: Option<Arc<SemanticIndex>>,
}

impl MemoryQuery {
    /// The tool over a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, semantics: None }
    }

    /// The same, which also finds by meaning.
    pub fn by_meaning(self, semantics: Option<Arc<SemanticIndex>>) -> Self {
        Self { semantics, ..self }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    limit: Option<u32>,
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

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
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

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { query, limit } = read_arguments(arguments)?;
        let found = recall(&*self.store, self.semantics.as_deref(), &query, context.now_ms()).await;
        let mut found = found.map_err(trouble)?;
        if found.words.is_empty() {
            return Err("the query has no word to search for".into());
        }
        let limit = limit.map_or(RESULTS, |limit| (limit as usize).clamp(1, MOST_RESULTS));
        // However many memories strangers' texts have left, they do not take the places of the owner's. Where nobody reads along and
        // nothing of a stranger's has been read, they have no say at all.
        let of_strangers = if self.is_alone(context).await? { 0 } else { OF_STRANGERS };
        let mut theirs = 0;
        found.memories.retain(|memory| {
            theirs += usize::from(memory.trust.is_foreign());
            !memory.trust.is_foreign() || theirs <= of_strangers
        });
        found.memories.sort_by_key(|memory| memory.trust.is_foreign());
        found.memories.truncate(limit);
        // A full answer says nothing of what else there is, so only a short one has to say what it covers.
        let missing = if found.memories.len() < limit { self.missing(&found).await? } else { None };
        if found.memories.is_empty() {
            let words = context.words(plain_words(&query).join(", "));
            let none = sentence!("none of {} memories holds any of: {}", found.of, words);
            return Ok(match missing {
                Some(missing) => sentence!("{}\n{}", none, echoed(missing)).into(),
                None => none.into(),
            });
        }
        let trust = found.memories.iter().fold(Trust::Owner, |trust, memory| trust.join(memory.trust));
        let mut lines = self.lines(&found.memories).await?;
        lines.extend(missing);
        Ok(Labelled::new(lines.join("\n"), trust))
    }
}

impl MemoryQuery {
    /// Whether the call is made in a run of the owner's work in the background that has read nothing of a stranger's.
    async fn is_alone(&self, context: &ToolContext) -> Result<bool, Sentence> {
        if context.trust.is_foreign() {
            return Ok(false);
        }
        let conversation = self.store.conversation(&context.conversation).await.map_err(trouble)?;
        Ok(conversation.is_some_and(|conversation| conversation.kind == ConversationKind::Run))
    }

    /// A line for each memory; what the model itself inferred is marked, since it is no fact.
    async fn lines(&self, memories: &[Memory]) -> Result<Vec<String>, Sentence> {
        let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        let provenance = self.store.provenance(&ids).await.map_err(trouble)?;
        let inferred =
            |memory: &Memory| provenance.iter().any(|(id, known)| *id == memory.id && known.author == Author::Inferred);
        let line = |memory: &Memory| {
            let mark = if inferred(memory) { " (inferred)" } else { "" };
            format!("[id:{}] {}: {}{mark}", memory.id, memory.key, memory.content)
        };
        Ok(memories.iter().map(line).collect())
    }

    /// What a search could not look at.
    async fn missing(&self, found: &Recalled) -> Result<Option<String>, Sentence> {
        let state = self.store.memory_index().await.map_err(trouble)?;
        let stale = state.memories.saturating_sub(state.indexed);
        let unread = (found.broken > 0).then(|| format!("not searched: {} that cannot be read", found.broken));
        let lacking = (stale > 0).then(|| {
            format!(
                "not searched: {stale} of {} memories, which the index lacks; \
                 the owner can make it anew with `limpid memory reindex`",
                state.memories
            )
        });
        let lines: Vec<String> = lacking.into_iter().chain(unread).collect();
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }
}
