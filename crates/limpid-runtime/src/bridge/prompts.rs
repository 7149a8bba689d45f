//! Prompts that a client may ask for: skills, and what a coordinator behind the bridge is told.

use limpid_core::Labelled;
use limpid_mcp::serving::{LentPrompt, Refusal};
use limpid_prompt::registry::RegisteredPrompt;
use limpid_services::error::AgentError;
use limpid_services::skills::SkillStatus;
use serde_json::json;

use super::{Bridge, text_of, trouble};

/// The path of profiles whose prompt a program may take that thinks for itself.
const COORDINATOR: &str = "bridge-coordinator";

/// The prompts: those of profiles first, by the names of these.
pub(super) async fn list(bridge: &Bridge) -> Result<Vec<LentPrompt>, AgentError> {
    let profiles = bridge.agent.profiles().all()?;
    let mut prompts = Vec::new();
    for profile in profiles.iter() {
        if let Ok(path) = profile.path(COORDINATOR) {
            prompts.push(LentPrompt { name: profile.name().to_owned(), description: path.about.clone() });
        }
    }
    for skill in skills(bridge).await? {
        if prompts.iter().all(|known| known.name != skill.id()) {
            let description =
                bridge.shown(Labelled::new(skill.description().unwrap_or_default().to_owned(), skill.trust()));
            prompts.push(LentPrompt { name: skill.id(), description });
        }
    }
    Ok(prompts)
}

/// The text of one.
pub(super) async fn text(bridge: &Bridge, name: &str) -> Result<String, Refusal> {
    let profiles = bridge.agent.profiles().all().map_err(trouble)?;
    if profiles.get(name).is_ok_and(|profile| profile.path(COORDINATOR).is_ok()) {
        return coordinator(bridge, name).await.map_err(trouble);
    }
    let skills = skills(bridge).await.map_err(trouble)?;
    match skills.into_iter().find(|skill| skill.skill.name.is(name)) {
        Some(skill) => Ok(bridge.shown(Labelled::new(skill.content().to_owned(), skill.trust()))),
        None => Err(Refusal::Unknown(format!("there is no prompt `{name}`"))),
    }
}

/// What a coordinator is told that has the tools which are lent.
async fn coordinator(bridge: &Bridge, profile: &str) -> Result<String, AgentError> {
    Ok(text_of(&bridge.built(profile, COORDINATOR).await?))
}

/// The skills that are used, and that `load_skill` would give.
async fn skills(bridge: &Bridge) -> Result<Vec<RegisteredPrompt>, AgentError> {
    let listed = bridge.agent.skills().list().await?.into_iter();
    let (mut skills, judge) = (Vec::new(), bridge.judge().await?);
    for skill in listed.filter(|skill| skill.status == SkillStatus::Ready).filter_map(|skill| skill.prompt) {
        if bridge.rules_allow(&judge, "load_skill", json!({ "name": skill.id() })).await {
            skills.push(skill);
        }
    }
    Ok(skills)
}
