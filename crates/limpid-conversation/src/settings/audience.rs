//! Conversations that others read too: what the agent remembers of its owner stays out of them.

use std::collections::BTreeSet;

use limpid_core::ConversationId;
use limpid_services::directory::conversation_of_run;
use limpid_services::error::AgentError;
use limpid_services::modes::manual;
use limpid_store::{AgentFilter, Audience, ConversationChange, Lease, SubAgent};

use crate::delivery::deliver_waiting;
use crate::deps::ConversationDeps;
use crate::settings::outcome::ChangeOutcome;

/// Says who reads a conversation. What is on its way to it is told first: its words were chosen for whoever reads it until then.
pub(super) async fn set_audience(
    deps: &ConversationDeps,
    lease: &Lease,
    audience: Audience,
) -> Result<ChangeOutcome, AgentError> {
    let id = &lease.conversation;
    if deps.directory.existing(id).await?.audience == audience {
        return Ok(ChangeOutcome::Unchanged);
    }
    while deliver_waiting(deps, lease).await? {}
    let on = if audience == Audience::Group { "on" } else { "off" };
    let event = manual("group", Some(on.to_owned()));
    let change = vec![ConversationChange::Audience(audience)];
    deps.store().set_in_conversation(id, change.clone(), vec![event], deps.host().now_ms()).await?;
    // What its agents and its runs come to is read here too.
    let runs = runs_for(deps, id).await?;
    for chat in std::iter::once(id).chain(&runs) {
        let agents =
            deps.store().agents(AgentFilter { chat: Some(chat.clone()), ..AgentFilter::default() }).await?.rows;
        let places = agents.iter().map(SubAgent::works_in).chain((chat != id).then(|| chat.clone()));
        for place in places {
            if let Some(own) = deps.store().conversation(&place).await? {
                deps.store().change_conversation(&own.id, change.clone(), own.updated_ms).await?;
            }
        }
    }
    Ok(ChangeOutcome::Applied(String::new()))
}

/// The conversations of runs that are not over and report to a chat: those of its tasks, and the heartbeat's.
async fn runs_for(deps: &ConversationDeps, id: &ConversationId) -> Result<BTreeSet<ConversationId>, AgentError> {
    let reports = deps.directory.reports_id();
    let tasks = deps.store().tasks(None).await?.rows.into_iter();
    let own = tasks.filter(|task| task.new.conversation.as_ref().unwrap_or(&reports) == id);
    let mut keys: Vec<String> = own.map(|task| format!("task-{}-", task.id)).collect();
    if *id == reports {
        keys.extend(deps.store().heartbeat().await?.running.map(|running| running.key));
    }
    let begins: Vec<ConversationId> = keys.iter().map(|key| conversation_of_run(key)).collect();
    let turns = deps.store().unfinished_turns().await?.rows.into_iter().map(|turn| turn.conversation);
    // A run that waits for its agents has no turn.
    let open = AgentFilter { open: true, ..AgentFilter::default() };
    let waiting = deps.store().agents(open).await?.rows.into_iter().map(|agent| agent.chat);
    Ok(turns.chain(waiting).filter(|run| begins.iter().any(|begin| run.as_str().starts_with(begin.as_str()))).collect())
}
