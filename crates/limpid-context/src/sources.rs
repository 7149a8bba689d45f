//! A file for each thing that a prompt is made from.

pub(crate) mod active_context;
pub(crate) mod agent_file;
pub(crate) mod audience;
pub(crate) mod delegate;
pub(crate) mod goal;
pub(crate) mod heartbeat;
pub(crate) mod inbox;
pub(crate) mod memory;
pub(crate) mod own_words;
pub(crate) mod platform;
pub(crate) mod skills;
pub(crate) mod tasks;
pub(crate) mod workspace_files;
