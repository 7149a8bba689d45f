//! Conversations that are archived, brought back and deleted.

use limpid_core::ConversationId;
use limpid_services::directory::ConversationChoice;
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
        let found = self.known(&ConversationChoice::Id(id.clone())).await?;
        if found.is_archived == is_archived {
            return Ok(found);
        }
        let change = vec![ConversationChange::Archived(is_archived)];
        Ok(self.deps.store().change_conversation(&found.id, change, found.updated_ms).await?)
    }

    /// Deletes a conversation for good, and says what it was. Its messages, the texts of its requests, its drafts and its agents go;
    /// memories, files, tasks and what it cost stay.
    ///
    /// # Errors
    /// When there is no such conversation, it is the one that takes reports, an answer or something else is under way in it, or the store
    /// cannot be written; then nothing changed.
    pub async fn delete(&self, id: &ConversationId) -> Result<Conversation, AgentError> {
        let found = self.known(&ConversationChoice::Id(id.clone())).await?;
        if found.id == self.deps.directory.reports_id() {
            let why = "Reports arrive in this conversation, so it cannot be deleted. Archive it instead.";
            return Err(AgentError::Invalid(why.to_owned()));
        }
        // After an answer its actor tidies up for a moment. An answer itself is not waited for: the store says that it is under way.
        let turns = self.deps.store().unfinished_turns().await?.rows;
        if turns.iter().all(|turn| turn.conversation != found.id)
            && self.deps.store().waiting(id).await?.rows.is_empty()
        {
            self.wait_idle(id).await;
        }
        self.deps.store().delete_conversation(&found.id, self.deps.host().now_ms()).await?;
        Ok(found)
    }
}
