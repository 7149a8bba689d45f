//! Turns that the person takes out of what is sent, and puts back. Messages are only ever appended: such a turn stays
//! stored and readable.

use limpid_context::PrefixCache;
use limpid_core::{ConversationId, Role};
use limpid_services::error::AgentError;
use limpid_services::modes::manual;
use limpid_store::{Conversation, ConversationChange, NewSetting};

use crate::deps::ConversationDeps;
use crate::settings::outcome::ChangeOutcome;

/// Takes the last turn out of what is sent.
pub(super) async fn undo_turn(deps: &ConversationDeps, id: &ConversationId) -> Result<ChangeOutcome, AgentError> {
    let conversation = deps.directory.existing(id).await?;
    let rows = deps.store().messages(id, None).await?.rows;
    let hidden = deps.store().hidden_turns(id).await?;
    let last = rows.iter().rev().map(|row| &row.turn).find(|turn| !hidden.contains(turn));
    let last = last.ok_or_else(|| AgentError::Invalid("there is no turn to take out".to_owned()))?.clone();
    let asked = rows.iter().find(|row| row.turn == last && row.message.role == Role::User);
    let text = asked.map(|row| row.typed.clone().unwrap_or_else(|| row.message.text.clone()));
    let event = manual("undo", Some(last.to_string()));
    set_hidden(deps, &conversation, ConversationChange::Hide(last), event).await?;
    Ok(ChangeOutcome::Applied(text.unwrap_or_default()))
}

/// Puts back the turn that was taken out last.
pub(super) async fn redo_turn(deps: &ConversationDeps, id: &ConversationId) -> Result<ChangeOutcome, AgentError> {
    let conversation = deps.directory.existing(id).await?;
    let mut hidden = deps.store().hidden_turns(id).await?;
    let none = || AgentError::Invalid("no turn was taken out".to_owned());
    let back = hidden.pop().ok_or_else(none)?;
    let event = manual("redo", hidden.last().map(ToString::to_string));
    set_hidden(deps, &conversation, ConversationChange::Unhide(back), event).await?;
    Ok(ChangeOutcome::Applied(String::new()))
}

/// Takes a turn out or puts it back. The beginning of the prompt is made anew, since the tail of a message that is
/// gone may have told of a change.
async fn set_hidden(
    deps: &ConversationDeps,
    conversation: &Conversation,
    change: ConversationChange,
    event: NewSetting,
) -> Result<(), AgentError> {
    let session = PrefixCache::of(conversation).with_prefix_reset();
    let kept = vec![change, ConversationChange::Session(Some(session.to_text()))];
    deps.store().set_in_conversation(&conversation.id, kept, vec![event], deps.host().now_ms()).await?;
    Ok(())
}
