//! The skills of a turn: the index, and the texts that the message calls for.

use limpid_config::TextKind;
use limpid_core::{ConversationId, Trust};
use limpid_prompt::Prompt;
use limpid_prompt::inputs::{SkillsInput, UnusedSkill};
use limpid_prompt::registry::{Occasion, select};
use limpid_services::command_word::as_word;
use limpid_services::error::AgentError;
use limpid_services::skills::{ListedSkill, SkillStatus};

use crate::deps::ContextDeps;

/// The skills of a turn, and what the owner should know of theirs.
pub struct Selected {
    /// What the prompt shows.
    pub input: SkillsInput,
    /// Each skill that they expect and that is not used, to be told once a change.
    pub(crate) told: Vec<String>,
}

/// Reads the skills and chooses those that a message activates.
pub async fn selected(
    deps: &ContextDeps,
    conversation: Option<&ConversationId>,
    message: &str,
) -> Result<Selected, AgentError> {
    let list = deps.skills.list().await?;
    let chosen = match conversation {
        Some(id) => deps.store.chosen_skills(id).await?,
        None => Vec::new(),
    };
    let tools: Vec<&str> = deps.tools.names().collect();
    let ready = list.iter().filter(|skill| skill.status == SkillStatus::Ready);
    let ready = ready.filter_map(|skill| skill.prompt.as_ref());
    let mut input = select(ready, Occasion { chosen: &chosen, message, tools: &tools });
    let aside: Vec<(&ListedSkill, UnusedSkill)> =
        list.iter().filter_map(|skill| Some((skill, unused(deps, skill)?))).collect();
    // What is aside says more than that there is no skill of a chosen id.
    input.unused.retain(|unused| !aside.iter().any(|(known, _)| known.name.eq_ignore_ascii_case(&unused.name)));
    let expected = aside.iter().filter(|(skill, _)| is_expected(skill.status)).map(|(_, unused)| unused);
    let told = input.unused.iter().chain(expected);
    let told = told.map(|unused| format!("the skill {} is not used: {}", as_word(&unused.name), unused.reason));
    let told = told.collect();
    input.unused.extend(aside.into_iter().map(|(_, unused)| unused));
    clean(deps, &mut input);
    Ok(Selected { input, told })
}

/// Why a skill that was found is not used.
fn unused(deps: &ContextDeps, skill: &ListedSkill) -> Option<UnusedSkill> {
    let reason = format!("{}: {}", short(deps, &skill.location), skill.reason.as_deref()?);
    Some(UnusedSkill { name: skill.name.clone(), reason })
}

/// A path as people read it: inside the home without the home.
fn short(deps: &ContextDeps, location: &str) -> String {
    let home = format!("{}/", deps.home.path().display());
    location.strip_prefix(&home).unwrap_or(location).to_owned()
}

/// Takes known secrets out of the skills, as whoever wrote each.
fn clean(deps: &ContextDeps, input: &mut SkillsInput) {
    let clean = |text: &mut String, trust: Trust| {
        *text = deps.redactor.clean_as(TextKind::of_file(trust), std::mem::take(text));
    };
    input.index.iter_mut().for_each(|skill| clean(&mut skill.description, skill.trust.into()));
    input.active.iter_mut().for_each(|skill| clean(&mut skill.body, skill.trust.into()));
}

/// Whether the owner expects a skill to be used; what they put aside or replaced is no news to them.
const fn is_expected(status: SkillStatus) -> bool {
    matches!(status, SkillStatus::Broken | SkillStatus::Changed | SkillStatus::Awaiting)
}

/// The names that a budget took out of the index, for the person.
pub fn dropped_skills(prompt: &Prompt, input: &SkillsInput) -> Option<String> {
    let is_index = |section: &str| matches!(section, "skills" | "skill-names");
    prompt.cuts().find(|cut| is_index(&cut.section))?;
    let parts = || prompt.messages().iter().flat_map(limpid_prompt::PromptMessage::parts);
    let stands = |name: &str| {
        let origin = format!("skill:{name}");
        parts().any(|part| is_index(part.section()) && part.origin() == origin)
    };
    let dropped: Vec<&str> = input.index.iter().map(|skill| skill.name.as_str()).filter(|name| !stands(name)).collect();
    (!dropped.is_empty()).then(|| format!("not in the index for lack of room: {}", dropped.join(", ")))
}
