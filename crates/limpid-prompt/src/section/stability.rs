//! How often a section's text changes.

use serde::Serialize;

/// How often a section's text changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stability {
    /// Only with a file.
    #[default]
    Fixed,
    /// At a border: a new conversation, a compaction, a changed file, mode or profile.
    Session,
    /// Every turn.
    Turn,
}

impl Stability {
    /// The word for it, as section files write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Session => "session",
            Self::Turn => "turn",
        }
    }
}
