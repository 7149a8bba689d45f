//! The tools by which a model hands work to agents. A dialect is a name and its arguments; the work is done by
//! [`Agents`](crate::agents::Agents).

mod list;
mod named_skills;
mod plan_tasks;
mod read;
mod research;
mod spawn;
mod spawn_agent;
mod start;
mod tell_agent;

use std::sync::Arc;

use limpid_tools::files::NamedTexts;

use crate::agents::service::Agents;
use crate::tools::Tool;

/// The tools in the order in which they are declared.
pub fn tools(of: &Agents) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(spawn_agent::SpawnAgent(of.clone())),
        Arc::new(list::ListAgents(of.clone())),
        Arc::new(spawn::Spawn(of.clone())),
        Arc::new(spawn::Subagent(of.clone())),
        Arc::new(tell_agent::TellAgent(of.clone())),
        Arc::new(plan_tasks::PlanTasks(of.clone())),
    ]
}

/// The tool that sends out research workers.
pub fn research(of: &Agents) -> Arc<dyn Tool> {
    Arc::new(research::Research(of.clone()))
}

/// The results of agents, as texts that are read like files.
pub fn results(of: &Agents) -> Arc<dyn NamedTexts> {
    Arc::new(read::Results(of.clone()))
}
