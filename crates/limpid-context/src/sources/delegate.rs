//! What an agent that a turn handed work to is given: its task at first, afterwards what reaches it.

use limpid_config::TextKind;
use limpid_core::agent::MOST_ROUNDS;
use limpid_core::{Role, Trust};
use limpid_prompt::Profile;
use limpid_prompt::inputs::{ActiveSkill, DelegateInput, Inputs};
use limpid_services::error::AgentError;
use limpid_services::skills::SkillStatus;
use limpid_services::tools::AgentScope;
use limpid_store::{Conversation, ConversationKind, SubAgent};

use crate::deps::ContextDeps;

/// The agent that works in a conversation, with what it is limited to.
pub(crate) async fn agent_in(
    deps: &ContextDeps,
    conversation: Option<&Conversation>,
    profile: &Profile,
) -> Result<Option<(SubAgent, AgentScope)>, AgentError> {
    let Some(conversation) = conversation.filter(|one| one.kind == ConversationKind::Run) else { return Ok(None) };
    let found = deps.store.agent_in(&conversation.id).await?;
    Ok(found.map(|agent| {
        let scope = AgentScope::new(&agent, profile);
        (agent, scope)
    }))
}

/// Fills in what an agent is given. Says how many calls of the model may use tools: the last one that it may make does not.
pub(crate) async fn fill(
    deps: &ContextDeps,
    conversation: &Conversation,
    agent: &SubAgent,
    inputs: &mut Inputs,
) -> Result<u32, AgentError> {
    let is_first = conversation.messages == 0;
    inputs.delegate = DelegateInput {
        task: if is_first { agent.new.task.clone() } else { String::new() },
        skill: skill(deps, agent).await?,
        context: agent.new.context.clone().filter(|_| is_first),
        ..DelegateInput::by(agent.new.trust.join(Trust::File).into())
    };
    let made = if is_first {
        0
    } else {
        let rows = deps.store.messages(&conversation.id, agent.message_before).await?.rows;
        rows.iter().filter(|row| row.message.role == Role::Assistant).count()
    };
    let made = u32::try_from(made).unwrap_or(u32::MAX);
    Ok(MOST_ROUNDS.saturating_sub(1).saturating_sub(made))
}

/// The skill that an agent follows.
async fn skill(deps: &ContextDeps, agent: &SubAgent) -> Result<Option<ActiveSkill>, AgentError> {
    let Some(name) = &agent.new.skill else { return Ok(None) };
    let list = deps.skills.list().await?;
    let ready = list.iter().filter(|skill| skill.status == SkillStatus::Ready);
    let found = ready.filter_map(|skill| skill.prompt.as_ref()).find(|prompt| prompt.skill.name.is(name));
    let Some(prompt) = found else {
        let why = format!("the skill `{name}` that agent {} was given is not there any more", agent.id);
        return Err(AgentError::Invalid(why));
    };
    Ok(Some(ActiveSkill {
        name: prompt.skill.name.to_string(),
        title: prompt.skill.title.clone(),
        body: deps.redactor.clean_as(TextKind::of_file(prompt.trust()), prompt.skill.body.clone()),
        files: prompt.files.clone(),
        trust: prompt.trust().into(),
        standing: false,
        version: prompt.skill.version.clone(),
    }))
}
