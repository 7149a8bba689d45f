//! A turn: how it begins, runs, and is carried on after a crash.

mod agents;
mod approvals;
mod asked;
mod clean_first;
mod first_request;
mod goal_markers;
pub(crate) mod journal;
mod open_question;
mod opened_links;
pub(crate) mod read_result_tool;
mod replies;
pub(crate) mod requests;
mod reservations;
pub(crate) mod resume;
pub(crate) mod running;
pub(crate) mod start;
pub(crate) mod steps;
pub(crate) mod title;
mod tool_calls;
mod tool_tasks;
mod trace;
mod transaction;
mod window_facts;
