//! `/stop`.

use async_trait::async_trait;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Stops the answer that is under way.
pub(crate) struct Stop;

#[async_trait]
impl SlashCommand for Stop {
    fn name(&self) -> &'static str {
        "stop"
    }

    fn help(&self) -> &'static str {
        "Stop the answer that is under way; what was said so far is kept"
    }

    async fn run(&self, context: &CommandContext<'_>, _arguments: &str) -> Result<SlashReply, AgentError> {
        let told = match &context.conversation {
            Some(conversation) => context.agent.conversations().cancel(&conversation.id),
            None => false,
        };
        let mut reply = context.says(if told { "Stopped." } else { "Nothing is under way." });
        reply.changed.extend(told.then_some("turn"));
        Ok(reply)
    }
}
