//! `[agents]`: agents that a turn hands work to.

use limpid_core::AgentLimits;
use serde::Deserialize;

/// Agents that a turn hands work to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentsConfig {
    /// Agents that may work for one conversation at a time.
    pub max_concurrent: u32,
    /// Seconds that an agent may be inactive. One that its caller waits for has this much time in all.
    pub timeout_seconds: u64,
    /// Tokens that all agents of a tree may use together, in and out.
    pub tokens_per_tree: u64,
}

impl Default for AgentsConfig {
    fn default() -> Self {
        Self { max_concurrent: 3, timeout_seconds: 300, tokens_per_tree: 500_000 }
    }
}

impl AgentsConfig {
    /// How many there may be, and what they may use.
    pub fn limits(&self) -> AgentLimits {
        AgentLimits { live: self.max_concurrent, tokens: self.tokens_per_tree }
    }
}
