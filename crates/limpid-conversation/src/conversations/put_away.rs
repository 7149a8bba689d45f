//! Conversations that are put away and brought back.

use limpid_core::ConversationId;
use limpid_services::error::AgentError;
use limpid_store::{Conversation, ConversationChange};

use super::Conversations;

impl Conversations {
    /// Puts a conversation into the archive, or brings it back. It stays whole, and its place among the others stays. What is said in
    /// it later, by whomever, brings it back.
    ///
    /// # Errors
    /// When there is no such conversation, or the store cannot be written.
    pub async fn archive(&self, id: &ConversationId, is_archived: bool) -> Result<Conversation, AgentError> {
        let found = self.deps.directory.existing(id).await?;
        if found.is_archived == is_archived {
            return Ok(found);
        }
        let change = vec![ConversationChange::Archived(is_archived)];
        Ok(self.deps.store().change_conversation(&found.id, change, found.updated_ms).await?)
    }
}
