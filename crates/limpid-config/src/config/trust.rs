//! `[trust]`: whose text it is that comes in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose text it is that comes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrustConfig {
    /// Treat pastes of more than three lines in the terminal as yours or as outside text.
    pub paste: PasteTrust,
}

/// Whose text a long paste is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PasteTrust {
    /// Anybody's, unless Alt-M says that it is the owner's.
    #[default]
    Outside,
    /// The owner's.
    Mine,
}
