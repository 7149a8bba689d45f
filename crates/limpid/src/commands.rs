//! What each command does: it asks the agent or the prompt engine, and prints.

pub mod context;
pub mod profile;
pub mod prompt;
