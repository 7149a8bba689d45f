//! `memory_forget`: drops a memory; the owner can undo it.

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_tools::{Concerned, Named, Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::memory::tools::which::{Which, concerns, named};
use crate::memory::{MemoryWriter, WriteSource};
use crate::tools::trouble;

/// Forgets a memory.
#[derive(Clone)]
pub(crate) struct MemoryForget {
    writer: MemoryWriter,
}

impl MemoryForget {
    /// The tool over what writes memories.
    pub(crate) fn new(writer: MemoryWriter) -> Self {
        Self { writer }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    key: Which,
}

#[async_trait]
impl Tool for MemoryForget {
    fn name(&self) -> &'static str {
        "memory_forget"
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
        concerns(&**self.writer.database(), &arguments["key"]).await
    }

    async fn named(&self, arguments: &Value, _: Option<&ConversationId>) -> Option<Named> {
        named(&**self.writer.database(), arguments, &["key"]).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { key } = read_arguments(arguments)?;
        let which = key.memory();
        let forgotten = self.writer.forget(&which, &WriteSource::approved_turn(context)).await.map_err(trouble)?;
        Ok(sentence!(
            "forgotten [id:{}] {}",
            context.words(forgotten.id),
            Labelled::new(forgotten.key, forgotten.trust.join(context.trust))
        )
        .into())
    }
}
