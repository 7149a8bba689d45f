//! `update_skill`: changes a skill.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass};
use limpid_prompt::skill::Draft;
use limpid_tools::{Concerned, Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::skills::change::SkillWriter;
use crate::skills::service::Skills;
use crate::skills::tools::group::GROUP;
use crate::tools::trouble;

/// Changes what is named of a skill, as a new version that can be undone.
pub(crate) struct UpdateSkill {
    skills: Arc<Skills>,
}

impl UpdateSkill {
    pub(crate) fn new(skills: Arc<Skills>) -> Self {
        Self { skills }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    description: Option<String>,
    content: Option<String>,
    triggers: Option<Vec<String>>,
    tools: Option<Vec<String>>,
}

#[async_trait]
impl Tool for UpdateSkill {
    fn name(&self) -> &'static str {
        "update_skill"
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

    async fn looked_up(&self, arguments: &Value) -> Vec<String> {
        let stands = self.skills.in_words(arguments["name"].as_str().unwrap_or_default()).await;
        stands.map(|(_, text)| text).into_iter().collect()
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        let stands = self.skills.in_words(arguments["name"].as_str().unwrap_or_default()).await;
        Concerned::found(stands.map(|(words, _)| words), "there is no such skill")
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { name, description, content, triggers, tools } = read_arguments(arguments)?;
        let draft = Draft { description, content, triggers, tools };
        if draft == Draft::default() {
            return Err("nothing is to be changed; give `description`, `content`, `triggers` or `tools`".into());
        }
        if draft.content.as_deref().is_some_and(|content| content.trim().is_empty()) {
            return Err("`content` must not be blank: it is the instructions".into());
        }
        let source = format!("turn:{}", context.turn);
        let by = SkillWriter { source: &source, now_ms: context.now_ms() };
        self.skills.update(&name, &draft, by).await.map_err(trouble)?;
        Ok(Sentence::from("changed; the version before is kept").into())
    }
}
