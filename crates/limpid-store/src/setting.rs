//! What was set in a conversation or for all of them: a log that only grows, and what it comes to.

use async_trait::async_trait;
use limpid_core::ConversationId;

use crate::{Conversation, ConversationChange, Listed, StoreError};

/// Settings: events by name, of which the newest holds.
#[async_trait]
pub trait Settings: Send + Sync {
    /// Changes a conversation and writes down what was set in it, all or nothing.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such conversation.
    async fn set_in_conversation(
        &self,
        id: &ConversationId,
        changes: Vec<ConversationChange>,
        events: Vec<NewSetting>,
        now_ms: i64,
    ) -> Result<Conversation, StoreError>;

    /// Writes down what was set for all conversations.
    async fn set_for_all(&self, events: Vec<NewSetting>, now_ms: i64) -> Result<(), StoreError>;

    /// The newest event of each name, in a conversation or (none) for all, by name.
    async fn settings(&self, id: Option<&ConversationId>) -> Result<Listed<SettingEvent>, StoreError>;

    /// The events of one name, newest first.
    async fn setting_events(
        &self,
        id: Option<&ConversationId>,
        name: &str,
        limit: u32,
    ) -> Result<Listed<SettingEvent>, StoreError>;

    /// Whether others read a conversation in which a name is set, or a chat in which no name that begins as `any` was ever set; those in
    /// the archive count, single runs do not.
    async fn others_read_any(&self, name: &str, any: &str) -> Result<bool, StoreError>;
}

/// Something that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSetting {
    /// What it is: `mode`, `focus`, `window`, …
    pub name: String,
    /// What it is set to, in a form of its own; none when it is taken back.
    pub value: Option<String>,
    /// What set it: `manual`, `auto`, …
    pub trigger: String,
}

/// Something that was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingEvent {
    /// Its number, which grows.
    pub id: i64,
    /// What it is.
    pub name: String,
    /// What it was set to; none when it was taken back.
    pub value: Option<String>,
    /// What set it.
    pub trigger: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}
