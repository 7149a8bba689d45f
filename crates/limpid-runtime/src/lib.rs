//! Drives turns: gathers inputs, carries out effects, writes down what happened. Every surface calls its [`Agent`].
//!
//! # Layout
//! - [`agent`], [`chat`], [`event`]: the handle, a message to it, and what is seen of a turn.
//! - [`bus`]: what changes besides the turns, for everybody who watches.
//! - [`slash`]: commands that begin with a slash, the same on every surface.
//! - [`preview`], [`ledger`], [`doctor`]: the next prompt, requests sent again, what is wrong.
//! - [`setup`], [`profile_files`]: the files of a home folder; `memories`: memories changed by hand,
//!   `keeper`: the one way in which they are written.
//! - [`config`], [`home`], [`world`]: what comes in as values: settings, folder, clock, randomness, environment.
//! - `worker`, `begin`, `resume`, `drive`, `ask`: one conversation, how a turn begins or is carried on, its effects, the
//!   one place that calls a model.
//! - [`tools`]: what the model may have done, and the one place where it is.
//! - `reach`: which tools travel with a prompt, and which wait to be found.
//! - `gather`, `session`, `workspace`, `redact`, `counting`, `convert`: what a prompt is made from.
//! - `window`: what a model sees of a long conversation, and how it is kept small enough.
//! - `journal`: the form in which a turn's events are kept.

pub mod agent;
mod ask;
mod begin;
pub mod bus;
pub mod chat;
pub mod config;
mod convert;
mod counting;
pub mod doctor;
mod drive;
pub mod error;
pub mod event;
mod gather;
pub mod home;
mod journal;
mod keeper;
pub mod ledger;
mod memories;
pub mod models;
mod notices;
mod platform;
pub mod preview;
mod process;
pub mod profile_files;
mod prompts;
mod reach;
mod redact;
mod resume;
mod session;
pub mod setup;
pub mod slash;
pub mod tools;
mod window;
mod worker;
mod workspace;
pub mod world;

pub use agent::{Agent, AgentOptions};
pub use bus::{BusEvent, Change};
pub use chat::{ChatRequest, ConversationChoice, TurnHandle};
pub use config::{Config, ConfigError, MemoryPolicy};
pub use error::AgentError;
pub use event::AgentEvent;
pub use home::Home;
pub use ledger::Answering;
pub use limpid_turn::Outcome;
pub use models::{Found, memory_available};
pub use preview::PreviewRequest;
pub use slash::{Completion, Slash, SlashReply};
pub use tools::{PathArgument, Tool, ToolBox, ToolContext, ToolText};
pub use window::{CompactionReport, ContextReport};
pub use world::{Clock, Environment, Ids, RandomIds, SystemClock};
