//! The window of a conversation that is longer than it: what leaves, what stands for it, and what must fit.
//!
//! Everything here is a pure function over messages, sizes and a counter. Whoever drives it asks the models and writes
//! what came of it; [`Compaction`] says which summaries it needs.
//!
//! # Layout
//! - [`settings`]: what a conversation may have of its window.
//! - [`context_size`]: the sizes of a request, each a type of its own.
//! - [`turns`]: whole turns, and which of them leave.
//! - [`quote`]: messages as a request for a summary quotes them; [`room`]: what stays fits its shares.
//! - [`shown`]: what is shown of messages: head and tail of what is too long.
//! - [`check`]: whether a summary is one; [`mechanical`]: the digest that needs no model.
//! - [`ageing`]: digests grow shorter with time.
//! - [`task`]: what a compaction is given and what comes of it; [`compaction`]: it, from its first question to the new
//!   view; `pinned`: the request that stays in sight.
//! - [`gate`]: what is done for a request that does not fit; `rollover`: the last of it.

pub mod ageing;
pub mod check;
pub mod compaction;
pub mod context_size;
pub mod gate;
pub mod mechanical;
mod pinned;
pub mod quote;
mod rollover;
pub mod room;
pub mod settings;
pub mod shown;
pub mod task;
pub mod turns;

pub use compaction::Compaction;
pub use context_size::{ContextSize, Fill};
pub use gate::{Action, Fit, FitAction, fit, note_of};
pub use rollover::Note;
pub use settings::Budget;
pub use task::{Ask, Made, Next, Task};

/// Counts the tokens of a text.
pub type Count<'a> = &'a dyn Fn(&str) -> usize;
