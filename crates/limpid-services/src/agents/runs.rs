//! Who runs agents: conversations, which are above this crate.

use std::sync::{Arc, OnceLock};

use limpid_store::SubAgent;

/// Runs agents.
pub trait RunsAgents: Send + Sync {
    /// Begins an agent's work, and does not wait for it.
    fn start(&self, agent: SubAgent);

    /// Stops what an agent is doing in this process.
    fn stop(&self, agent: &SubAgent);

    /// Whether there is a tool of a name.
    fn is_tool(&self, name: &str) -> bool;

    /// Has an agent of this process hear what it was told.
    fn hear(&self, agent: &SubAgent);
}

/// Whoever runs agents, once they are connected.
#[derive(Clone, Default)]
pub struct AgentRuns(Arc<OnceLock<Box<dyn RunsAgents>>>);

impl AgentRuns {
    /// Connects whoever runs agents. The first one stays.
    pub fn connect(&self, runs: impl RunsAgents + 'static) {
        let _ = self.0.set(Box::new(runs));
    }

    pub(super) fn get(&self) -> Option<&dyn RunsAgents> {
        self.0.get().map(|runs| &**runs)
    }
}
