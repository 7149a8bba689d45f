//! The window of a conversation: what a model sees of it, and how it is kept small enough.
//!
//! The rules are pure and stand in `limpid_turn::window`; here they get their messages and sizes, the models that
//! summarise, and the store that keeps what came of it.
//!
//! - `fit`: the gate before every request.
//! - `compact`: a compaction after an answer; `summary`: the calls that it makes.
//! - `people`: what a person does with it: compact, undo, look, restore.

pub(crate) mod fit;
pub(crate) mod owner;
pub(crate) mod run;
pub(crate) mod summary;

pub use crate::conversation::compaction::owner::{CompactionReport, ContextReport};
