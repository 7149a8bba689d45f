//! `memory_reinforce` and `memory_demote`: what the model says of a memory that it was given.

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_tools::{Concerned, Named, Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::memory::MemoryWriter;
use crate::memory::tools::which::{Which, concerns, named};
use crate::tools::trouble;

/// Says whether a memory helped.
#[derive(Clone)]
pub(crate) struct MemoryFeedback {
    writer: MemoryWriter,
    helped: bool,
}

impl MemoryFeedback {
    /// The tool that says that it helped.
    pub(crate) fn reinforce(writer: MemoryWriter) -> Self {
        Self { writer, helped: true }
    }

    /// The tool that says that it did not.
    pub(crate) fn demote(writer: MemoryWriter) -> Self {
        Self { writer, helped: false }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: Which,
}

#[async_trait]
impl Tool for MemoryFeedback {
    fn name(&self) -> &'static str {
        if self.helped { "memory_reinforce" } else { "memory_demote" }
    }

    fn group(&self) -> &'static str {
        "memory"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Remember
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::ChangeOwned
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        concerns(&**self.writer.database(), &arguments["id"]).await
    }

    async fn named(&self, arguments: &Value, _: Option<&ConversationId>) -> Option<Named> {
        named(&**self.writer.database(), arguments, &["id"]).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { id } = read_arguments(arguments)?;
        let store = self.writer.database();
        let which = id.memory();
        let judged = if self.helped {
            store.reinforce_memory(&which, context.now_ms()).await
        } else {
            store.demote_memory(&which, context.now_ms()).await
        };
        let memory = judged.map_err(trouble)?;
        Ok(sentence!("[id:{}] hits: {}, score: {}", context.words(memory.id), memory.hits, memory.score).into())
    }
}
