//! `[mail]`: how mail accounts are read. The accounts themselves are files of the home's folder `mail`.

use schemars::JsonSchema;
use serde::Deserialize;

/// How mail accounts are read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MailConfig {
    /// Whether there is mail at all.
    pub enabled: bool,
    /// Minutes between two looks into an account; 0: it is never looked into by itself.
    pub poll_minutes: u32,
}

impl Default for MailConfig {
    fn default() -> Self {
        Self { enabled: true, poll_minutes: 15 }
    }
}
