//! What an agent that a turn handed work to may use.

use limpid_core::ToolClass;
use limpid_core::agent::{DELEGATION, MOST_DEPTH, STARTS_AGENTS};
use limpid_prompt::Profile;
use limpid_store::SubAgent;
use limpid_tools::Tool;

/// The tools of an agent that a turn handed work to: those that it was given, else those of its path. None of them keeps
/// anything, and it hands on work only where its profile says so and there may be agents below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentScope {
    only: Option<Vec<String>>,
    may_delegate: bool,
}

impl AgentScope {
    /// The scope of an agent whose prompts a profile makes.
    pub fn new(agent: &SubAgent, profile: &Profile) -> Self {
        let may_delegate = profile.behaviour().agents_delegate && agent.depth < MOST_DEPTH;
        Self { only: agent.new.tools.clone(), may_delegate }
    }

    /// Whether a tool exists for the agent.
    pub(super) fn has(&self, tool: &dyn Tool) -> bool {
        let is_given = self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == tool.name()));
        let hands_on = tool.group() == DELEGATION && STARTS_AGENTS.contains(&tool.name());
        is_given && tool.class() != ToolClass::Remember && (!hands_on || self.may_delegate)
    }
}
