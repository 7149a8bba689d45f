//! Conversations that are archived, brought back and deleted.

use limpid_services::error::AgentError;
use limpid_store::{Conversation, ConversationChange};

use super::Conversations;

/// Puts a conversation into the archive, or brings it back.
pub(super) async fn archive(
    conversations: &Conversations,
    found: Conversation,
    is_archived: bool,
) -> Result<Conversation, AgentError> {
    if found.is_archived == is_archived {
        return Ok(found);
    }
    let change = vec![ConversationChange::Archived(is_archived)];
    Ok(conversations.deps.store().change_conversation(&found.id, change, found.updated_ms).await?)
}

/// Deletes a conversation for good.
pub(super) async fn delete(conversations: &Conversations, found: &Conversation) -> Result<(), AgentError> {
    let deps = &conversations.deps;
    if found.id == deps.directory.reports_id() {
        let why = "Reports arrive in this conversation, so it cannot be deleted. Archive it instead.";
        return Err(AgentError::Invalid(why.to_owned()));
    }
    // After an answer its actor tidies up for a moment. An answer itself is not waited for: the store says that it is under way.
    let turns = deps.store().unfinished_turns().await?.rows;
    let is_answering = turns.iter().any(|turn| turn.conversation == found.id);
    if !is_answering && deps.store().waiting(&found.id).await?.rows.is_empty() {
        conversations.wait_idle(&found.id).await;
    }
    // What comes back by its id, or goes on with its words, is read by whoever read it.
    deps.directory.keep_audience(found).await?;
    Ok(deps.store().delete_conversation(&found.id, deps.host().now_ms()).await?)
}
