//! The tools by which a model hands work to agents. A dialect is a name and its arguments; the work is done by
//! [`Agents`](crate::agents::Agents).

mod list;
mod read;
mod spawn;
mod spawn_agent;
mod start;

use std::sync::Arc;

use crate::agents::service::Agents;
use crate::tools::Tool;

/// The tools in the order in which they are declared.
pub fn tools(of: &Agents) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(spawn_agent::SpawnAgent(of.clone())),
        Arc::new(list::ListAgents(of.clone())),
        Arc::new(spawn::Spawn(of.clone())),
        Arc::new(spawn::Subagent(of.clone())),
    ]
}

/// A tool that reads files, with the results of agents among them.
pub fn readable(files: Arc<dyn Tool>, of: &Agents) -> Arc<dyn Tool> {
    Arc::new(read::WithResults { files, agents: of.clone() })
}
