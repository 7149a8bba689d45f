//! `[chat]`: the chat at the terminal.

use serde::Deserialize;

/// The chat at the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatConfig {
    /// Whether lines by which the model changes the goal are left out; the history keeps them.
    pub hide_markers: bool,
    /// Whether providers are not asked for the model's reasoning as text, which they otherwise show before an answer.
    pub hide_reasoning: bool,
}
