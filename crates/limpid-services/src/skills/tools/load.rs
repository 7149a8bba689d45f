//! `load_skill`: the instructions of a skill.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use limpid_tools::{Tool, ToolContext, echoed, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::skills::listed::{ListedSkill, SkillStatus, no_such_skill};
use crate::skills::service::Skills;
use crate::skills::tools::group::GROUP;
use crate::tools::trouble;

/// The tool's name.
pub(crate) const LOAD_SKILL: &str = "load_skill";

/// Gives the text of a skill. What nobody has allowed yet is a stranger's text.
pub(crate) struct LoadSkill {
    skills: Arc<Skills>,
}

impl LoadSkill {
    pub(crate) fn new(skills: Arc<Skills>) -> Self {
        Self { skills }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

#[async_trait]
impl Tool for LoadSkill {
    fn name(&self) -> &'static str {
        LOAD_SKILL
    }

    fn group(&self) -> &'static str {
        GROUP
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

    fn canonical(&self, arguments: &Value) -> Value {
        let name = arguments["name"].as_str().unwrap_or_default();
        json!({ "name": name.trim().trim_start_matches('/').to_lowercase() })
    }

    async fn run(&self, _context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { name } = read_arguments(arguments)?;
        let name = name.trim().trim_start_matches('/');
        let list = self.skills.list().await.map_err(trouble)?;
        let named = |skill: &&ListedSkill| skill.name.eq_ignore_ascii_case(name) && skill.prompt.is_some();
        let usable = list.iter().filter(named).find(|skill| skill.status == SkillStatus::Ready);
        let found = usable.or_else(|| list.iter().find(named));
        let Some((skill, prompt)) = found.and_then(|skill| Some((skill, skill.prompt.as_ref()?))) else {
            return Err(no_such_skill(name, &list));
        };
        let text = text_of(prompt.content(), &skill.location, &prompt.files);
        match skill.status {
            SkillStatus::Ready if !prompt.trust().is_foreign() => Ok(Labelled::new(text, prompt.trust())),
            SkillStatus::Ready | SkillStatus::Awaiting | SkillStatus::Changed | SkillStatus::Unaccepted => {
                Ok(Labelled::outside(text))
            }
            SkillStatus::Disabled | SkillStatus::Shadowed | SkillStatus::Broken => Err(sentence!(
                "the skill `{}` is not used: {}",
                echoed(name),
                Labelled::new(skill.reason.as_deref().unwrap_or_default(), prompt.trust())
            )),
        }
    }
}

/// The instructions, and where the files are that they may speak of.
fn text_of(body: &str, location: &str, files: &[String]) -> String {
    match Path::new(location).parent() {
        Some(folder) if !files.is_empty() => format!("{body}\n\nFiles in {}: {}", folder.display(), files.join(", ")),
        _ => body.to_owned(),
    }
}
