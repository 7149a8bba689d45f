//! Conversations that others read too: what the agent remembers of its owner stays out of them.

use limpid_core::ConversationId;
use limpid_services::error::AgentError;
use limpid_services::modes::manual;
use limpid_store::{AgentFilter, Audience, ConversationChange};

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
    deps.store().set_in_conversation(id, change.clone(), vec![event], deps.host().now_ms()).await?;
    // What its agents come to is read here too.
    for agent in deps.store().agents(AgentFilter { chat: Some(id.clone()), ..AgentFilter::default() }).await?.rows {
        if let Some(own) = deps.store().conversation(&agent.works_in()).await? {
            deps.store().change_conversation(&own.id, change.clone(), own.updated_ms).await?;
        }
    }
    Ok(ChangeOutcome::Applied(String::new()))
}
