//! The heartbeat: the agent looks at what has come in, unasked, and speaks only when something needs its owner.

/// The path of a profile that renders a heartbeat.
pub(crate) const PATH: &str = "heartbeat";
