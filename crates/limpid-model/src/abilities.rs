//! What a model takes and refuses, as far as it is known.

use limpid_core::Effort;

use crate::remedy::Field;

/// What a model takes and refuses; absent is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Tokens that a reply may have at most, reasoning included.
    pub max_output: Option<u32>,
    /// Whether temperature, top_p and the like are taken.
    pub sampling: Option<bool>,
    /// When a tool can be forced.
    pub forced_tools: Option<ForcedTools>,
    /// The levels of reasoning that it has.
    pub effort: Option<Vec<Effort>>,
    /// Tokens below which the provider caches nothing.
    pub cache_minimum: Option<u32>,
    /// The day (`2027-05-01`) on which it is switched off.
    pub retires: Option<String>,
    /// Fields of a request that it refuses.
    pub refuses: Option<Vec<Field>>,
}

/// When a model can be made to call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedTools {
    /// In every request.
    Always,
    /// Only while it does not reason.
    WithoutReasoning,
    /// Never: the request is refused.
    Never,
}

impl ForcedTools {
    /// The name, as `models.toml` writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::WithoutReasoning => "without-reasoning",
            Self::Never => "never",
        }
    }

    /// Reads a name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Always, Self::WithoutReasoning, Self::Never].into_iter().find(|when| when.as_str() == word)
    }
}
