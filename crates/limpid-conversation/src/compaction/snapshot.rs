//! Snapshots of a conversation, which can be gone back to.

use limpid_context::{History, window_state_of};
use limpid_core::{Entry, MessageId, Tier, Trust, WindowView};
use limpid_services::error::AgentError;
use limpid_store::{Conversation, Lease, NewSnapshot, Snapshot};

use crate::deps::ConversationDeps;

/// The conversation as it stands.
async fn snapshot(
    deps: &ConversationDeps,
    conversation: &Conversation,
    reason: &str,
    newest: Option<MessageId>,
    view: WindowView,
) -> Result<NewSnapshot, AgentError> {
    let goals = deps.store().goal_log(&conversation.id).await?.records.len();
    Ok(NewSnapshot {
        automatic: true,
        reason: reason.to_owned(),
        newest,
        mode: conversation.mode.clone(),
        tier: window_state_of(Some(conversation)).tier().map(Tier::number),
        goals: Some(goals as u64),
        of_strangers: false,
        view,
    })
}

/// Whether a stranger's text is in what a conversation shows up to a message: there a stranger's text may have led to each turn, and so to
/// each moment that is kept.
fn shows_strangers(past: &History, newest: Option<MessageId>) -> bool {
    let is_shown = |entry: &&Entry| Some(entry.id) <= newest && past.view.shows(entry.id);
    let said = past.entries.iter().filter(is_shown).map(|entry| entry.message.trust_of_all());
    let digests = past.view.digests.iter().map(|digest| digest.trust);
    let pin = past.view.pin.iter().map(|pin| pin.trust);
    said.chain(digests).chain(pin).any(Trust::is_foreign)
}

/// Saves a conversation as it stands until the person deletes the snapshot.
pub(crate) async fn save_snapshot(
    deps: &ConversationDeps,
    conversation: &Conversation,
    reason: &str,
) -> Result<Snapshot, AgentError> {
    let view = deps.store().window(&conversation.id).await?;
    let newest = deps.store().last_message(&conversation.id).await?.map(|row| row.id);
    let new = NewSnapshot { automatic: false, ..snapshot(deps, conversation, reason, newest, view).await? };
    Ok(deps.store().keep_snapshot(&conversation.id, new, deps.host().now_ms()).await?)
}

/// Saves what is there before something is shortened: this view up to its newest message. `past` is what the conversation shows.
pub(super) async fn save_automatic(
    deps: &ConversationDeps,
    conversation: &Conversation,
    past: &History,
    (newest, view): (Option<MessageId>, WindowView),
    reason: &str,
) -> Result<(), AgentError> {
    let of_strangers = shows_strangers(past, newest);
    let new = NewSnapshot { of_strangers, ..snapshot(deps, conversation, reason, newest, view).await? };
    deps.store().keep_snapshot(&conversation.id, new, deps.host().now_ms()).await?;
    Ok(())
}

/// Saves the conversation after a turn.
pub(super) async fn save_after_turn(deps: &ConversationDeps, lease: &Lease) -> Result<(), AgentError> {
    let conversation = deps.directory.existing(&lease.conversation).await?;
    let past = History::read(deps.store(), &conversation, &mut Vec::new()).await?;
    let newest = past.entries.last().map(|entry| entry.id);
    save_automatic(deps, &conversation, &past, (newest, past.view.clone()), "every five turns").await
}
