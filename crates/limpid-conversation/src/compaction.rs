//! The window of a conversation: what a model sees of it, and how it is kept small enough.
//!
//! The rules are pure and stand in `limpid_turn::window`; here they get their messages and sizes, the models that
//! summarise, and the store that keeps what came of it.
//!
//! - `start`: when a compaction is due; `run`: one, after an answer; `summary`: the calls that it makes.
//! - `show_less`: a smaller view, written down before the request that needs it.
//! - `restore`: earlier views shown again; `report`: what the next request is made of.

mod report;
mod restore;
mod run;
mod scene;
mod show_less;
mod snapshot;
mod start;
mod summary;
mod work;

pub(crate) use report::context_report;
pub use report::{CompactionReport, ContextReport};
pub(crate) use restore::{restore_snapshot, undo_compaction};
pub(crate) use scene::is_complete;
pub(crate) use show_less::show_less;
pub(crate) use snapshot::save_snapshot;
pub(crate) use summary::NoteQuestion;
pub(crate) use work::{Compaction, CompactionDone};
