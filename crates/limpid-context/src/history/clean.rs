//! What a cleaned conversation shows: the owner's and their files' text only, and pointers in place of the rest. Nothing is
//! deleted: what is pointed at can still be read on request.

use limpid_core::goal::Goal;
use limpid_core::{ConversationId, Digest, Message, MessageId, Role, Trust, WindowView};
use limpid_services::error::AgentError;
use limpid_store::{Conversation, SettingEvent, Store, StoredMessage};

use crate::history::as_typed;

/// The name of the setting that holds up to which message a conversation was cleaned.
pub const CLEAN: &str = "clean";

/// How many messages up to one are put aside when their conversation is cleaned.
pub fn count_put_aside(rows: &[StoredMessage], until: MessageId) -> usize {
    put_aside(rows, until, false).into_iter().filter(|aside| *aside).count()
}

/// What is known of a conversation that was cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cleaned {
    /// Up to which message.
    until: MessageId,
    /// Whether a digest or more went, in whose place messages are shown again.
    reads_again: bool,
}

/// The view of a conversation without what strangers had a part in, once it was cleaned; as it is when it was not. Whoever
/// reads the messages that it shows takes [`Cleaned::pointed`] of them.
pub(crate) async fn cleaned(
    store: &dyn Store,
    conversation: &Conversation,
    view: WindowView,
) -> Result<(WindowView, Option<Cleaned>), AgentError> {
    let newest = last_clean(store, &conversation.id).await?;
    let until = newest.and_then(|event| event.value?.parse().ok()).map(MessageId);
    Ok(match until {
        Some(until) => {
            let (view, reads_again) = cleaned_view(view, until);
            (view, Some(Cleaned { until, reads_again }))
        }
        None => (view, None),
    })
}

impl Cleaned {
    /// The messages of the view, those of strangers as pointers. `is_whole` says that none of them was unreadable.
    pub(crate) fn pointed(self, rows: Vec<StoredMessage>, is_whole: bool) -> Vec<StoredMessage> {
        let Self { until, reads_again } = self;
        // Where the digest that went had its label from is among its messages; if it is not, it may be before all of them.
        let is_seen = is_whole && rows.iter().any(|row| row.id <= until && is_foreign(row));
        pointed(rows, until, reads_again && !is_seen)
    }
}

/// Whether a goal was made from what strangers wrote, and from nothing of theirs since its conversation was cleaned:
/// then no prompt shows it.
pub(crate) async fn is_put_aside(
    store: &dyn Store,
    conversation: &ConversationId,
    goal: &Goal,
) -> Result<bool, AgentError> {
    if !goal.trust().is_foreign() {
        return Ok(false);
    }
    let Some(clean) = last_clean(store, conversation).await? else { return Ok(false) };
    let log = store.goal_log(conversation).await?.records;
    let mut foreign = log.iter().filter(|record| record.event.goal() == goal.id() && record.trust.is_foreign());
    Ok(foreign.all(|record| record.at_ms <= clean.at_ms))
}

async fn last_clean(store: &dyn Store, conversation: &ConversationId) -> Result<Option<SettingEvent>, AgentError> {
    Ok(store.setting_events(Some(conversation), CLEAN, 1).await?.rows.pop())
}

/// The view without digests and pins that were made from what strangers wrote up to a message, and whether a digest went. A
/// digest that a stranger's text is in may be all that is left of what the owner said: from the first one that goes on, the
/// messages are shown again, and what is said too long for the window gets a new digest, which has nothing of strangers.
fn cleaned_view(mut view: WindowView, until: MessageId) -> (WindowView, bool) {
    let goes = |digest: &Digest| digest.trust.is_foreign() && digest.last <= until;
    let first = view.digests.iter().position(goes);
    if let Some(first) = first {
        view.digests.truncate(first);
        view.through = view.digests.last().map(|digest| digest.last);
    }
    let through = view.through;
    view.pin = view.pin.filter(|pin| !pin.trust.is_foreign() && through.is_some_and(|through| pin.message <= through));
    // So short were messages to be beside what has gone.
    view.shortened = view.shortened.filter(|shortened| shortened.through >= until);
    (view, first.is_some())
}

/// Whether a stranger wrote it, or it quotes one and nobody typed it.
fn is_foreign(row: &StoredMessage) -> bool {
    // Where nobody typed it, all of it is a prompt's, with what that quoted.
    let is_prompts = row.typed.as_ref().is_none_or(String::is_empty);
    row.message.trust.is_foreign() || (is_prompts && row.message.trust_of_all().is_foreign())
}

/// Which messages up to one are put aside: what a stranger wrote, and after the first of these everything that the owner
/// did not write themselves, since it may repeat it. `tainted` says that there was one before these.
fn put_aside(rows: &[StoredMessage], until: MessageId, mut tainted: bool) -> Vec<bool> {
    let mut aside: Vec<bool> = rows
        .iter()
        .map(|row| {
            let foreign = is_foreign(row);
            tainted |= foreign && row.id <= until;
            row.id <= until && (foreign || (tainted && row.message.role != Role::User))
        })
        .collect();
    // The call of a result that is put aside goes with it, so that pairs stay whole.
    let mut results = Vec::new();
    for (row, aside) in rows.iter().zip(&mut aside).rev() {
        match &row.message.call_id {
            Some(_) => results.push(*aside),
            None => {
                let batch = std::mem::take(&mut results);
                *aside |= !row.message.calls.is_empty() && batch.contains(&true);
            }
        }
    }
    // And the other results of that call's batch.
    let mut with_call = false;
    for (row, aside) in rows.iter().zip(&mut aside) {
        match &row.message.call_id {
            Some(_) => *aside |= with_call,
            None => with_call = *aside && !row.message.calls.is_empty(),
        }
    }
    aside
}

/// The messages with one pointer in the place of each stretch that is put aside.
fn pointed(rows: Vec<StoredMessage>, until: MessageId, tainted: bool) -> Vec<StoredMessage> {
    let aside = put_aside(&rows, until, tainted);
    let mut shown: Vec<StoredMessage> = Vec::with_capacity(rows.len());
    let mut stretch: Option<(StoredMessage, MessageId)> = None;
    for (row, aside) in rows.into_iter().zip(aside) {
        if aside {
            let last = row.id;
            stretch = Some(stretch.map_or((row, last), |(first, _)| (first, last)));
            continue;
        }
        shown.extend(stretch.take().map(pointer));
        shown.push(if row.id <= until { without_quotes(row) } else { row });
    }
    shown.extend(stretch.map(pointer));
    shown
}

/// A person's message without what its prompt quoted of strangers behind it: a goal, a skill.
fn without_quotes(row: StoredMessage) -> StoredMessage {
    let quotes = row.message.trust_of_all() != row.message.trust;
    if quotes { as_typed(row) } else { row }
}

fn pointer((first, last): (StoredMessage, MessageId)) -> StoredMessage {
    let text = format!("[messages {} to {} of this conversation: put aside]", first.id.0, last.0);
    // A window that ends with it ends behind the whole stretch.
    StoredMessage {
        id: last,
        message: Message::new(Role::Assistant, text, Trust::Owner),
        typed: None,
        request: None,
        ..first
    }
}

#[cfg(test)]
mod tests;
