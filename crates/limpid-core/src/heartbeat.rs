//! The heartbeat: a look at what has come in, between talks, without anybody asking.
//!
//! - [`answer`]: what a run's answer means.

pub mod answer;

pub use answer::{Answer, Decision, Quiet};
