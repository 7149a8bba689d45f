//! Answers that broke off, or never began: how their turn ended says that what stands in the conversation is not whole.

use std::collections::BTreeMap;

use limpid_core::MessageId;
use limpid_services::error::AgentError;
use limpid_store::{Store, StoredMessage, TurnOutcome};

/// Why turns that failed or were stopped have no whole answer, by their last message.
///
/// # Errors
/// When the store cannot be read.
pub(super) async fn incomplete(
    store: &dyn Store,
    messages: &[StoredMessage],
) -> Result<BTreeMap<MessageId, String>, AgentError> {
    let last_of_turn = messages.chunk_by(|one, next| one.turn == next.turn).filter_map(<[StoredMessage]>::last);
    let mut found = BTreeMap::new();
    for stored in last_of_turn {
        let end = store.turn(&stored.turn).await?.and_then(|turn| turn.end);
        match end.map(|end| (end.outcome, end.detail)) {
            Some((TurnOutcome::Failed, detail)) => drop(found.insert(stored.id, detail)),
            Some((TurnOutcome::Cancelled, _)) => drop(found.insert(stored.id, "it was stopped".to_owned())),
            Some((TurnOutcome::Answered, _)) | None => {}
        }
    }
    Ok(found)
}
