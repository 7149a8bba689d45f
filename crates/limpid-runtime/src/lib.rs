//! Drives turns: gathers inputs, carries out effects, writes down what happened. Every surface calls its [`Agent`].
//!
//! # Layout
//! - [`agent`], [`chat`], [`event`]: the handle, a message to it, and what is seen of a turn.
//! - [`bus`]: what changes besides the turns, for everybody who watches.
//! - [`modes`], [`sizing`], `undo`, `settle`, `templates`: the mode and the window of a conversation, and when they change.
//! - [`slash`]: commands that begin with a slash, the same on every surface.
//! - [`preview`], [`ledger`], [`doctor`]: the next prompt, requests sent again, what is wrong.
//! - [`setup`], [`profile_files`]: the files of a home folder; `memories`: memories changed by hand,
//!   `keeper`: the one way in which they are written.
//! - [`mail`]: mail accounts: what comes from them and what is sent.
//! - [`goals`]: what the person wants done over many turns, and what changes it.
//! - `catalogue`: the table of models in the home folder, and its updates.
//! - `worker`, `begin`, `resume`, `drive`, `ask`: one conversation, how a turn begins or is carried on, its effects, the
//!   one place that calls a model.
//! - [`tasks`]: what is to be done later, made and changed by people and by tools.
//! - [`serve`], `scheduler`: the agent at work by itself, and what is done when its time has come.
//! - [`skills`]: instructions that are used when they are called for.
//! - [`inbox`]: what came in by mail, as text messages and as notifications.
//! - [`notify`]: telling the owner on other screens, while no client is open (`presence`).
//! - [`tools`]: what the model may have done, and the one place where it is.
//! - `semantics`: what queries mean, when the owner has switched a model of embeddings on.
//! - `window`: what a model sees of a long conversation, and how it is kept small enough.
//! - `context`: what a prompt is made from, source by source, and how it is made; it reads only.
//! - `redact`: what models say, without known secrets.
//! - `policy`, `hold`, `drafts`: who may call what, and calls that wait for the owner.
//! - [`spending`]: what models may still cost.
//! - `clean`: a conversation without what strangers wrote.
//! - `deliver`: the one place where something reaches people, and messages that nobody waits for.
//! - `background`: turns that nobody waits for; [`heartbeat`]: the agent's look at what came in, unasked.
//! - `journal`: the form in which a turn's events are kept.

pub mod agent;
mod ask;
mod asked;
mod background;
mod begin;
pub mod bus;
mod cache;
mod catalogue;
pub mod chat;
mod clean;
mod context;
mod deliver;
pub mod doctor;
mod drafts;
mod drive;
mod effort;
pub mod error;
pub mod event;
pub mod goals;
mod group;
pub mod heartbeat;
mod hold;
mod identity;
pub mod inbox;
mod incomplete;
mod journal;
mod keeper;
mod kept_profiles;
pub mod ledger;
pub mod mail;
mod memories;
pub mod models;
pub mod modes;
pub mod notify;
mod opening;
mod parts;
mod policy;
mod presence;
pub mod preview;
pub mod profile_files;
mod prompt_files;
mod prompts;
mod redact;
mod resume;
mod scheduler;
mod semantics;
pub mod serve;
mod settings;
mod settle;
pub mod setup;
pub mod sizing;
pub mod skills;
pub mod slash;
pub mod spending;
pub mod tasks;
mod templates;
pub mod tools;
mod undo;
mod window;
mod worker;

pub use agent::{Agent, AgentOptions};
pub use bus::{BusEvent, Change};
pub use catalogue::ModelUpdate;
pub use chat::{ChatRequest, ConversationChoice, TurnHandle};
pub use error::AgentError;
pub use event::{AgentEvent, Answer};
pub use heartbeat::{Beat, DayCost, HeartbeatChange, HeartbeatOpening, HeartbeatStatus};
pub use kept_profiles::own_profile_files;
pub use ledger::Answering;
pub use ledger::missed::ReadAgain;
pub use limpid_config::{Clock, Config, ConfigError, Environment, Home, Ids, RandomIds, SystemClock};
pub use limpid_core::memory::MemoryPolicy;
#[cfg(target_os = "linux")]
pub use limpid_tools::exec::sandbox;
pub use limpid_turn::Outcome;
pub use models::{Found, memory_available};
pub use modes::{FocusChange, ModeState, ModeSwitch};
pub use notify::{Notice, Notifier};
pub use presence::OpenClient;
pub use preview::{Payload, Preview, PreviewRequest, Since};
pub use semantics::{Indexed, SemanticState};
pub use serve::ServeEvent;
pub use settle::Settled;
pub use sizing::Tiers;
pub use skills::{Chosen, ListedSkill, SkillReview, SkillStatus};
pub use slash::{Completion, Slash, SlashReply};
pub use tools::{PathArgument, Tool, ToolBox, ToolContext, ToolText};
pub use window::{CompactionReport, ContextReport};
