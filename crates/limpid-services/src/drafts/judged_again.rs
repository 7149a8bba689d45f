//! Drafts whose call is judged once more when its turn is over: with other arguments, or because what it is bound to has changed.

use std::sync::Arc;

use limpid_core::ToolCall;
use limpid_store::{Draft, DraftEdit, DraftId, SubAgent};
use limpid_turn::{PlannedCall, Why};

use crate::drafts::{Drafts, missing};
use crate::error::AgentError;
use crate::tools::{CallContext, CallDescription, Decision, changes, told_in};

/// Puts other arguments into a draft.
pub(super) async fn edit(drafts: &Drafts, id: DraftId, arguments: &str) -> Result<Draft, AgentError> {
    drafts.expire_and_recover().await?;
    let parts = &drafts.0;
    let draft = parts.store.draft(id).await?.ok_or_else(|| missing(id))?;
    let arguments = parts.redactor.clean(arguments.trim().to_owned());
    let call = ToolCall { id: draft.new.call.clone(), name: draft.new.tool.clone(), arguments };
    let tools = parts.executor.outside_turns();
    let call = tools.as_run(&call, draft.new.trust);
    let planned = PlannedCall {
        call: call.clone(),
        timeout: parts.tools.time_limit(&draft.new.tool, &parts.config.limits),
        approved: None,
    };
    let call_context = call_context(&draft);
    let why = match tools.decide(&planned, &call_context, parts.host.now_ms()).await {
        Decision::Ask(why) => why,
        Decision::Run(permit) => tools.question(*permit, &call_context).await,
        Decision::Refused(why) => return Err(AgentError::Invalid(why.into_text())),
    };
    let gone = || AgentError::Invalid(format!("there is no tool `{}` any more", call.name));
    let described = tools.describe(&call, &call_context).await.ok_or_else(gone)?;
    let edit = edit_of(drafts, &draft, (call, why, described), "edited".to_owned()).await?;
    Ok(drafts.announce(parts.store.change_draft(id, edit, parts.host.now_ms()).await?))
}

/// Binds a draft to what is there now: it waits again, and says what has changed.
pub(super) async fn put_again(
    drafts: &Drafts,
    draft: &Draft,
    call: ToolCall,
    why: Why,
    described: CallDescription,
) -> Result<Draft, AgentError> {
    let moved = changes(&draft.new.hash, &why.bound_to);
    let detail = format!("not run: since it was kept, {moved}; look again, and approve it as it is now");
    let edit = edit_of(drafts, draft, (call, why, described), detail).await?;
    Ok(drafts.announce(drafts.0.store.change_draft(draft.id, edit, drafts.0.host.now_ms()).await?))
}

/// A draft as its call is now: all that a question of it shows is made anew, and whose call it is stays said.
async fn edit_of(
    drafts: &Drafts,
    draft: &Draft,
    (call, why, described): (ToolCall, Why, CallDescription),
    detail: String,
) -> Result<DraftEdit, AgentError> {
    let agent = drafts.0.store.agent_in(&draft.new.conversation).await?;
    let CallDescription { destination, folder, .. } = described;
    let Why { reason, about, bound_to } = why;
    let why = agent.map_or_else(|| reason.clone(), |agent| asked_by(&agent, &reason));
    Ok(DraftEdit { arguments: call.arguments, about, hash: bound_to, folder, destination, why, detail })
}

/// What a draft is judged by: the conversation that it comes from, what it told of the owner's when it was kept, and nothing that was
/// allowed there. Of the window nothing else is known, so it counts as private. Words that the owner puts into it are theirs to tell.
pub(super) fn call_context(draft: &Draft) -> CallContext {
    let owners_words = Arc::new(told_in(&draft.new.hash));
    let conversation = Some(draft.new.conversation.clone());
    CallContext { conversation, owners_words, ..CallContext::of(draft.new.trust) }
}

/// Why a call of an agent waits: the owner is told whose call it is. The name of a task that a stranger had a part in is left out, since
/// these are Limpid's own words.
pub fn asked_by(agent: &SubAgent, reason: &str) -> String {
    let label = agent.new.label_of_ours().map(|label| format!(" ({label})")).unwrap_or_default();
    format!("agent {}{label} asks: {reason}", agent.id)
}
