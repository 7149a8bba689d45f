//! `promote_learning`: makes a memory that proved itself a part of the soul.

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_store::PromotionState;
use limpid_tools::{Concerned, Named, Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::memory::tools::which::{Which, concerns, named};
use crate::memory::{MemoryWriter, WriteSource};
use crate::tools::trouble;

/// Its name; it is only offered while there is something to promote.
pub const PROMOTE_LEARNING: &str = "promote_learning";

/// Takes a memory into the soul, or proposes it.
#[derive(Clone)]
pub(crate) struct PromoteLearning {
    writer: MemoryWriter,
}

impl PromoteLearning {
    /// The tool over what writes memories.
    pub(crate) fn new(writer: MemoryWriter) -> Self {
        Self { writer }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    memory_key: Which,
    soul_addition: String,
}

#[async_trait]
impl Tool for PromoteLearning {
    fn name(&self) -> &'static str {
        PROMOTE_LEARNING
    }

    fn group(&self) -> &'static str {
        "memory"
    }

    fn class(&self) -> ToolClass {
        ToolClass::ChangeSelf
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::ChangeSelf
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        concerns(&**self.writer.database(), &arguments["memory_key"]).await
    }

    async fn named(&self, arguments: &Value, _: Option<&ConversationId>) -> Option<Named> {
        named(&**self.writer.database(), arguments, &["memory_key"]).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { memory_key, soul_addition } = read_arguments(arguments)?;
        let which = memory_key.memory();
        let made = self.writer.promote(&which, soul_addition, &WriteSource::approved_turn(context)).await;
        let promotion = made.map_err(trouble)?;
        let (key, hits) = (&promotion.memory.key, &promotion.memory.hits);
        let key = Labelled::new(key, promotion.memory.trust.join(context.trust));
        let told = match promotion.state {
            PromotionState::Standing => sentence!("{} ({} hits) is part of the soul from the next turn on", key, *hits),
            _ => sentence!(
                "only proposed, as number {}: text of strangers was read, so the owner decides; {} ({} hits) \
                 stays a memory until then",
                promotion.id.0,
                key,
                *hits
            ),
        };
        Ok(told.into())
    }
}
