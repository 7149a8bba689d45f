//! A conversation between two turns, as a compaction and a report find it.

use limpid_context::{BuiltContext, History, Measure, Occasion, window_state_of};
use limpid_core::Role;
use limpid_services::error::AgentError;
use limpid_services::models::{ModelRegistry, Models};
use limpid_store::{Conversation, Lease};
use limpid_turn::window::ContextSize;

use crate::deps::ConversationDeps;

/// A conversation between two turns: what the next request would be made from.
pub(crate) struct Scene {
    pub(crate) conversation: Conversation,
    /// Who answers it, and who does in their place.
    pub(crate) models: Models,
    pub(crate) measure: Measure,
    pub(crate) history: History,
    pub(crate) size: ContextSize,
}

/// Reads what the next request of a conversation would be made from, without a new message.
pub(crate) async fn scene(deps: &ConversationDeps, conversation: Conversation) -> Result<Scene, AgentError> {
    let mut models =
        deps.context.models.for_turn(deps.context.wanted_model(Some(&conversation)).await.as_deref()).await?;
    let (mode, window) = (deps.modes.of(&conversation), window_state_of(Some(&conversation)));
    let occasion = Occasion::between_turns(&conversation, mode, models[0].info(), &window, deps.host().now());
    let BuiltContext { gathered, card, measure, size, .. } = limpid_context::build(&deps.context, occasion).await?;
    models[0] = ModelRegistry::resized(&models[0], &card);
    Ok(Scene { conversation, models, measure, history: gathered.history, size })
}

/// Whether the last thing that was said is a whole answer.
pub(crate) fn is_complete(past: &History) -> bool {
    past.entries.last().is_some_and(|last| last.message.role == Role::Assistant && last.message.calls.is_empty())
}

/// Whether a compaction was tried since the newest message: at most one an answer.
pub(super) async fn was_tried(deps: &ConversationDeps, lease: &Lease, past: &History) -> Result<bool, AgentError> {
    let newest = past.entries.last().map(|entry| entry.id);
    let last = deps.store().window_events(&lease.conversation, 1).await?.rows.into_iter().next();
    Ok(last.is_some_and(|last| last.new.newest == newest))
}
