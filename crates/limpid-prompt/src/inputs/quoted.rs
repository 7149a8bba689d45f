//! A text and who wrote it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TrustName;

/// A text that is quoted, with who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "Quoted::of_file", deny_unknown_fields)]
pub struct Quoted {
    /// What it says.
    pub text: String,
    /// Who wrote it.
    pub trust: TrustName,
}

impl Quoted {
    /// A text that somebody wrote.
    pub fn new(text: impl Into<String>, trust: TrustName) -> Self {
        Self { text: text.into(), trust }
    }

    fn of_file() -> Self {
        Self::new("", TrustName::File)
    }
}
