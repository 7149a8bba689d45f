//! The tools that the model may call, the policy of their calls, and the one place where one runs.
//!
//! A tool is a small file: its name, its arguments as a Rust type, and what it does. What the model is told about it
//! stands in the profile's `tools/*.md`. A service brings its own tools; those here need little but the settings.

pub(crate) mod builtin;
mod catalog;
mod executor;
mod file_history;
pub(crate) mod policy;

pub use limpid_tools::{Passage, PathArgument, ShownItems, Tool, ToolContext, ToolText, read_arguments, schema_of};

pub use crate::services::tools::catalog::ToolCatalog;
pub(crate) use crate::services::tools::executor::{
    Decision, ToolExecutor, ToolExecutorParts, ToolFinder, TurnToolExecutor,
};
pub use crate::services::tools::file_history::FileHistory;
