//! `memory_store`: keeps a fact under a key.

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Category, ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_tools::{Concerned, Named, Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::memory::tools::which::{named_by_key, written_over};
use crate::memory::{MemoryNote, MemoryWriter, WriteSource};
use crate::tools::trouble;

/// Keeps a fact. A key that is known gets the new content, so a call may be repeated.
#[derive(Clone)]
pub struct MemoryStoreTool {
    writer: MemoryWriter,
}

impl MemoryStoreTool {
    /// The tool over what writes memories.
    pub fn new(writer: MemoryWriter) -> Self {
        Self { writer }
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

    fn effect(&self, _: &Value) -> Effect {
        Effect::Remember
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        written_over(&**self.writer.database(), &arguments["key"]).await
    }

    async fn named(&self, arguments: &Value, _: Option<&ConversationId>) -> Option<Named> {
        named_by_key(&**self.writer.database(), arguments).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { key, content } = read_arguments(arguments)?;
        let note = MemoryNote { key, content, category: Category::General, origin: None };
        let stored = self.writer.store(note, &WriteSource::turn(context)).await.map_err(trouble)?;
        let done = if stored.fresh { "stored" } else { "updated" };
        Ok(sentence!(
            "{} [id:{}] {}",
            done,
            context.words(stored.memory.id),
            Labelled::new(stored.memory.key, stored.memory.trust.join(context.trust))
        )
        .into())
    }
}
