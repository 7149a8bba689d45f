//! The heartbeat: a look at what has come in, between talks, without anybody asking.
//!
//! - [`settings`]: what its owner sets.
//! - [`gate`]: whether a run is due, and if not, why and until when.
//! - [`news`]: whether there is anything that a model should be asked about.
//! - [`recheck`]: how often a standing item is asked.
//! - [`answer`]: what a run's answer means.

pub mod answer;
pub mod gate;
pub mod news;
pub mod recheck;
pub mod settings;

pub use answer::{Answer, Decision, Quiet};
pub use gate::{Gate, Moment, Pause, State, Why, gate};
pub use news::News;
pub use recheck::Recheck;
pub use settings::{QuietHours, Settings};
