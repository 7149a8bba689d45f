//! What the owner sees of agents, and stopping them.

use limpid_core::{AgentId, AgentState};
use limpid_store::{AgentFilter, Listed, SubAgent};

use crate::agents::service::Agents;
use crate::error::AgentError;

impl Agents {
    /// Agents, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(&self, filter: AgentFilter) -> Result<Listed<SubAgent>, AgentError> {
        Ok(self.store().agents(filter).await?)
    }

    /// One agent.
    ///
    /// # Errors
    /// When there is none of that number, or the store cannot be read.
    pub async fn get(&self, id: AgentId) -> Result<SubAgent, AgentError> {
        self.find(id).await
    }

    /// Stops an agent and those that it started. Says which had not ended before, itself first.
    ///
    /// # Errors
    /// When there is none of that number, or the store fails.
    pub async fn cancel(&self, id: AgentId) -> Result<Vec<AgentId>, AgentError> {
        let agent = self.find(id).await?;
        let filter = AgentFilter { chat: Some(agent.chat.clone()), open: true, ..AgentFilter::default() };
        let mut open = self.store().agents(filter).await?.rows;
        // Oldest first, so that each comes behind whoever started it.
        open.reverse();
        let mut tree = vec![id];
        let mut stopped = Vec::new();
        for agent in open {
            if agent.id != id && !agent.parent.is_some_and(|parent| tree.contains(&parent)) {
                continue;
            }
            tree.push(agent.id);
            if self.end_early(&agent, AgentState::Cancelled, "it was stopped".to_owned()).await? {
                stopped.push(agent.id);
            }
            if let Some(runs) = self.runs().get() {
                runs.stop(agent.id);
            }
        }
        Ok(stopped)
    }
}
