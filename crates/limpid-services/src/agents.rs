//! Agents that turns hand work to: each is kept before its caller hears of it, works in a hidden conversation of its own, and
//! is told of once when it ends.
//!
//! [`Agents`] owns their state and limits. Who runs them is above this crate and connects itself ([`AgentRuns`]).

mod owner;
mod plan;
mod pointers;
mod refusal;
mod report;
mod request;
mod research;
mod runs;
mod service;
mod tools;

pub use owner::Told;
pub use plan::{Planned, planned};
pub use report::AgentReport;
pub use runs::{AgentRuns, RunsAgents};
pub use service::{Agents, AgentsParts, Outstanding, Unheard};
pub use tools::{research, results, tools};
