//! A turn: how it begins, runs, and is carried on after a crash.

pub(crate) mod approvals;
pub(crate) mod asked;
pub(crate) mod goal_markers;
pub(crate) mod journal;
pub(crate) mod read_result_tool;
pub(crate) mod resume;
pub(crate) mod running;
pub(crate) mod start;
pub(crate) mod transaction;
