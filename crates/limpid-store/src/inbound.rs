//! Messages that were accepted for a conversation and wait for their turn.

use limpid_core::{AgentId, ConversationId, MessageId, ToolCall, Trust, TurnId};

/// What somebody said in a conversation that rights to fetch are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedOrCalled {
    /// A message that the owner typed at a client of theirs, as it was typed.
    Typed(String),
    /// Calls of one reply of the model's, in a turn.
    Called(TurnId, Vec<ToolCall>),
}

/// Where a message is answered, by the folder in which relative paths begin there: its words mean the files of that folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// By whoever works on its conversation.
    Anywhere,
    /// Where they begin at the workspace.
    Workspace,
    /// Where they begin at this folder.
    Folder(String),
}

impl Base {
    /// Whether it is answered where relative paths begin so.
    pub fn is_at(&self, here: &Self) -> bool {
        matches!(self, Self::Anywhere) || self == here
    }
}

impl From<Option<String>> for Base {
    /// A folder of the settings; without one it is the workspace.
    fn from(folder: Option<String>) -> Self {
        folder.map_or(Self::Workspace, Self::Folder)
    }
}

/// One accepted message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InboundId(pub i64);

/// A message that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewInbound {
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// What makes it the same message when it is delivered again in its conversation (a channel's update id); absent: it is always new.
    pub key: Option<String>,
    /// What it says, as it was typed.
    pub text: String,
    /// Who wrote it.
    pub trust: Trust,
    /// Whether the owner typed it at a client of theirs, in a chat.
    pub typed: bool,
    /// Where it is answered.
    pub base: Base,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A message that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbound {
    /// Its number.
    pub id: InboundId,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// What makes it the same message when it is delivered again in its conversation.
    pub key: Option<String>,
    /// What it says, as it was typed.
    pub text: String,
    /// Who wrote it.
    pub trust: Trust,
    /// Where it is answered.
    pub base: Base,
    /// The agent whose end it tells, if it does.
    pub agent: Option<AgentId>,
    /// The turn that answers it, once there is one.
    pub turn: Option<TurnId>,
    /// The message of the conversation that it became, once it did.
    pub message: Option<MessageId>,
    /// When it was accepted, in milliseconds since 1970.
    pub accepted_ms: i64,
}

/// What became of a message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The message as it is stored.
    pub inbound: Inbound,
    /// Whether it is new; a message that was delivered before is not.
    pub fresh: bool,
}
