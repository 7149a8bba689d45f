//! What a new conversation begins with.

use limpid_core::Effort;

/// What a new conversation begins with; absent: what the owner has set.
#[derive(Clone, Debug, Default)]
pub struct NewChat {
    /// The profile.
    pub profile: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// The model: `provider/id`.
    pub model: Option<String>,
    /// How much models are to reason.
    pub effort: Option<Effort>,
}
