//! `/clean`: from here on a conversation shows the owner's and their files' text only, and pointers in place of the rest.

use limpid_context::{CLEAN, count_put_aside};
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_store::NewSetting;

use crate::deps::ConversationDeps;

/// Puts aside what strangers wrote, and everything that was said after it was read, up to the newest message of a
/// conversation. Returns how many messages that are.
///
/// # Errors
/// When there is no such conversation, or the store fails.
pub(super) async fn clean(deps: &ConversationDeps, choice: &ConversationChoice) -> Result<usize, AgentError> {
    let Some(conversation) = deps.directory.find(choice).await? else { return Ok(0) };
    let store = deps.store();
    let rows = store.messages(&conversation.id, None).await?.rows;
    let Some(newest) = rows.last().map(|row| row.id) else { return Ok(0) };
    let aside = count_put_aside(&rows, newest);
    let value = Some(newest.0.to_string());
    let setting = NewSetting { name: CLEAN.to_owned(), value, trigger: "manual".to_owned() };
    store.set_in_conversation(&conversation.id, Vec::new(), vec![setting], deps.host().now_ms()).await?;
    Ok(aside)
}
