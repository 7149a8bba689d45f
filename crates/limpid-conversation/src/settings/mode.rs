//! Another mode of a conversation.

use limpid_context::PrefixCache;
use limpid_core::ConversationId;
use limpid_core::mode::{Suggestion, Trigger};
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_services::modes::switch_event;
use limpid_store::{Conversation, ConversationChange, Inbound};

use crate::deps::ConversationDeps;
use crate::settings::outcome::ChangeOutcome;
use crate::settings::window::rebuild;

/// Switches the mode: the tier stays, the prompt is made anew, then the events are sent.
pub(super) async fn switch_mode(
    deps: &ConversationDeps,
    id: &ConversationId,
    to: &str,
    trigger: Trigger,
    confidence: Option<u8>,
) -> Result<ChangeOutcome, AgentError> {
    let conversation = deps.directory.existing(id).await?;
    let from = deps.modes.of(&conversation).to_owned();
    deps.modes.may_switch(&conversation, to).await?;
    if from == to {
        return Ok(ChangeOutcome::Unchanged);
    }
    let mut session = PrefixCache::of(&conversation);
    let switched = Conversation { mode: Some(to.to_owned()), ..conversation };
    let changes = rebuild(deps, &switched, &mut session.window_state).await?;
    let event = switch_event(&from, to, trigger, confidence);
    let kept =
        vec![ConversationChange::Mode(Some(to.to_owned())), ConversationChange::Session(Some(session.to_text()))];
    deps.store().set_in_conversation(id, kept, vec![event], deps.host().now_ms()).await?;
    let trigger = trigger.as_str().to_owned();
    deps.events.send(Some(id), EventKind::ModeChanged { from: from.clone(), to: to.to_owned(), trigger });
    changes.into_iter().for_each(|change| deps.events.send(Some(id), change));
    Ok(ChangeOutcome::Applied(from))
}

/// Suggests the mode that a message sounds like, or switches to it when the owner wants that. Returns what the person is
/// told. Nothing streams: the turn that answers the message has not begun.
pub(crate) async fn suggest_mode(
    deps: &ConversationDeps,
    conversation: &Conversation,
    newest: &Inbound,
) -> Result<Option<String>, AgentError> {
    let Some(suggestion) = deps.modes.suggest(conversation, newest).await? else { return Ok(None) };
    if !deps.config().modes.auto {
        return Ok(Some(deps.modes.record_suggestion(&conversation.id, &suggestion).await?));
    }
    let Suggestion { target, reason, confidence } = &suggestion;
    let switched = switch_mode(deps, &conversation.id, target, suggestion.trigger(), Some(*confidence)).await?;
    Ok(match switched {
        ChangeOutcome::Applied(from) => {
            Some(format!("the mode is {target} for this ({reason}); back with /mode {from}"))
        }
        ChangeOutcome::Unchanged | ChangeOutcome::Deferred => None,
    })
}
