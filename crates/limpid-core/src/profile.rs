//! Styles of agent, by name.

/// The profile that an agent has unless its owner chooses another. It lends every other profile what that one lacks.
pub const DEFAULT_PROFILE: &str = "limpid";
