//! Skills as they are listed.

use limpid_core::{Labelled, Sentence, Trust, sentence};
use limpid_prompt::inputs::SkillSource;
use limpid_prompt::registry::{PromptSource, RegisteredPrompt};
use limpid_tools::echoed;

/// Whether a skill can be used, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillStatus {
    /// It is used.
    Ready,
    /// It was taken from elsewhere and nobody has allowed it.
    Awaiting,
    /// It was allowed, and has other bytes since.
    Changed,
    /// A program changed it, and the owner has not accepted that.
    Unaccepted,
    /// The owner put it aside.
    Disabled,
    /// Another one has its name.
    Shadowed,
    /// It is no skill.
    Broken,
}

impl SkillStatus {
    /// The status's name, as listings show it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Awaiting => "awaiting-review",
            Self::Changed => "changed",
            Self::Unaccepted => "unaccepted",
            Self::Disabled => "disabled",
            Self::Shadowed => "shadowed",
            Self::Broken => "broken",
        }
    }
}

/// One skill that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSkill {
    /// Its name, or that of its folder or file when it is no skill.
    pub name: String,
    /// Which part of the index it belongs to.
    pub shelf: SkillSource,
    /// Where it stands.
    pub location: String,
    /// Whether it is used.
    pub status: SkillStatus,
    /// Why it is not used.
    pub reason: Option<String>,
    /// What it says; absent when it is no skill.
    pub prompt: Option<RegisteredPrompt>,
}

impl ListedSkill {
    pub(super) fn new(prompt: RegisteredPrompt, status: SkillStatus, reason: Option<String>) -> Self {
        Self {
            name: prompt.skill.name.to_string(),
            shelf: prompt.shelf,
            location: prompt.location.clone(),
            status,
            reason,
            prompt: Some(prompt),
        }
    }

    /// Where it comes from, in a word: `workspace`, `global`, `builtin` or `mcp`.
    pub fn source_name(&self) -> &'static str {
        let is_remote = |prompt: &RegisteredPrompt| matches!(prompt.source, PromptSource::Mcp { .. });
        if self.prompt.as_ref().is_some_and(is_remote) { "mcp" } else { place_name(self.shelf) }
    }
}

pub(super) const fn place_name(shelf: SkillSource) -> &'static str {
    match shelf {
        SkillSource::Workspace => "workspace",
        SkillSource::Global => "global",
        SkillSource::Builtin => "builtin",
    }
}

/// Says that there is no skill of a name, and which there are.
pub(crate) fn no_such_skill(name: &str, list: &[ListedSkill]) -> Sentence {
    let there: Vec<&ListedSkill> = list.iter().filter(|skill| skill.status == SkillStatus::Ready).collect();
    // A skill of a server has a name that the server gave it.
    let trust = there.iter().filter_map(|skill| skill.prompt.as_ref()).map(RegisteredPrompt::trust);
    let names: Vec<&str> = there.iter().map(|skill| skill.name.as_str()).collect();
    let there = Labelled::new(names.join(", "), trust.fold(Trust::Owner, Trust::join));
    sentence!("there is no skill `{}`; there are: {}", echoed(name), there)
}
