//! Conversations that others read too: what the agent remembers of its owner stays out of them.

use limpid_core::ConversationId;
use limpid_services::error::AgentError;
use limpid_services::modes::manual;
use limpid_store::{Audience, ConversationChange};

use crate::deps::ConversationDeps;
use crate::settings::outcome::ChangeOutcome;

/// Says who reads a conversation.
pub(super) async fn set_audience(
    deps: &ConversationDeps,
    id: &ConversationId,
    audience: Audience,
) -> Result<ChangeOutcome, AgentError> {
    if deps.directory.existing(id).await?.audience == audience {
        return Ok(ChangeOutcome::Unchanged);
    }
    let on = if audience == Audience::Group { "on" } else { "off" };
    let event = manual("group", Some(on.to_owned()));
    let change = vec![ConversationChange::Audience(audience)];
    deps.store().set_in_conversation(id, change, vec![event], deps.host().now_ms()).await?;
    Ok(ChangeOutcome::Applied(String::new()))
}
