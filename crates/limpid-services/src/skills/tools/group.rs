//! What all tools about skills say alike.

/// The group that texts list these tools under.
pub(crate) const GROUP: &str = "skills";
