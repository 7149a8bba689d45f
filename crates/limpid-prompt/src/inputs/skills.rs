//! The installed skills and those active in a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TrustName;

/// The index of installed skills, and the bodies of the active ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SkillsInput {
    /// Every installed and enabled skill.
    pub index: Vec<SkillEntry>,
    /// The skills that this turn activates.
    pub active: Vec<ActiveSkill>,
    /// Skills that were considered and are not used, with the reason.
    pub unused: Vec<UnusedSkill>,
}

/// A skill that is not used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UnusedSkill {
    /// Its id, or the place of a file that is no skill.
    pub name: String,
    /// Why it is not used.
    pub reason: String,
}

/// Where a skill comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SkillSource {
    /// The agent's workspace.
    #[default]
    Workspace,
    /// The owner's global folder.
    Global,
    /// The program itself.
    Builtin,
}

/// One line of the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "SkillEntry::of_file", deny_unknown_fields)]
pub struct SkillEntry {
    /// The skill's id.
    pub name: String,
    /// Its name for people. Absent: `name`.
    pub title: Option<String>,
    /// What it is for, in one line.
    pub description: String,
    /// Where its SKILL.md is.
    pub location: String,
    /// Where it comes from.
    pub source: SkillSource,
    /// Who wrote it.
    #[serde(skip_serializing_if = "TrustName::is_file")]
    pub trust: TrustName,
}

impl SkillEntry {
    /// A line with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self {
            name: String::new(),
            title: None,
            description: String::new(),
            location: String::new(),
            source: SkillSource::default(),
            trust,
        }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}

/// One skill that this turn activates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "ActiveSkill::of_file", deny_unknown_fields)]
pub struct ActiveSkill {
    /// The skill's id.
    pub name: String,
    /// Its name for people. Absent: `name`.
    pub title: Option<String>,
    /// Its instructions.
    pub body: String,
    /// Files that come with it, by path inside its folder.
    pub files: Vec<String>,
    /// Who wrote it; a skill from elsewhere is outside text until it was reviewed.
    pub trust: TrustName,
    /// Whether it is active in every turn until that is changed: chosen for the conversation, or always loaded.
    pub standing: bool,
    /// Its version, as its author counts.
    pub version: Option<String>,
}

impl ActiveSkill {
    /// A skill with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self {
            name: String::new(),
            title: None,
            body: String::new(),
            files: Vec::new(),
            trust,
            standing: false,
            version: None,
        }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}
