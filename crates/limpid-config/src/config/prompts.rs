//! `[[prompts]]` of `limpid.toml`: prompts that can be chosen as skills.

use limpid_core::Skill;
use limpid_core::skill::BadName;
use schemars::JsonSchema;
use serde::Deserialize;

/// One prompt of the owner's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PromptEntry {
    /// What it is chosen by.
    pub id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// What it is for.
    pub description: String,
    /// Its text.
    pub content: String,
    /// Tools without which it is left out.
    pub required_tools: Vec<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Words of a message that call for it.
    pub triggers: Vec<String>,
    /// Whether it is active in every turn.
    pub always: bool,
    /// Its version.
    pub version: Option<String>,
}

impl PromptEntry {
    /// The entry as a skill.
    ///
    /// # Errors
    /// When its id cannot be the name of a skill.
    pub fn to_skill(&self) -> Result<Skill, BadName> {
        Ok(Skill {
            title: self.name.clone(),
            required_tools: self.required_tools.clone(),
            tags: self.tags.clone(),
            triggers: self.triggers.clone(),
            always: self.always,
            version: self.version.clone(),
            ..Skill::new(self.id.parse()?, self.description.clone(), self.content.trim().to_owned())
        })
    }
}
