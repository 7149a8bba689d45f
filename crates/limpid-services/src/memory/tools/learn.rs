//! `memory_learn`: keeps a preference, a lesson or a cure under its kind.

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Category, ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_tools::{Concerned, Named, Tool, ToolContext, echoed, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::memory::tools::which::{named_by_key, written_over};
use crate::memory::{MemoryNote, MemoryWriter, WriteSource};
use crate::tools::trouble;

/// Keeps what was learned.
#[derive(Clone)]
pub(crate) struct MemoryLearn {
    writer: MemoryWriter,
}

impl MemoryLearn {
    /// The tool over what writes memories.
    pub(crate) fn new(writer: MemoryWriter) -> Self {
        Self { writer }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    key: String,
    content: String,
    category: String,
    source: Option<String>,
}

#[async_trait]
impl Tool for MemoryLearn {
    fn name(&self) -> &'static str {
        "memory_learn"
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
        let Arguments { key, content, category, source } = read_arguments(arguments)?;
        let category = match category.trim().parse::<Category>() {
            Ok(Category::General) => {
                return Err(
                    "`category` GENERAL is what memory_store keeps; use that, or LEARNING, ERROR or PREFERENCE".into(),
                );
            }
            Ok(category) => category,
            Err(_) => return Err(sentence!("`category` is `{}`; use LEARNING, ERROR or PREFERENCE", echoed(category))),
        };
        let note = MemoryNote { key, content, category, origin: source };
        let kept = self.writer.store(note, &WriteSource::turn(context)).await.map_err(trouble)?;
        let (done, memory) = (if kept.fresh { "learned" } else { "updated" }, kept.memory);
        Ok(sentence!(
            "{} [id:{}] {} ({})",
            done,
            context.words(memory.id),
            Labelled::new(memory.key, memory.trust.join(context.trust)),
            context.words(memory.category)
        )
        .into())
    }
}
