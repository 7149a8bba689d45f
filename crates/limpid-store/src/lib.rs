//! What an agent keeps: conversations, the request log, the journal of turns, memories.
//!
//! [`Store`] is the one interface; [`SqliteStore`] keeps everything in one file. Whoever wants to write another
//! store runs it through the suite behind the feature `contract`.
//!
//! # Layout
//! - [`conversation`], [`turn`], [`request_log`], [`memory`], [`skill`], [`window`]: the parts of the interface with
//!   their rows.
//! - [`vector`]: what memories and messages mean to a model of embeddings.
//! - [`delivery`]: messages that nobody waits for.
//! - [`setting`]: what was set in a conversation or for all, as a log.
//! - [`promotion`]: memories that were taken into the soul, or are to be.
//! - [`inbox`]: mail, text messages and notifications that came in, and mail accounts.
//! - [`goal`]: what happened to the goals of a conversation, as a log.
//! - [`file_key`](mod@file_key): the paths of files as texts, whatever their names.
//! - [`instructing`]: what programs may have changed of the files that instruct the agent, and what the owner accepted.
//! - [`task`]: what is to be done later, and what its runs came to.
//! - [`agent`]: agents that turns hand work to; [`agent_plan`]: what is planned for them.
//! - [`timer`]: when things are due, and who works on what is.
//! - [`heartbeat`]: what the heartbeat knows of itself, and its runs.
//! - [`prefix`]: how much of a request the one before it began with, and what changed.
//! - [`error`]: what can go wrong.
//! - [`sqlite`]: the store in one SQLite file.
//! - `contract`: what every store must do, as tests.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

pub mod agent;
pub mod agent_plan;
#[cfg(feature = "contract")]
pub mod contract;
pub mod conversation;
pub mod cost;
pub mod delivery;
pub mod draft;
pub mod error;
pub mod file_key;
pub mod file_version;
pub mod goal;
pub mod heartbeat;
pub mod inbound;
pub mod inbox;
pub mod instructing;
pub mod lease;
pub mod memory;
pub mod memory_event;
pub mod prefix;
pub mod promotion;
pub mod request_log;
pub mod setting;
pub mod skill;
pub mod sqlite;
pub mod task;
pub mod timer;
pub mod turn;
pub mod vector;
pub mod window;

pub use agent::*;
pub use agent_plan::*;
pub use conversation::*;
pub use cost::*;
pub use delivery::*;
pub use draft::*;
pub use error::{StoreError, WAITING_COUNTS_AS_YOURS};
pub use file_key::*;
pub use file_version::*;
pub use goal::*;
pub use heartbeat::*;
pub use inbound::*;
pub use inbox::*;
pub use instructing::*;
pub use lease::*;
pub use memory::*;
pub use memory_event::*;
pub use prefix::SharedPrefix;
pub use promotion::*;
pub use request_log::*;
pub use setting::*;
pub use skill::*;
pub use sqlite::{SqliteOptions, SqliteStore};
pub use task::*;
pub use timer::*;
pub use turn::*;
pub use vector::*;
pub use window::*;

/// Everything that an agent keeps, for one owner.
///
/// ```
/// use std::sync::Arc;
/// async fn titles(store: Arc<dyn limpid_store::Store>) -> Vec<String> {
///     let listed = store.conversations(10).await;
///     listed.map(|listed| listed.rows.into_iter().map(|row| row.title).collect()).unwrap_or_default()
/// }
/// ```
pub trait Store:
    Conversations
    + Turns
    + RequestLog
    + Memories
    + Promotions
    + Settings
    + Skills
    + Windows
    + GoalLogs
    + Drafts
    + Heartbeats
    + Deliveries
    + Inbox
    + MailAccounts
    + Timers
    + Tasks
    + Agents
    + AgentPlans
    + FileVersions
    + InstructingFiles
    + Vectors
{
}

impl<T> Store for T where
    T: Conversations
        + Turns
        + RequestLog
        + Memories
        + Promotions
        + Settings
        + Skills
        + Windows
        + GoalLogs
        + Drafts
        + Heartbeats
        + Deliveries
        + Inbox
        + MailAccounts
        + Timers
        + Tasks
        + Agents
        + AgentPlans
        + FileVersions
        + InstructingFiles
        + Vectors
{
}
