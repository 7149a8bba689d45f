//! The skills that every turn of a conversation has.

use limpid_context::selected_skills;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;

use crate::deps::ConversationDeps;

/// What choosing skills came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The skills that every turn of the conversation has, in order.
    pub active: Vec<String>,
    /// Chosen ones that are not used, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Chooses the skills that every turn of a conversation has, in this order, in place of those chosen before. One that
/// was chosen before and exists no longer stays chosen, and is used as soon as it does.
///
/// # Errors
/// When there is no such conversation, or no such skill; then those chosen before stay.
pub(crate) async fn use_skills(
    deps: &ConversationDeps,
    conversation: &ConversationChoice,
    names: Vec<String>,
) -> Result<Chosen, AgentError> {
    let none = || AgentError::Invalid("there is no conversation yet; say something first".to_owned());
    let conversation = deps.directory.find(conversation).await?.ok_or_else(none)?;
    let before = deps.store().chosen_skills(&conversation.id).await?;
    let known = deps.context.skills.list().await?;
    let is_known = |name: &&String| {
        let mut there = known.iter().map(|skill| &skill.name).chain(&before);
        there.any(|other| other.eq_ignore_ascii_case(name))
    };
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let kept =
            if before.is_empty() { "none was chosen".to_owned() } else { format!("{} stay chosen", before.join(", ")) };
        return Err(AgentError::Invalid(format!(
            "there is no skill `{unknown}`, so nothing was changed ({kept}); `limpid skill list` names them"
        )));
    }
    deps.store().choose_skills(&conversation.id, names.clone()).await?;
    let input = selected_skills(&deps.context, Some(&conversation.id), "").await?.input;
    let active: Vec<String> = input.active.iter().map(|skill| skill.name.clone()).collect();
    deps.context.skills.publish_active(&conversation.id, active.clone()).await?;
    let is_chosen = |name: &str| names.iter().any(|chosen| chosen.eq_ignore_ascii_case(name));
    let left_out = input.unused.into_iter().filter(|unused| is_chosen(&unused.name));
    Ok(Chosen { active, left_out: left_out.map(|unused| (unused.name, unused.reason)).collect() })
}
