//! One actor for each conversation: it accepts messages, runs turns, calls models and tools, compacts, delivers. The only
//! writer of turns.

pub mod actor;
pub mod background_run;
pub mod clean;
pub mod compaction;
pub mod conversations;
pub mod delivery;
pub mod event;
pub mod housekeeping;
pub mod incomplete;
pub mod model_call;
pub mod settings;
pub mod turn;
pub mod visible_events;
