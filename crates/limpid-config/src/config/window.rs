//! `[window]`: conversations that are longer than the model's window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conversations that are longer than the model's window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WindowConfig {
    /// Whether older messages become digests when the window fills up. Off, a full window is an error.
    pub compaction: Compaction,
}

/// Whether conversations are compacted by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compaction {
    /// When the window fills up.
    #[default]
    Auto,
    /// Only when the person asks for it.
    Off,
}

impl WindowConfig {
    /// Whether compaction starts by itself.
    pub fn is_on(&self) -> bool {
        self.compaction == Compaction::Auto
    }
}
