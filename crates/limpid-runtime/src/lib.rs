//! The agent. [`Agent`] is the one handle that every surface calls.
//!
//! # Rooms
//! - [`limpid_services`]: what an agent knows and owns, a room for each: memory, goals, skills, tasks, mail, drafts
//!   and so on.
//! - [`limpid_context`]: builds the prompt of a request. It reads only.
//! - [`limpid_conversation`]: one actor for each conversation: turns, calls of models and tools, compaction, delivery.
//! - [`jobs`]: what runs when its time has come: the heartbeat, tasks, mail, maintenance.
//! - [`commands`]: commands that begin with a slash, the same on every surface.
//! - [`scenarios`]: the scenarios that an owner runs, as a chat of theirs would have them.
//! - [`said`]: whose words a message is that stands where the owner's do.
//! - [`earlier`]: saying something again in other words.
//! - [`soul`]: the soul as prompts show it.
//! - [`question`]: what the owner is shown of a call that waits for them.
//! - [`ui`]: screens in answers, and what pressing their buttons says.
//! - [`bridge`]: what programs are lent that think for themselves.
//! - [`prompt_files`]: the files that prompts are made from, looked at, tried and changed by their owner.
//! - [`agent`]: puts the rooms together.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

pub mod agent;
pub mod bridge;
pub mod commands;
pub mod compare;
pub mod doctor;
pub mod earlier;
pub mod jobs;
pub mod preview;
pub mod prompt_files;
pub mod question;
mod recorded;
pub mod requests;
pub mod said;
pub mod scenarios;
pub mod settings;
pub mod setup;
pub mod soul;
pub mod ui;

pub use crate::agent::{Agent, AgentOptions};
pub use crate::bridge::Bridge;
pub use crate::commands::{Completion, Input, SlashReply};
pub use crate::jobs::heartbeat::{DayCost, HeartbeatResult, HeartbeatStatus};
pub use crate::jobs::serve_event::ServeEvent;
pub use crate::preview::{Payload, Preview, PreviewRequest, Previewer, Since};
pub use crate::prompt_files::{PromptFiles, SaveEnd, Trial};
pub use crate::recorded::recorded;
pub use crate::requests::missed::ReadAgain;
pub use crate::requests::{Answering, Requests};
pub use limpid_config::{Clock, Config, ConfigError, Environment, Home, Ids, LogForm, RandomIds, SystemClock};
pub use limpid_conversation::{
    ApprovalAnswer, ChangeOutcome, ChatRequest, Chosen, CompactionReport, ContextReport, Conversations, FormQuestion,
    QuestionId, QuestionPart, Tiers, TurnEvent, TurnHandle,
};
pub use limpid_core::form;
pub use limpid_core::memory::MemoryPolicy;
pub use limpid_formats::{Parsing, Shares, worker};
pub use limpid_mcp::trouble::SERVER_SAYS;
pub use limpid_services::access_token::AccessToken;
pub use limpid_services::agents::{AgentReport, Planned, Told};
pub use limpid_services::command_word::as_word;
pub use limpid_services::directory::ConversationChoice;
pub use limpid_services::error::AgentError;
pub use limpid_services::events::{Event, EventKind};
pub use limpid_services::heartbeat::{HeartbeatChange, HeartbeatOpening};
pub use limpid_services::line_diff::line_diff;
pub use limpid_services::marked::{MARK, marked_line};
pub use limpid_services::memory::{Indexed, SemanticState};
pub use limpid_services::models::{CONNECT_A_MODEL, DetectedModel, ModelUpdate, memory_available};
pub use limpid_services::modes::{FocusChange, ModeState, ModeSwitch};
pub use limpid_services::notifications::{Notice, Notifier, OpenClient};
pub use limpid_services::profiles::own_profile_files;
pub use limpid_services::skills::{ListedSkill, SkillReview, SkillStatus};
pub use limpid_services::tools::{
    Concerned, FileOffer, PathArgument, Started, Tool, ToolCatalog, ToolContext, UnacceptedFile,
};
pub use limpid_services::{
    deliveries, drafts, error, events, goals, heartbeat, inbox, mail, mcp, models, modes, notifications, profiles,
    settings_file, skills, spending, tasks, tools,
};
pub use limpid_telemetry::{Traces, Trouble};
#[cfg(target_os = "linux")]
pub use limpid_tools::exec::sandbox;
pub use limpid_turn::result::{error_of, was_refused};
pub use limpid_turn::{Finish, Outcome};
