//! `[scheduling]`: whether anything is done later or again by itself.

use serde::Deserialize;

/// Whether anything is done later or again by itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulingConfig {
    /// Whether tasks can be made and run. Heartbeats have a switch of their own besides.
    pub enabled: bool,
}

impl Default for SchedulingConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}
