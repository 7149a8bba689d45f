//! Messages that nobody waits for: reports, results of tasks, reminders, notices.

use std::collections::HashMap;
use std::fmt;

use async_trait::async_trait;
use limpid_core::{ConversationId, Trust, TurnId};

use crate::{DraftId, Lease, Listed, NewMessage, StoreError};

/// Messages that nobody waits for, each delivered once.
#[async_trait]
pub trait Deliveries: Send + Sync {
    /// Keeps a message until it is delivered. One whose key is known, delivered or not, is left as it is; says whether
    /// this one is new.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when its conversation does not exist, so that a dead target is known at once;
    /// [`StoreError::ForStrangers`] when answers in it leave for whoever asks.
    async fn enqueue(&self, new: NewDelivery) -> Result<bool, StoreError>;

    /// What is not delivered yet, of one conversation or of all, oldest first.
    async fn pending_deliveries(&self, conversation: Option<&ConversationId>) -> Result<Listed<Delivery>, StoreError>;

    /// The conversations for which messages wait.
    async fn conversations_with_deliveries(&self) -> Result<Vec<ConversationId>, StoreError>;

    /// Puts a pending message into its conversation as a turn of its own, unread, in one transaction; without messages
    /// it had nothing to say and is only settled. False: it was settled before. Who else is to tell it is written down
    /// with it, so that nobody tells it twice and none is forgotten.
    ///
    /// # Errors
    /// [`StoreError::StaleFence`] when the lease is somebody else's; [`StoreError::Invalid`] when it belongs to another
    /// conversation; [`StoreError::NotFound`] when there is none of that number.
    async fn deliver(
        &self,
        lease: &Lease,
        id: DeliveryId,
        messages: Vec<NewMessage>,
        pending_notifications: PendingNotifications,
        now_ms: i64,
    ) -> Result<bool, StoreError>;

    /// Writes down what became of a push; `detail` says why it failed. False: that was known before.
    async fn end_push(
        &self,
        id: DeliveryId,
        by: &str,
        outcome: PushOutcome,
        detail: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError>;

    /// Pushes of which nothing is known yet, oldest first.
    async fn open_pushes(&self) -> Result<Listed<Push>, StoreError>;

    /// What was delivered and nobody has read, oldest first.
    async fn unread_deliveries(&self) -> Result<Listed<Delivery>, StoreError>;

    /// The owner has seen what a conversation holds. Says how many deliveries were unread.
    async fn mark_read(&self, conversation: &ConversationId, now_ms: i64) -> Result<u64, StoreError>;

    /// The owner has seen one delivery. False: it was read before, or there is nothing to read.
    async fn mark_delivery_read(&self, id: DeliveryId, now_ms: i64) -> Result<bool, StoreError>;

    /// The newest deliveries, newest first.
    async fn deliveries(&self, limit: u32) -> Result<Listed<Delivery>, StoreError>;

    /// The turns of a conversation that are deliveries which tell of a draft, each with its draft.
    async fn turns_that_tell_of_drafts(
        &self,
        conversation: &ConversationId,
    ) -> Result<HashMap<TurnId, DraftId>, StoreError>;
}

/// The notifications that are still to be sent for a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingNotifications {
    /// The notifiers that send them; none: no notification is sent.
    pub names: Vec<String>,
    /// The process that sends them.
    pub holder: String,
}

/// A push of which nothing is known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The delivery that it tells.
    pub delivery: DeliveryId,
    /// What that is about.
    pub title: String,
    /// Who tells it.
    pub by: String,
    /// The process that they are in.
    pub holder: String,
}

/// What became of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PushOutcome {
    /// It was taken.
    Told,
    /// It was not.
    Failed,
    /// Nobody knows.
    Unknown,
}

impl PushOutcome {
    /// The outcome's name, as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// The number of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryId(pub i64);

/// What a delivery comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryOrigin {
    /// A run of the heartbeat.
    Heartbeat,
    /// A run of a task.
    Task,
    /// A text that the owner wanted to be told at a time.
    Reminder,
    /// The program itself.
    Notice,
    /// The model, apart from its answer.
    Message,
    /// The answer of a turn that the end of an agent began.
    Agent,
}

impl DeliveryOrigin {
    /// Every origin.
    pub const ALL: [Self; 6] = [Self::Heartbeat, Self::Task, Self::Reminder, Self::Notice, Self::Message, Self::Agent];

    /// The origin's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Heartbeat => "heartbeat",
            Self::Task => "task",
            Self::Reminder => "reminder",
            Self::Notice => "notice",
            Self::Message => "message",
            Self::Agent => "agent",
        }
    }

    /// Reads an origin's name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == word)
    }

    /// What stands in the conversation in the place of a question that nobody asked.
    pub const fn marker(self) -> &'static str {
        match self {
            Self::Heartbeat => "[heartbeat]",
            Self::Task => "[task]",
            Self::Reminder => "[reminder]",
            Self::Notice => "[notice]",
            Self::Message => "[message]",
            Self::Agent => "[agent]",
        }
    }

    /// Reads a marker.
    pub fn of_marker(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.marker() == text)
    }
}

impl fmt::Display for DeliveryOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A message to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// What makes it the same message when it is enqueued again; it is delivered once, ever.
    pub key: String,
    /// The conversation that it goes to.
    pub conversation: ConversationId,
    /// What it comes from.
    pub origin: DeliveryOrigin,
    /// What it is about, in a few words; a notification's first line.
    pub title: String,
    /// What it says.
    pub text: String,
    /// Who wrote the least trusted text that it was made from.
    pub trust: Trust,
    /// The draft that it tells of, where the program itself tells of one: no words say so, which anybody may write.
    pub draft: Option<DraftId>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// One delivery as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its number.
    pub id: DeliveryId,
    /// What it is.
    pub new: NewDelivery,
    /// When it was settled, in milliseconds since 1970; absent while it is pending.
    pub settled_ms: Option<i64>,
    /// The turn that it became; a settled one without had nothing to say.
    pub turn: Option<TurnId>,
    /// When the owner has seen it, in milliseconds since 1970.
    pub read_ms: Option<i64>,
}
