//! What all tools about skills say alike.

/// The group that texts list these tools under.
pub(super) const GROUP: &str = "skills";
