//! `/profile`.

use async_trait::async_trait;
use limpid_conversation::ChatRequest;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

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

    async fn words(&self, context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        if before.is_empty() { names(context) } else { Ok(Vec::new()) }
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        if arguments.is_empty() {
            let own = context.conversation.as_ref().map(|conversation| conversation.profile.as_str());
            let own = own.unwrap_or(&context.agent.config().agent.profile);
            return Ok(context.says(format!("The profile is {own}. There are: {}.", names(context)?.join(", "))));
        }
        let request = ChatRequest { profile: Some(arguments.to_owned()), ..ChatRequest::default() };
        let changed = context.change(request).await?;
        Ok(context.says(format!("The profile is {arguments} from the next message on.")).after(&changed, &["profile"]))
    }
}

fn names(context: &CommandContext<'_>) -> Result<Vec<String>, AgentError> {
    Ok(context.agent.profiles().all()?.iter().map(|profile| profile.name().to_owned()).collect())
}
