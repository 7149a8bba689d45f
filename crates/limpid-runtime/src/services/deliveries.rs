//! Messages that nobody waits for.

pub(crate) mod message_tool;
