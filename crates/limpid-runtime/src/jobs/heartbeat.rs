//! The heartbeat's runs: the agent's look at what came in, unasked.

pub(crate) mod outcome;
pub(crate) mod pending_work;
pub(crate) mod run;
pub(crate) mod status;
