//! Earlier views of a conversation, shown again.

use limpid_context::{PrefixCache, window_state_of};
use limpid_core::{MessageId, Tier, WindowView};
use limpid_services::error::AgentError;
use limpid_store::{Conversation, ConversationChange, Lease, NewWindowEvent, WindowEvent};

use crate::compaction::report::CompactionReport;
use crate::compaction::scene::scene;
use crate::deps::ConversationDeps;

/// Shows a conversation as it was before the newest change of its window.
///
/// # Errors
/// When there is nothing to undo, or the store fails.
pub(crate) async fn undo_compaction(deps: &ConversationDeps, lease: &Lease) -> Result<CompactionReport, AgentError> {
    let conversation = deps.directory.existing(&lease.conversation).await?;
    let events = deps.store().window_events(&conversation.id, u32::MAX).await?.rows;
    let earlier = undone(&events).ok_or_else(|| AgentError::Invalid("there is no compaction to undo".to_owned()))?;
    restore_view(deps, lease, conversation, "undo", earlier).await
}

/// Goes back to a snapshot: the same messages are shown, the same digests and goals, and mode and tier are the same. What
/// was said since stays in the store and is not shown; decisions that were locked since stand.
///
/// # Errors
/// When there is no such snapshot, its goal does not fit the prompt any more, or the store fails.
pub(crate) async fn restore_snapshot(
    deps: &ConversationDeps,
    lease: &Lease,
    snapshot: i64,
) -> Result<CompactionReport, AgentError> {
    let conversation = deps.directory.existing(&lease.conversation).await?;
    let kept = deps.store().kept_snapshots(&conversation.id).await?.rows;
    let kept = kept.into_iter().find(|kept| kept.id == snapshot).ok_or_else(|| AgentError::NotFound {
        what: "snapshot",
        name: snapshot.to_string(),
        advice: "`limpid conversation context` lists them".to_owned(),
    })?;
    let mut view = kept.kept.view;
    let newest = deps.store().last_message(&conversation.id).await?.map(|row| row.id);
    if let Some(newest) = newest.filter(|newest| Some(*newest) > kept.kept.newest) {
        view.hidden.push((MessageId(kept.kept.newest.map_or(0, |id| id.0) + 1), newest));
    }
    if let Some(records) = kept.kept.goals {
        let tier = kept.kept.tier.and_then(Tier::new).or_else(|| window_state_of(Some(&conversation)).tier());
        deps.context.goals.restore(&conversation.id, records, tier.unwrap_or(Tier::ALL[2])).await?;
    }
    let mut session = PrefixCache::of(&conversation).with_prefix_reset();
    session.window_state.go_back(kept.kept.tier.and_then(Tier::new));
    let changes = vec![ConversationChange::Mode(kept.kept.mode), ConversationChange::Session(Some(session.to_text()))];
    deps.store().change_conversation(&conversation.id, changes, deps.host().now_ms()).await?;
    restore_view(deps, lease, conversation, "restore", view).await
}

/// Shows an earlier view again. Compactions go on counting, so that no digest gets the number of another.
async fn restore_view(
    deps: &ConversationDeps,
    lease: &Lease,
    conversation: Conversation,
    kind: &str,
    earlier: WindowView,
) -> Result<CompactionReport, AgentError> {
    let now = deps.store().window(&conversation.id).await?;
    let before = scene(deps, conversation.clone()).await?.size.conversation();
    let view = WindowView { compactions: now.compactions.max(earlier.compactions), ..earlier };
    let newest = deps.store().last_message(&conversation.id).await?.map(|row| row.id);
    let event = NewWindowEvent {
        kind: kind.to_owned(),
        newest,
        before: before as u64,
        after: before as u64,
        steps: Vec::new(),
        view: Some(view),
        failure: None,
    };
    let mut written = deps.store().write_window(lease, event, deps.host().now_ms()).await?;
    written.new.after = scene(deps, conversation).await?.size.conversation() as u64;
    Ok(CompactionReport::of(&written))
}

/// The view before the newest change that no undo has taken back.
fn undone(events: &[WindowEvent]) -> Option<WindowView> {
    let mut views = events.iter().filter(|event| event.new.view.is_some()).peekable();
    let mut skip = 0;
    while let Some(event) = views.next() {
        if event.new.kind == "undo" {
            skip += 1;
        } else if skip > 0 {
            skip -= 1;
        } else {
            // Walk on to the view that was shown before this one: undone pairs between them cancel out.
            let mut skip = 0;
            for earlier in views {
                match earlier.new.kind.as_str() {
                    "undo" => skip += 1,
                    _ if skip > 0 => skip -= 1,
                    _ => return earlier.new.view.clone(),
                }
            }
            return Some(WindowView::default());
        }
    }
    None
}
