//! A smaller view, written down before the request that needs it leaves.

use limpid_context::{History, SmallerView};
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_store::{Lease, NewWindowEvent};

use crate::compaction::snapshot::save_automatic;
use crate::deps::ConversationDeps;

/// Saves a snapshot, then shows less of the conversation from here on.
pub(crate) async fn show_less(deps: &ConversationDeps, lease: &Lease, smaller: SmallerView) -> Result<(), AgentError> {
    let SmallerView { view, is_rollover, before, after, steps, newest, was: (earlier, stored) } = smaller;
    let conversation = deps.directory.existing(&lease.conversation).await?;
    let past = History::read(deps.store(), &conversation, &mut Vec::new()).await?;
    save_automatic(deps, &conversation, &past, (stored, earlier), "before shortening").await?;
    let event = NewWindowEvent {
        kind: if is_rollover { "rollover" } else { "emergency" }.to_owned(),
        newest,
        before: before as u64,
        after: after as u64,
        steps: steps.clone(),
        view: Some(view),
        failure: None,
    };
    deps.store().write_window(lease, event, deps.host().now_ms()).await?;
    deps.events.send(Some(&lease.conversation), EventKind::CompactionFinished { before, after, steps });
    Ok(())
}
