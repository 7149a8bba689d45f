//! Plain types and pure rules of a personal agent.
//!
//! Nothing here touches the world: no clock, no file, no network, no global state. Everything that the rest of
//! Limpid agrees on stands here once; wire formats (rows, bodies, provider messages) are converted at the edge.
//!
//! # Layout
//! - [`id`]: the names of things, each a type of its own.
//! - [`trust`]: who wrote a text.
//! - [`message`]: roles, messages, tool calls and their pairing.
//! - [`state`]: what a provider wants back with a message, and where in the message it belongs.
//! - [`tool`]: what a tool is to a model, and which of them a local model is offered.
//! - [`window`]: sizes of a model's window and the prompt tier that follows.
//! - [`compaction`]: when a conversation is compacted, and what each part of it may keep.
//! - [`digest`]: what a model sees of a conversation that no longer fits its window.
//! - [`usage`]: tokens and money of a call.
//! - [`causes()`], [`io_cause()`]: an error in one line, in plain words.
//! - [`failure`]: classes of provider errors, and when to try again.
//! - [`form`]: what a stranger wants the owner to say in the middle of a call.
//! - [`goal`]: what the person wants done over many turns, its log, and the markers that advance it.
//! - [`heartbeat`]: when the agent looks at what came in unasked, and what its answer means.
//! - [`memory`]: one thing that the agent was asked to keep.
//! - [`mail`]: which mail is fetched next.
//! - [`draft`]: calls that wait for the owner.
//! - [`agent`]: agents that a turn hands work to.
//! - [`attached`]: files that are handed in with a message.
//! - [`by_side`]: lists in which the owner's rows and strangers' share one limit.
//! - [`inbox`]: mail, text messages and notifications that came in.
//! - [`labelled`]: texts that carry who wrote them.
//! - [`line`]: where a line ends.
//! - [`notice`]: what a notification says of a text.
//! - [`policy`]: whether a call may run.
//! - [`price`]: what a model costs.
//! - [`DEFAULT_PROFILE`]: the style of agent that one has unless its owner chooses another.
//! - [`Protocol`]: what a provider speaks.
//! - [`quiet`]: the word for "nothing to report", and how it is kept from people.
//! - [`reach`]: which tools travel with a prompt, and how the others are found.
//! - [`mode`]: when a message sounds like the work of another mode, and when a switch may be made.
//! - [`recall`]: words of a text, and which memory answers a query best.
//! - [`said`]: whether somebody has said a thing or the agent made it up.
//! - [`skill`]: instructions that are used when they are called for, and what calls for them.
//! - [`snippet`]: whether a text holds the words of a search, and where.
//! - [`spend`]: what may still be paid for, and by whom.
//! - [`task`]: what is to be done later, when it is due, and what becomes of it.
//! - [`ui`]: screens that a model writes as trees.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

pub mod agent;
pub mod attached;
pub mod by_side;
pub mod cache;
mod causes;
pub mod compaction;
pub mod digest;
pub mod draft;
pub mod effort;
pub mod failure;
pub mod form;
pub mod goal;
pub mod heartbeat;
pub mod id;
pub mod inbox;
pub mod labelled;
pub mod line;
pub mod mail;
pub mod memory;
pub mod message;
pub mod mode;
pub mod notice;
pub mod pasted;
pub mod policy;
pub mod price;
mod profile;
mod protocol;
pub mod quiet;
pub mod reach;
pub mod recall;
pub mod said;
mod seen_hash;
pub mod skill;
pub mod snippet;
pub mod spend;
pub mod stars;
pub mod state;
pub mod task;
pub mod tool;
pub mod trust;
pub mod ui;
pub mod usage;
pub mod window;
pub mod zone;

pub use agent::{AgentLimits, AgentRefusal, AgentState, Purse};
pub use cache::CacheLife;
pub use causes::{causes, io_cause};
pub use digest::{Digest, DigestLevel, Entry, Pin, Shortened, WindowView};
pub use draft::DraftState;
pub use effort::Effort;
pub use failure::{FailureClass, RetryPlan, background_wait, failure_words};
pub use id::{
    AgentId, CallId, CheckpointId, ConversationId, DecisionId, GoalId, MemoryId, MessageId, PlannedId, RequestId,
    TaskId, TurnId,
};
pub use labelled::{Hole, Labelled, Sentence};
pub use memory::{Category, Memory};
pub use message::{Message, Role, ToolCall};
pub use price::{Price, PriceTier, Rates};
pub use profile::DEFAULT_PROFILE;
pub use protocol::Protocol;
pub use seen_hash::{SEEN_DIGITS, is_seen_hash};
pub use skill::{Skill, SkillName};
pub use state::ProviderState;
pub use tool::{ToolClass, ToolProtocol, ToolSpec};
pub use trust::Trust;
pub use usage::{Money, Usage};
pub use window::{Tier, UsableWindow, WindowSize};
