//! The conversation that a message goes to.

use limpid_core::mode::Trigger;
use limpid_core::{Labelled, Tier};
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::profiles::Reader;
use limpid_services::ui::may_be_interactive;
use limpid_store::{Audience, Conversation, ConversationChange, ConversationKind};

use super::request::ChatRequest;
use crate::deps::ConversationDeps;
use crate::settings::Change;

/// Milliseconds within which a message that began a conversation may be delivered again.
const DELIVERED_AGAIN_MS: i64 = 24 * 60 * 60 * 1000;

/// A message that began a conversation and is delivered again means that one. The same key with other words is another message.
pub(super) async fn find_begun(
    deps: &ConversationDeps,
    request: &mut ChatRequest,
    newest: &Labelled<String>,
    handed_in: Option<&Labelled<String>>,
) -> Result<(), AgentError> {
    let Some(key) = request.key.as_deref().filter(|_| request.begins_with_key()) else { return Ok(()) };
    let handed_in = handed_in.map(|text| text.value().as_str());
    let begun =
        deps.store().begun_by(key, newest.value(), handed_in, deps.host().now_ms() - DELIVERED_AGAIN_MS).await?;
    if let Some(begun) = begun {
        request.conversation = ConversationChoice::Id(begun);
    }
    Ok(())
}

/// The conversation of a request, made or changed as it says, and the mode that its actor is to switch to. Everything is
/// checked before anything is written.
pub(super) async fn choose(
    deps: &ConversationDeps,
    request: &ChatRequest,
) -> Result<(Conversation, Option<Change>), AgentError> {
    let found = deps.directory.find(&request.conversation).await?;
    let kept = |field: fn(&Conversation) -> Option<String>| found.as_ref().and_then(field);
    let profile = request.profile.clone().or_else(|| kept(|found| Some(found.profile.clone())));
    let profile = profile.unwrap_or_else(|| deps.config().agent.profile.clone());
    let mode = request.mode.clone().or_else(|| kept(|found| found.mode.clone()));
    let model = request.model.clone().or_else(|| kept(|found| found.model.clone()));
    check_profile(deps, &profile, mode.as_deref(), request.path.as_deref())?;
    let chosen = deps.context.models.choose(model.as_deref()).await?;
    let kind = match (&found, request.interactive) {
        (Some(found), _) => found.kind,
        (None, true) => ConversationKind::Interactive,
        (None, false) => ConversationKind::Chat,
    };
    if kind == ConversationKind::Interactive {
        may_be_interactive(chosen.info(), &*deps.context.profiles.profile(&profile, Reader::Owner)?)?;
    }

    let now_ms = deps.host().now_ms();
    let Some(found) = found else {
        let audience = if request.others_read { Audience::Group } else { Audience::Owner };
        let made = deps.directory.create(kind, profile, mode, model, audience).await?;
        let Some(effort) = request.effort else { return Ok((made, None)) };
        let change = vec![ConversationChange::Effort(Some(effort))];
        return Ok((deps.store().change_conversation(&made.id, change, now_ms).await?, None));
    };
    let to = request.mode.clone().filter(|to| *to != deps.modes.of(&found));
    if let Some(to) = &to {
        deps.modes.may_switch(&found, to).await?;
    }
    let mut changes = Vec::new();
    if found.profile != profile {
        changes.push(ConversationChange::Profile(profile));
    }
    if found.model != model {
        changes.push(ConversationChange::Model(model));
    }
    if request.effort.is_some() && found.effort != request.effort {
        changes.push(ConversationChange::Effort(request.effort));
    }
    let changed = match changes.is_empty() {
        true => found,
        false => deps.store().change_conversation(&found.id, changes, now_ms).await?,
    };
    let change = to.map(|to| Change::Mode { to, trigger: Trigger::Manual, confidence: None });
    Ok((changed, change))
}

fn check_profile(
    deps: &ConversationDeps,
    profile: &str,
    mode: Option<&str>,
    path: Option<&str>,
) -> Result<(), AgentError> {
    let profile = deps.context.profiles.profile(profile, Reader::Owner)?;
    if let Some(mode) = mode {
        profile.mode(mode, Tier::ALL[2]).map_err(|error| AgentError::Invalid(error.to_string()))?;
    }
    if let Some(path) = path {
        profile.path(path).map_err(|error| AgentError::Invalid(error.to_string()))?;
    }
    Ok(())
}
