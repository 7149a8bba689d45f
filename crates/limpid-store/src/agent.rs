//! Agents that turns hand work to.

use async_trait::async_trait;
use limpid_core::agent::RESEARCH;
use limpid_core::{
    AgentId, AgentLimits, AgentRefusal, AgentState, CallId, ConversationId, MessageId, PlannedId, Purse, Trust, TurnId,
};

use crate::{Base, InboundId, Listed, NewInbound, StoreError};

/// Agents that turns hand work to. Each is kept before its caller hears of it, ends once, and whoever started it is told of
/// its end once.
#[async_trait]
pub trait Agents: Send + Sync {
    /// Keeps a new agent, unless a limit stands against it. A call that was made before, as after a crash, finds its agent.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the conversation or the turn that starts it does not exist.
    async fn accept_agent(&self, new: NewSubAgent, limits: AgentLimits) -> Result<AcceptedAgent, StoreError>;

    /// One agent, or none of that number.
    async fn agent(&self, id: AgentId) -> Result<Option<SubAgent>, StoreError>;

    /// Where the messages that a turn answers were said: what an agent of it does is done there.
    async fn base_of(&self, turn: &TurnId) -> Result<Base, StoreError>;

    /// The newest agent that works in a conversation, if it is one's.
    async fn agent_in(&self, conversation: &ConversationId) -> Result<Option<SubAgent>, StoreError>;

    /// Whether any agent that ever worked in a conversation was started without a stranger's text: what goes on there is the owner's work.
    async fn is_owners_work(&self, conversation: &ConversationId) -> Result<bool, StoreError>;

    /// Agents, newest first; a limit is counted by side.
    async fn agents(&self, filter: AgentFilter) -> Result<Listed<SubAgent>, StoreError>;

    /// The agent begins. False: it had begun, or has ended.
    async fn begin_agent(&self, id: AgentId, now_ms: i64) -> Result<bool, StoreError>;

    /// Keeps a message for the agent that works in the message's conversation. None: no agent works there, and nothing is kept.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such conversation yet.
    async fn tell_agent(&self, new: NewInbound) -> Result<Option<AgentId>, StoreError>;

    /// The agent ends, and whoever started it is told, in one transaction, unless it was told something that its end does not
    /// know of.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none of that number; [`StoreError::Invalid`] when the state is none of an end.
    async fn end_agent(&self, end: AgentEnd) -> Result<AgentEnded, StoreError>;

    /// Whether everything that a turn answers tells of the ends of agents.
    async fn answers_agents(&self, turn: &TurnId) -> Result<bool, StoreError>;

    /// Tokens that the agents of a tree have used of a purse together, in and out.
    async fn tokens_of_tree(&self, root: &TurnId, purse: Purse) -> Result<u64, StoreError>;
}

/// An agent to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSubAgent {
    /// The conversation that starts it.
    pub conversation: ConversationId,
    /// The turn that does.
    pub turn: TurnId,
    /// The call of that turn.
    pub call: CallId,
    /// The prompt path that it takes.
    pub path: String,
    /// Whether the call waits for its end and tells of it by its result.
    pub waited_for: bool,
    /// A short name for people.
    pub label: String,
    /// What it is to do.
    pub task: String,
    /// The skill that it follows, by name.
    pub skill: Option<String>,
    /// What it needs to know besides.
    pub context: Option<String>,
    /// The only tools that it has; none: those of its path.
    pub tools: Option<Vec<String>>,
    /// The planned task that it does.
    pub planned: Option<PlannedId>,
    /// The agent that has ended and whose work it goes on with, in the same conversation.
    pub continues: Option<AgentId>,
    /// The agent of the settings that it is, by name.
    pub named: Option<String>,
    /// Who wrote the task and what it needs to know.
    pub trust: Trust,
    /// Whether it was started because of a stranger's text. One that the owner started may be told strangers' words all the same.
    pub by_strangers: bool,
    /// The process that runs it.
    pub holder: String,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

impl NewSubAgent {
    /// Its name for people, where Limpid's own words may have it: a stranger had no part in it.
    pub fn label_of_ours(&self) -> Option<&str> {
        (!self.trust.is_foreign()).then_some(self.label.as_str())
    }
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAgent {
    /// Its number.
    pub id: AgentId,
    /// What it was given.
    pub new: NewSubAgent,
    /// The agent that started it, if one did.
    pub parent: Option<AgentId>,
    /// The turn that its tree began with.
    pub root: TurnId,
    /// The conversation of that turn.
    pub chat: ConversationId,
    /// How deep it is: 1 when a chat started it.
    pub depth: u8,
    /// Whether nobody asked for the turn that its tree began with.
    pub in_background: bool,
    /// The tokens that its tree may use.
    pub tokens: u64,
    /// The conversation that it works in, where another agent worked in it before.
    pub shared: Option<ConversationId>,
    /// The last message of that conversation from before.
    pub message_before: Option<MessageId>,
    /// Where it stands.
    pub state: AgentState,
    /// When it began, in milliseconds since 1970.
    pub began_ms: Option<i64>,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: Option<i64>,
    /// What it said at the end, as far as it came.
    pub result: String,
    /// Who wrote the least trusted text that it has read: of its result, and of its task before.
    pub trust: Trust,
    /// Why it ended, where it has no whole result.
    pub reason: String,
    /// What its journal says that it did, as JSON.
    pub report: String,
    /// The message by which whoever started it was told.
    pub told: Option<InboundId>,
}

impl SubAgent {
    /// Whether it is a research worker, which sees nothing of the owner's and has limits of its own.
    pub fn is_research(&self) -> bool {
        self.new.path == RESEARCH
    }

    /// The hidden conversation that it works in.
    pub fn works_in(&self) -> ConversationId {
        self.shared.clone().unwrap_or_else(|| self.id.conversation())
    }
}

/// What came of an agent that was to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptedAgent {
    /// It is new.
    Fresh(Box<SubAgent>),
    /// This call was made before.
    Known(Box<SubAgent>),
    /// A limit stands against it.
    Refused(AgentRefusal),
}

/// Which agents are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFilter {
    /// Those of trees that this conversation began.
    pub chat: Option<ConversationId>,
    /// Those that this conversation started itself.
    pub conversation: Option<ConversationId>,
    /// Those that have not ended.
    pub open: bool,
    /// At most so many, counted [by side](limpid_core::by_side::by_side); 0: all.
    pub limit: u32,
}

/// What came of ending an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnded {
    /// It has ended by this.
    Now,
    /// It had ended before, and that end stays.
    Before,
    /// It has not ended: a message waits for it that its end does not know of. This is the newest one.
    IsTold(InboundId),
    /// It has not ended: another turn has begun since the one that its end tells of.
    WorksOn,
}

/// The end of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEnd {
    /// Which.
    pub id: AgentId,
    /// The newest message for it that its end knows of; 0: none.
    pub told_until: InboundId,
    /// The turn whose answer the result is: the last one of the conversation that it works in. None: it ends in the middle of
    /// whatever it does.
    pub answered_by: Option<TurnId>,
    /// How it ended.
    pub state: AgentState,
    /// What it said, as far as it came.
    pub result: String,
    /// Who wrote the least trusted text that it has read.
    pub trust: Trust,
    /// Why, where it has no whole result.
    pub reason: String,
    /// What its journal says that it did, as JSON.
    pub report: String,
    /// What stands above that in the message that holds it; not its own words.
    pub above: String,
    /// The message that tells whoever started it, unless the result of a call does. It stands behind the agent's own words.
    pub notice: String,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}
