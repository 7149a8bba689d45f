//! Conversations, for whoever lists, shows or exports them.

use limpid_store::{Broken, Conversation, StoredMessage};

use crate::agent::Agent;
use crate::chat::ConversationChoice;
use crate::error::AgentError;

/// A conversation with its messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// The conversation.
    pub conversation: Conversation,
    /// Its messages, oldest first, as they were sent; what the person typed stands beside where it differs.
    pub messages: Vec<StoredMessage>,
    /// Records that cannot be read.
    pub broken: Vec<Broken>,
}

impl Agent {
    /// The conversations that were written to last, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn conversations(&self, limit: u32) -> Result<Vec<Conversation>, AgentError> {
        Ok(self.inner.store.conversations(limit).await?.rows)
    }

    /// One conversation with its messages.
    ///
    /// # Errors
    /// When there is no such conversation.
    pub async fn transcript(&self, choice: &ConversationChoice) -> Result<Transcript, AgentError> {
        let none = || AgentError::NotFound {
            what: "conversation",
            name: "last".to_owned(),
            advice: "begin one with `limpid chat`".to_owned(),
        };
        let conversation = self.inner.find_conversation(choice).await?.ok_or_else(none)?;
        let listed = self.inner.store.messages(&conversation.id, None).await?;
        Ok(Transcript { conversation, messages: listed.rows, broken: listed.broken })
    }
}
