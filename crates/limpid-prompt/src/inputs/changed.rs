//! What changed between two borders of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MemoryEntry;

/// What changed after the conversation's `session` text was stored. It stands at the tail of the newest user message,
/// and moves up when that text is rendered again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChangedInput {
    /// Whether the goal is not as the stored text shows it.
    pub goal: bool,
    /// Memories that were pinned since.
    pub pinned: Vec<MemoryEntry>,
}
