//! `create_skill`: writes a new skill.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_prompt::skill::Draft;
use limpid_tools::{Concerned, Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::skills::change::SkillWriter;
use crate::skills::service::Skills;
use crate::skills::tools::group::GROUP;
use crate::tools::trouble;

/// Writes a SKILL.md into the owner's folder; the index shows it on the next turn. The same call again
/// changes nothing.
pub(crate) struct CreateSkill {
    skills: Arc<Skills>,
}

impl CreateSkill {
    pub(crate) fn new(skills: Arc<Skills>) -> Self {
        Self { skills }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    description: String,
    content: String,
    #[serde(default)]
    triggers: Vec<String>,
    #[serde(default)]
    tools: Vec<String>,
}

#[async_trait]
impl Tool for CreateSkill {
    fn name(&self) -> &'static str {
        "create_skill"
    }

    fn group(&self) -> &'static str {
        GROUP
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
        true
    }

    /// One that is there is never written over.
    async fn concerns(&self, _: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::InArguments
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { name, description, content, triggers, tools } = read_arguments(arguments)?;
        if content.trim().is_empty() {
            return Err("`content` must not be blank: it is the instructions".into());
        }
        let list = |items: Vec<String>| (!items.is_empty()).then_some(items);
        let (description, content) = (Some(description), Some(content));
        let draft = Draft { description, content, triggers: list(triggers), tools: list(tools) };
        let source = format!("turn:{}", context.turn);
        let by = SkillWriter { source: &source, now_ms: context.now_ms() };
        self.skills.create(&name, &draft, by).await.map_err(trouble)?;
        Ok(sentence!("written; /{} calls it, and the index shows it from the next message on", context.words(name))
            .into())
    }
}
