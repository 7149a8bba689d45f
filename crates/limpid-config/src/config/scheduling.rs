//! `[scheduling]`: whether anything is done later or again by itself, and in which mode.

use schemars::JsonSchema;
use serde::Deserialize;

/// What is done later or again by itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulingConfig {
    /// Whether tasks can be made and run. Heartbeats have a switch of their own besides.
    pub enabled: bool,
    /// The mode of tasks that run by themselves. Default: assistant.
    pub mode: Option<String>,
}

impl Default for SchedulingConfig {
    fn default() -> Self {
        Self { enabled: true, mode: None }
    }
}
