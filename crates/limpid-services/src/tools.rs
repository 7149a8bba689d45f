//! The tools that the model may call, the policy of their calls, and the one place where one runs.
//!
//! A tool is a small file: its name, its arguments as a Rust type, and what it does. What the model is told about it
//! stands in the profile's `tools/*.md`. A service brings its own tools; those here need little but the settings.

mod builtin;
mod catalog;
mod executor;
mod file_history;
mod policy;
mod reservations;
mod trouble;

/// What is said of an effect that a dead process had begun.
pub const OUTCOME_UNKNOWN: &str = "outcome unknown: the program stopped while this ran; look before doing it again";

pub use limpid_tools::web::address_of;
pub use limpid_tools::{
    Concerned, Named, PathArgument, SendState, ShownItems, Started, Tool, ToolContext, Written, echoed, read_arguments,
    schema_of,
};

pub(crate) use crate::tools::builtin::OUTSIDE;
pub use crate::tools::builtin::{
    Unavailable, counts_as_owners, engine, exec_tools, file_tools, folder_troubles, hardware_tools, history_tools,
    left_out, running, web_tools,
};
pub use crate::tools::catalog::ToolCatalog;
pub use crate::tools::executor::{Decision, Permit, ToolExecutor, ToolExecutorParts, ToolFinder, TurnToolExecutor};
pub use crate::tools::file_history::{
    FileHistory, FileOffer, Place, PromptFileChange, SavedFile, UnacceptedFile, UnacceptedFiles,
};
pub(crate) use crate::tools::file_history::{FilesLock, on_disk};
pub use crate::tools::policy::{
    AgentScope, CallContext, CallDescription, PolicyRules, ToolPolicy, WindowFacts, holds_private, is_of_public,
    is_of_server, is_refused, owners_words, shows_owners, trust_read_in, window_trust,
};
pub(crate) use crate::tools::policy::{SERVERS_GROUP, changes, is_same_call, links_on, real, told_in};

pub use crate::tools::reservations::{LaterResult, Reservation, Reservations};
pub use crate::tools::trouble::{Trouble, trouble};
