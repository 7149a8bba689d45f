//! `[modes]`.

use schemars::JsonSchema;
use serde::Deserialize;

/// What is done when a message sounds like the work of another mode.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModesConfig {
    /// Whether the mode is suggested.
    pub suggestions: bool,
    /// Whether it is switched to without asking.
    pub auto: bool,
}

impl Default for ModesConfig {
    fn default() -> Self {
        Self { suggestions: true, auto: false }
    }
}
