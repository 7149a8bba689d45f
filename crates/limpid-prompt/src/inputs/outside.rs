//! Text that strangers wrote, as a type of its own.

use limpid_core::Trust;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who wrote a text; see [`Trust`]. There is no default: whoever has a text must say whose it is.
///
/// ```compile_fail
/// limpid_prompt::inputs::TrustName::default();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustName {
    /// The owner.
    Owner,
    /// A prompt file of the owner's.
    File,
    /// Another person on a channel.
    Guest,
    /// Anybody.
    Outside,
}

impl TrustName {
    /// Whether it is a file: what is not said otherwise.
    pub(crate) fn is_file(&self) -> bool {
        *self == Self::File
    }

    /// The less trusted of two labels.
    pub(crate) fn join(self, other: Self) -> Self {
        Trust::from(self).join(other.into()).into()
    }

    /// Whether its texts may only stand inside a boundary.
    pub(crate) fn is_foreign(self) -> bool {
        Trust::from(self).is_foreign()
    }
}

impl From<TrustName> for Trust {
    fn from(name: TrustName) -> Self {
        match name {
            TrustName::Owner => Self::Owner,
            TrustName::File => Self::File,
            TrustName::Guest => Self::Guest,
            TrustName::Outside => Self::Outside,
        }
    }
}

impl From<Trust> for TrustName {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::Owner => Self::Owner,
            Trust::File => Self::File,
            Trust::Guest => Self::Guest,
            Trust::Outside => Self::Outside,
        }
    }
}

/// Text that a stranger wrote. It cannot be displayed or borrowed as text: the only way into a prompt is through a
/// boundary, which the engine draws.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct OutsideText(String);

impl OutsideText {
    /// Takes a stranger's text as it came.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether nothing but white space is there.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// A hash of the text, by which a change of it is noticed.
    pub fn hash(&self) -> String {
        crate::hash::hash_of([self.0.as_bytes()])
    }

    /// The text, for the engine's own use inside a boundary.
    pub(crate) fn raw(&self) -> &str {
        &self.0
    }
}
