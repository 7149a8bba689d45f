//! What an agent knows and owns, a room for each. A service owns its state and gets in its constructor what it needs; none
//! gets the agent.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

pub mod access_token;
pub mod agents;
pub mod command_word;
pub mod deliveries;
pub mod directory;
pub mod drafts;
pub mod error;
pub mod events;
pub mod goals;
pub mod heartbeat;
pub mod host;
pub mod inbox;
pub mod line_diff;
pub mod mail;
pub mod marked;
pub mod mcp;
pub mod memory;
pub mod models;
pub mod modes;
pub mod notifications;
pub mod profiles;
pub mod settings_file;
pub mod skills;
pub mod spending;
pub mod tasks;
pub mod timers;
pub mod tools;
pub mod ui;
