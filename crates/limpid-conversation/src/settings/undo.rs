//! Turns that the person takes out of what is sent, and puts back. Messages are only ever appended: such a turn stays
//! stored and readable.

use limpid_context::PrefixCache;
use limpid_core::{ConversationId, MessageId, Role};
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
    let view = deps.store().window(id).await?;
    let mut shown = rows.iter().rev().filter(|row| !view.hides(row.id) && !hidden.contains(&row.turn));
    let last = shown.next().map(|row| &row.turn);
    let last = last.ok_or_else(|| AgentError::Invalid("there is no turn to take out".to_owned()))?.clone();
    let asked = rows.iter().find(|row| row.turn == last && row.message.role == Role::User);
    let text = asked.map(|row| row.typed.clone().unwrap_or_else(|| row.message.text.clone()));
    let event = manual("undo", Some(last.to_string()));
    set_hidden(deps, &conversation, vec![ConversationChange::Hide(last)], vec![event]).await?;
    Ok(ChangeOutcome::Applied(text.unwrap_or_default()))
}

/// Takes the turn of a message out of what is sent, and all turns after it, the newest first. `newest` is the last message that
/// whoever wants it has seen, so nothing goes out unseen. What is out already stays out.
pub(super) async fn take_out(
    deps: &ConversationDeps,
    id: &ConversationId,
    from: MessageId,
    newest: MessageId,
) -> Result<ChangeOutcome, AgentError> {
    let conversation = deps.directory.existing(id).await?;
    let rows = deps.store().messages(id, None).await?.rows;
    if rows.last().map(|row| row.id) != Some(newest) {
        let why = "something was said in this conversation meanwhile; look at it, then edit the message again";
        return Err(AgentError::Invalid(why.to_owned()));
    }
    let turn = rows.iter().find(|row| row.id == from).map(|row| &row.turn);
    let first = rows.iter().position(|row| Some(&row.turn) == turn);
    let Some(first) = first else {
        return Err(AgentError::Invalid("there is no such message in this conversation".to_owned()));
    };
    // A digest would go on telling of it.
    if deps.store().window(id).await?.through.is_some_and(|through| rows[first].id <= through) {
        let why =
            "this message is part of a summary by now, so it cannot be taken out; /compact undo shows it as it was";
        return Err(AgentError::Invalid(why.to_owned()));
    }
    let mut out = deps.store().hidden_turns(id).await?;
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    for row in rows[first..].iter().rev() {
        if !out.contains(&row.turn) {
            out.push(row.turn.clone());
            events.push(manual("undo", Some(row.turn.to_string())));
            changes.push(ConversationChange::Hide(row.turn.clone()));
        }
    }
    if changes.is_empty() {
        return Ok(ChangeOutcome::Unchanged);
    }
    set_hidden(deps, &conversation, changes, events).await?;
    Ok(ChangeOutcome::Applied(String::new()))
}

/// Puts back the turn that was taken out last.
pub(super) async fn redo_turn(deps: &ConversationDeps, id: &ConversationId) -> Result<ChangeOutcome, AgentError> {
    let conversation = deps.directory.existing(id).await?;
    let mut hidden = deps.store().hidden_turns(id).await?;
    let none = || AgentError::Invalid("no turn was taken out".to_owned());
    let back = hidden.pop().ok_or_else(none)?;
    let event = manual("redo", hidden.last().map(ToString::to_string));
    set_hidden(deps, &conversation, vec![ConversationChange::Unhide(back)], vec![event]).await?;
    Ok(ChangeOutcome::Applied(String::new()))
}

/// Takes turns out or puts them back. The beginning of the prompt is made anew, since the tail of a message that is
/// gone may have told of a change.
async fn set_hidden(
    deps: &ConversationDeps,
    conversation: &Conversation,
    mut changes: Vec<ConversationChange>,
    events: Vec<NewSetting>,
) -> Result<(), AgentError> {
    let session = PrefixCache::of(conversation).with_prefix_reset();
    changes.push(ConversationChange::Session(Some(session.to_text())));
    deps.store().set_in_conversation(&conversation.id, changes, events, deps.host().now_ms()).await?;
    Ok(())
}
