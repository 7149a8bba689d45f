//! Agents that a turn hands work to: the states that they go through, and how far they may go.

pub mod plan;

use std::fmt;

use crate::{AgentId, ConversationId, Trust};

/// How deep agents may start agents: those of a chat are at depth 1.
pub const MOST_DEPTH: u8 = 3;

/// Agents that may come of one message of a person, those included that their results lead to: so many that the owner's words started,
/// and as many that strangers' texts had a part in starting.
pub const MOST_IN_TREE: u32 = 16;

/// Agents that programs which the agent lends its tools to may start within a day, all of them together, of each side. Each of their
/// calls is a tree of its own.
pub const MOST_OF_CLIENTS_A_DAY: u32 = 64;

/// Calls of a model that an agent may make. The last one has no tools.
pub const MOST_ROUNDS: u32 = 10;

/// The prompt path of research workers: they see their task and the web, and nothing of the owner's.
pub const RESEARCH: &str = "research";

/// Seconds that a research worker has.
pub const RESEARCH_SECONDS: u64 = 600;

/// The group of the tools that hand on work.
pub const DELEGATION: &str = "delegation";

/// How the text begins by which whoever started an agent is told of its end.
const NOTICE: &str = "[agent_result:";

/// The beginning of the text by which whoever started an agent is told of its end.
pub fn notice_of(id: AgentId, state: AgentState) -> String {
    format!("{NOTICE}{id}] {state}")
}

/// Whether a text tells of the end of an agent.
pub fn is_notice(text: &str) -> bool {
    text.starts_with(NOTICE)
}

/// The tools that start an agent.
pub const STARTS_AGENTS: [&str; 4] = ["spawn_agent", "spawn", "subagent", "tell_agent"];

/// Whether the results of a tool tell of the end of an agent.
pub fn tells_of_agents(tool: &str) -> bool {
    tool == RESEARCH || STARTS_AGENTS.contains(&tool)
}

impl AgentId {
    /// The key of its run, by which the run's hidden conversation is found.
    pub fn run_key(self) -> String {
        format!("agent-{self}")
    }

    /// The key of the message that tells it to come to its end.
    pub fn report_key(self) -> String {
        format!("agent/{self} report")
    }

    /// The hidden conversation that it works in.
    pub fn conversation(self) -> ConversationId {
        ConversationId::new(format!("run-{}", self.run_key()))
    }
}

/// Where an agent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentState {
    /// It was accepted and has not begun.
    Queued,
    /// It works.
    Running,
    /// It has its result.
    Done,
    /// It could not do its task, or ran out of rounds or tokens.
    Failed,
    /// It took too long.
    Timeout,
    /// Somebody stopped it.
    Cancelled,
    /// The program stopped while it worked.
    Interrupted,
}

impl AgentState {
    /// Every state.
    pub const ALL: [Self; 7] =
        [Self::Queued, Self::Running, Self::Done, Self::Failed, Self::Timeout, Self::Cancelled, Self::Interrupted];

    /// The state's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    /// Reads a state's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether it has ended. No other state follows.
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

impl fmt::Display for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many agents there may be, and what they may use. Agents that a stranger's text had a part in starting have each of these for
/// themselves, so they take nothing of the owner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// Agents of one conversation that may be queued or running.
    pub live: u32,
    /// Tokens that a purse of a tree holds, in and out.
    pub tokens: u64,
    /// Agents that one conversation may start within a day; none: as many as come of its messages.
    pub a_day: Option<u32>,
}

/// Which tokens of a tree are counted together. Each purse holds as many: so what strangers' texts use up ends no agent of the owner's,
/// and what an agent uses after it has read such a text ends none that has read none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purse {
    /// What agents of the owner's use while they have read no stranger's text.
    Clean,
    /// What the same agents use after that.
    Tainted,
    /// What agents use that a stranger's text had a part in starting.
    Strangers,
}

impl Purse {
    /// The purse of an agent that has read texts of this label.
    pub const fn of(by_strangers: bool, read: Trust) -> Self {
        match (by_strangers, read.is_foreign()) {
            (true, _) => Self::Strangers,
            (false, true) => Self::Tainted,
            (false, false) => Self::Clean,
        }
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Tainted => "tainted",
            Self::Strangers => "strangers",
        }
    }
}

/// Why an agent was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRefusal {
    /// Whoever asked is as deep as agents may be.
    Depth,
    /// Whoever asked has ended.
    Over,
    /// Another call of the same turn gave the same task to this agent.
    SameTask(AgentId),
    /// As many agents as may work for one conversation do.
    Live(u32),
    /// As many agents as may come of one message have.
    Tree,
    /// As many agents as the conversation may start within a day have been.
    Day(u32),
    /// The tokens of the tree are used up.
    Tokens(u64),
    /// The agent that is to go on, or another one in its conversation, has not ended.
    StillWorks,
}

/// A task as it is compared with others: what differs in spaces and lines alone is the same.
pub fn same_task(task: &str) -> String {
    task.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-062
    #[test]
    fn a_state_is_read_by_its_name_and_two_of_them_are_not_the_end() {
        for state in AgentState::ALL {
            assert_eq!(AgentState::parse(state.as_str()), Some(state));
        }
        let open: Vec<_> = AgentState::ALL.into_iter().filter(|state| !state.is_over()).collect();
        assert_eq!(open, [AgentState::Queued, AgentState::Running]);
        assert_eq!(AgentState::parse("Done"), None);
    }

    // LES-116
    #[test]
    fn a_task_is_the_same_whatever_its_spaces() {
        assert_eq!(same_task(" look\n it  up "), same_task("look it up"));
        assert_ne!(same_task("look it up"), same_task("Look it up"));
    }
}
