//! What changed between two borders of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GoalInput, MemoryEntry};

/// What changed after the conversation's `session` text was stored. It stands at the tail of the newest user message,
/// and moves up when that text is rendered again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChangedInput {
    /// Whether the goal is neither as the stored text shows it nor as an earlier message has told.
    pub goal: bool,
    /// Memories that were pinned since.
    pub pinned: Vec<MemoryEntry>,
    /// What the stored text shows, where that may be another thing than the rest of the inputs says. Absent: the same.
    pub stored: Option<StoredInput>,
}

/// What the conversation's stored text shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StoredInput {
    /// The goal.
    pub goal: Option<GoalInput>,
}
