//! What was done to skills, and which of them a conversation uses.

use async_trait::async_trait;
use limpid_core::ConversationId;

use crate::{Listed, StoreError};

/// The history of skills. Their texts are files; a version is known by the hash of its folder.
#[async_trait]
pub trait Skills: Send + Sync {
    /// Writes down what was done to a skill.
    async fn record_skill(&self, new: NewSkillEvent) -> Result<SkillEvent, StoreError>;

    /// What was done, oldest first: to one skill (by its key) or to all.
    async fn skill_events(&self, skill: Option<&str>) -> Result<Listed<SkillEvent>, StoreError>;

    /// What says how each folder stands, oldest first: the last thing that was done to its skill, and the last that says that it was
    /// taken from elsewhere.
    async fn skill_states(&self) -> Result<Listed<SkillEvent>, StoreError>;

    /// The skills that were chosen for a conversation, in order.
    async fn chosen_skills(&self, conversation: &ConversationId) -> Result<Vec<String>, StoreError>;

    /// Chooses the skills of a conversation, and returns those that were chosen before.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such conversation.
    async fn choose_skills(
        &self,
        conversation: &ConversationId,
        skills: Vec<String>,
    ) -> Result<Vec<String>, StoreError>;

    /// Notes which skills are active in a conversation, and returns those that were noted before.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such conversation.
    async fn note_active_skills(
        &self,
        conversation: &ConversationId,
        skills: Vec<String>,
    ) -> Result<Vec<String>, StoreError>;
}

/// One event of one skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SkillEventId(pub i64);

/// What a skill was before or after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillVersion {
    /// The hash of its folder, in hexadecimal digits.
    pub hash: String,
    /// Where it stands: `workspace`, `global` or `builtin`.
    pub place: String,
    /// The name of its folder there, which may be another one than its own; none in what older versions wrote down.
    pub folder: Option<String>,
    /// Whether it was taken from elsewhere: its hash is pinned, and other bytes are not used.
    pub installed: bool,
    /// Whether it may be used.
    pub enabled: bool,
}

/// Something that is done to a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSkillEvent {
    /// The skill's key.
    pub skill: String,
    /// What is done.
    pub kind: SkillEventKind,
    /// The skill before, if there was one.
    pub before: Option<SkillVersion>,
    /// The skill after, if there is one.
    pub after: Option<SkillVersion>,
    /// Who does it: `command line`, `turn:<id>`.
    pub source: String,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Something that was done to a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillEvent {
    /// Its number.
    pub id: SkillEventId,
    /// The skill's key.
    pub skill: String,
    /// What was done.
    pub kind: SkillEventKind,
    /// The skill before, if there was one.
    pub before: Option<SkillVersion>,
    /// The skill after, if there is one.
    pub after: Option<SkillVersion>,
    /// Who did it.
    pub source: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// What was done to a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkillEventKind {
    /// It was written.
    Created,
    /// Its text was changed.
    Updated,
    /// It was taken from elsewhere.
    Installed,
    /// It was allowed.
    Enabled,
    /// It was put aside.
    Disabled,
    /// It was taken out.
    Removed,
    /// An earlier event was undone.
    Undone,
}

impl SkillEventKind {
    const ALL: [Self; 7] =
        [Self::Created, Self::Updated, Self::Installed, Self::Enabled, Self::Disabled, Self::Removed, Self::Undone];

    /// The kind's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Installed => "installed",
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Removed => "removed",
            Self::Undone => "undone",
        }
    }

    /// Reads a kind's name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}
