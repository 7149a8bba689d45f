//! `[tools]`: how the model gets at its tools.

use schemars::JsonSchema;
use serde::Deserialize;

/// How the model gets at its tools.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsConfig {
    /// Whether rare tools wait behind `find_tools` in the profiles that build on `limpid`. Off: every tool
    /// travels with every request, as far as the model's window goes.
    pub defer: bool,
}

impl Default for ToolsConfig {
    fn default() -> Self {
        Self { defer: true }
    }
}
