//! `/clean`.

use async_trait::async_trait;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Puts aside what strangers wrote.
pub(crate) struct Clean;

#[async_trait]
impl SlashCommand for Clean {
    fn name(&self) -> &'static str {
        "clean"
    }

    fn help(&self) -> &'static str {
        "Go on with your own words and files only; what strangers wrote is put aside, not deleted"
    }

    async fn run(&self, context: &CommandContext<'_>, _arguments: &str) -> Result<SlashReply, AgentError> {
        let aside = match &context.conversation {
            Some(conversation) => {
                context.agent.conversations().clean(&ConversationChoice::Id(conversation.id.clone())).await?
            }
            None => 0,
        };
        let mut reply = match aside {
            0 => context.says("Nothing that a stranger wrote is in this conversation."),
            1 => context.says("One message is put aside from the next message on."),
            count => context.says(format!("{count} messages are put aside from the next message on.")),
        };
        reply.changed.extend((aside > 0).then_some("conversation"));
        Ok(reply)
    }
}
