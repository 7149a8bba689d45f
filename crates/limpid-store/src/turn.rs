//! Turns and their journals.

use async_trait::async_trait;
use limpid_core::{CallId, ConversationId, MessageId, RequestId, Trust, TurnId};

use crate::{
    ConversationChange, DeliveryId, GoalAppend, InboundId, ItemId, Lease, Listed, NewDelivery, NewMessage, NewRequest,
    PendingNotifications, RequestEnd, SharedPrefix, StoreError, StoredMessage,
};

/// Turns and their journals. What a turn writes goes through [`Turns::commit`], which asks for the lease.
#[async_trait]
pub trait Turns: Send + Sync {
    /// Begins a turn, takes the accepted messages that it answers and makes its first writes, in one transaction; the
    /// answer has one entry for each of the writes.
    ///
    /// # Errors
    /// [`StoreError::StaleFence`] when the lease is somebody else's; [`StoreError::Exists`] when the id is taken;
    /// [`StoreError::Invalid`] when an accepted message is another turn's or another conversation's; for the writes
    /// those of [`Turns::commit`].
    async fn begin_turn(&self, lease: &Lease, new: NewTurn, writes: Vec<TurnWrite>)
    -> Result<Vec<Written>, StoreError>;

    /// Writes all of `writes` or none, durably; the answer has one entry for each.
    ///
    /// # Errors
    /// [`StoreError::StaleFence`] when the lease is somebody else's; [`StoreError::Unpaired`] when messages hold a call
    /// without its result, a result without its call, or a call id that the conversation has had;
    /// [`StoreError::NotFound`] when the turn is none of the conversation's; [`StoreError::Invalid`] when it is over.
    async fn commit(
        &self,
        lease: &Lease,
        turn: &TurnId,
        writes: Vec<TurnWrite>,
        now_ms: i64,
    ) -> Result<Vec<Written>, StoreError>;

    /// One turn, or none of that id.
    async fn turn(&self, id: &TurnId) -> Result<Option<Turn>, StoreError>;

    /// A turn's journal, in order. Of a turn that has ended only what is kept afterwards.
    async fn turn_events(&self, id: &TurnId) -> Result<Listed<TurnEvent>, StoreError>;

    /// The stored message with the result of a call, or none when the conversation has no such call with its result. When
    /// the message shows the result cut, the journal of its turn holds the whole.
    async fn result_of_call(
        &self,
        conversation: &ConversationId,
        call: &CallId,
    ) -> Result<Option<StoredMessage>, StoreError>;

    /// The turns of a conversation that the person took out of what is sent, the one that was taken out last at the end.
    async fn hidden_turns(&self, conversation: &ConversationId) -> Result<Vec<TurnId>, StoreError>;

    /// Turns that have not ended, of every conversation, oldest first.
    async fn unfinished_turns(&self) -> Result<Listed<Turn>, StoreError>;
}

/// A turn to be begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTurn {
    /// Its id, drawn by the caller.
    pub id: TurnId,
    /// The prompt path that it takes.
    pub path: String,
    /// The accepted messages that it answers.
    pub inbound: Vec<InboundId>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// The prompt path that it takes.
    pub path: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// How it ended, if it did.
    pub end: Option<TurnEnd>,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnd {
    /// In which way.
    pub outcome: TurnOutcome,
    /// What there is to say about it; empty when nothing is.
    pub detail: String,
    /// When, in milliseconds since 1970.
    pub ended_ms: i64,
}

/// In which way a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TurnOutcome {
    /// The person has an answer.
    Answered,
    /// The person stopped it.
    Cancelled,
    /// It could not be answered, and the person was told.
    Failed,
}

impl TurnOutcome {
    /// The outcome's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Reads an outcome's name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Answered, Self::Cancelled, Self::Failed].into_iter().find(|outcome| outcome.as_str() == word)
    }
}

/// One thing that a turn writes.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnWrite {
    /// An entry of the journal.
    Event(NewEvent),
    /// Takes accepted messages that arrived during the turn.
    Take(Vec<InboundId>),
    /// Messages of the conversation, calls and results in pairs.
    Messages(Vec<NewMessage>),
    /// A request that is about to be sent. Its conversation and turn are those of the write.
    Request(Box<NewRequest>),
    /// Changes to the conversation.
    Conversation(Vec<ConversationChange>),
    /// What came back for a request.
    RequestEnd(RequestId, Box<RequestEnd>),
    /// What happened to the conversation's goals.
    Goals(GoalAppend),
    /// Items of the inbox that the model was shown. They leave the queue when the turn ends with an answer; those that a
    /// run in the background saw, when that run ends well.
    Shown(Vec<ItemId>),
    /// The turn's answer is a message that nobody waited for: a delivery whose turn is this one, unread, with who else is to
    /// tell it.
    Tell(Box<NewDelivery>, PendingNotifications),
    /// The turn's end: what its journal keeps only until then goes. Nothing can be written to it afterwards.
    End(TurnOutcome, String),
}

/// What a write came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// The entry's number in the journal, from 1 without a gap.
    Event(u64),
    /// The messages' numbers.
    Messages(Vec<MessageId>),
    /// What the request shares with the one before it.
    Request(SharedPrefix),
    /// The number of the delivery; none when its key was known.
    Told(Option<DeliveryId>),
    /// Nothing to say.
    Done,
}

/// An entry for a turn's journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// What kind of event it is, in the turn machine's word.
    pub kind: String,
    /// The event, as JSON text.
    pub payload: String,
    /// A text that many entries have in common, such as the schemas of the tools; stored once.
    pub shared: Option<String>,
    /// Who wrote the text in it; the least trusted of them.
    pub trust: Trust,
    /// How long it is kept.
    pub kept: Kept,
}

/// How long an entry of a journal is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kept {
    /// Until the turn has ended: only carrying it on needs it.
    #[default]
    UntilEnd,
    /// Past the turn's end. Entries of a background run go when the end of the run is recorded.
    Afterwards,
}

/// An entry of a turn's journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEvent {
    /// Its number, from 1 without a gap.
    pub seq: u64,
    /// What kind of event it is, in the turn machine's word.
    pub kind: String,
    /// The event, as JSON text.
    pub payload: String,
    /// The text that it shares with other entries.
    pub shared: Option<String>,
    /// Who wrote the text in it; the least trusted of them.
    pub trust: Trust,
    /// When it was written, in milliseconds since 1970.
    pub at_ms: i64,
}
