//! The window of a conversation: what a model sees of it, and how it is kept small enough.
//!
//! The rules are pure and stand in `limpid_turn::window`; here they get their messages and sizes, the models that
//! summarise, and the store that keeps what came of it.
//!
//! - `past`: a conversation as its view shows it.
//! - `sizes`: the sizes of a request by recount, and what there is room for.
//! - `fit`: the gate before every request.
//! - `new_texts`: the messages that a request answers, where they must be shortened too.
//! - `compact`: a compaction after an answer; `summary`: the calls that it makes.
//! - `people`: what a person does with it: compact, undo, look, restore.

pub(crate) mod compact;
pub(crate) mod fit;
mod new_texts;
pub(crate) mod past;
mod people;
pub(crate) mod room;
pub(crate) mod sizes;
mod summary;

pub use people::{CompactionReport, ContextReport};
