//! `memory_store`: keeps a fact under a key.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::{Category, ToolClass, Trust};
use limpid_store::{Author, NewMemory, Store};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Tool, ToolContext, ToolText, read_arguments, schema_of};

/// Keeps a fact. A key that is known gets the new content (KAI-047), so a call may be repeated.
#[derive(Clone)]
pub struct MemoryStoreTool {
    store: Arc<dyn Store>,
}

impl MemoryStoreTool {
    /// The tool over a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    key: String,
    content: String,
}

#[async_trait]
impl Tool for MemoryStoreTool {
    fn name(&self) -> &'static str {
        "memory_store"
    }

    fn group(&self) -> &'static str {
        "memory"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Remember
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let Arguments { key, content } = read_arguments(arguments)?;
        if key.trim().is_empty() || content.trim().is_empty() {
            return Err("`key` and `content` must not be blank".to_owned());
        }
        let new = NewMemory {
            key: Some(key.trim().to_owned()),
            content,
            category: Category::General,
            trust: context.trust,
            // What a stranger's text made the model store was not said by the owner.
            author: if context.trust == Trust::Owner { Author::Said } else { Author::Inferred },
            source: Some(format!("turn:{}", context.turn)),
            now_ms: context.now_ms(),
        };
        let stored = self.store.store_memory(new).await.map_err(|error| error.to_string())?;
        let done = if stored.fresh { "stored" } else { "updated" };
        Ok(ToolText::own(format!("{done} [id:{}] {}", stored.memory.id, stored.memory.key)))
    }
}
