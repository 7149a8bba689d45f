//! The log of what happened to the goals of a conversation; `limpid_core::goal::Goals::fold` makes the state of it.

use async_trait::async_trait;
use limpid_core::ConversationId;
use limpid_core::goal::GoalRecord;

use crate::{Broken, StoreError};

/// The log of goals, one a conversation, outside of its messages.
#[async_trait]
pub trait GoalLogs: Send + Sync {
    /// A conversation's log, oldest first. A record that cannot be read, such as a torn last one, is left out and told.
    async fn goal_log(&self, conversation: &ConversationId) -> Result<GoalLog, StoreError>;

    /// The conversations that have a log, at most so many, counted [by side](limpid_core::by_side::by_side), that of the newest record first.
    async fn goal_conversations(&self, limit: u32) -> Result<Vec<ConversationId>, StoreError>;

    /// Appends to a log, all or nothing.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the log has grown since it was read; [`StoreError::NotFound`] when there is no such
    /// conversation.
    async fn append_goal_log(&self, conversation: &ConversationId, more: GoalAppend) -> Result<(), StoreError>;
}

/// A conversation's log as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalLog {
    /// What could be read.
    pub records: Vec<GoalRecord>,
    /// What could not.
    pub broken: Vec<Broken>,
    /// The number of the last record, readable or not; 0 for an empty log.
    pub last: u64,
}

/// Records for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalAppend {
    /// The last number of the log from which they follow.
    pub after: u64,
    /// The records, in order.
    pub records: Vec<GoalRecord>,
}
