//! `/profile`.

use async_trait::async_trait;
use limpid_conversation::ChatRequest;
use limpid_services::error::AgentError;

use crate::commands::{Scene, SlashCommand, SlashReply};

/// Shows the profile, or goes on with another.
pub(crate) struct Profile;

#[async_trait]
impl SlashCommand for Profile {
    fn name(&self) -> &'static str {
        "profile"
    }

    fn arguments(&self) -> &'static str {
        "[NAME]"
    }

    fn help(&self) -> &'static str {
        "Show the profile, or go on with another"
    }

    async fn words(&self, scene: &Scene<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        if before.is_empty() { names(scene) } else { Ok(Vec::new()) }
    }

    async fn run(&self, scene: &Scene<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        if arguments.is_empty() {
            let own = scene.conversation.as_ref().map(|conversation| conversation.profile.as_str());
            let own = own.unwrap_or(&scene.agent.config().agent.profile);
            return Ok(scene.says(format!("The profile is {own}. There are: {}.", names(scene)?.join(", "))));
        }
        let request = ChatRequest { profile: Some(arguments.to_owned()), ..ChatRequest::default() };
        let changed = scene.change(request).await?;
        Ok(scene.says(format!("The profile is {arguments} from the next message on.")).after(&changed, &["profile"]))
    }
}

fn names(scene: &Scene<'_>) -> Result<Vec<String>, AgentError> {
    Ok(scene.agent.profiles().all()?.iter().map(|profile| profile.name().to_owned()).collect())
}
