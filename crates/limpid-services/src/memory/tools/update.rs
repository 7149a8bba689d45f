//! `memory_update`: corrects a memory's content.

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass};
use limpid_tools::{Concerned, Named, Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::memory::tools::which::{Which, concerns, named};
use crate::memory::{MemoryWriter, WriteSource};
use crate::tools::trouble;

/// Corrects a memory.
#[derive(Clone)]
pub(crate) struct MemoryUpdate {
    writer: MemoryWriter,
}

impl MemoryUpdate {
    /// The tool over what writes memories.
    pub(crate) fn new(writer: MemoryWriter) -> Self {
        Self { writer }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: Which,
    content: String,
}

#[async_trait]
impl Tool for MemoryUpdate {
    fn name(&self) -> &'static str {
        "memory_update"
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

    fn adopts(&self) -> bool {
        true
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        concerns(&**self.writer.database(), &arguments["id"]).await
    }

    async fn named(&self, arguments: &Value, _: Option<&ConversationId>) -> Option<Named> {
        named(&**self.writer.database(), arguments, &["id"]).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { id, content } = read_arguments(arguments)?;
        let which = id.memory();
        let corrected = self.writer.update(&which, Some(content), None, &WriteSource::approved_turn(context)).await;
        let memory = corrected.map_err(trouble)?;
        Ok(Labelled::new(
            format!("updated [id:{}] {}", memory.id, memory.key).trim_end().to_owned(),
            memory.trust.join(context.trust),
        ))
    }
}
