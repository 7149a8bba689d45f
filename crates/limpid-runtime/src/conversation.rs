//! One actor for each conversation: it accepts messages, runs turns, calls models and tools, compacts, delivers. The only
//! writer of turns.

mod actor;
pub(crate) mod background_run;
pub(crate) mod clean;
pub(crate) mod compaction;
pub(crate) mod conversations;
mod delivery;
pub(crate) mod deps;
pub(crate) mod event;
pub mod housekeeping;
pub(crate) mod incomplete;
mod lease;
mod listeners;
pub(crate) mod model_call;
pub(crate) mod one_off;
mod outcome;
pub(crate) mod settings;
pub(crate) mod turn;
pub(crate) mod visible_events;
