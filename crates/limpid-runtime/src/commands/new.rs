//! `/new`.

use async_trait::async_trait;
use limpid_conversation::ChatRequest;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Begins another conversation; the one before stays as it is.
pub(crate) struct New;

#[async_trait]
impl SlashCommand for New {
    fn name(&self) -> &'static str {
        "new"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["clear"]
    }

    fn help(&self) -> &'static str {
        "Begin a new conversation; this one is kept"
    }

    async fn run(&self, context: &CommandContext<'_>, _arguments: &str) -> Result<SlashReply, AgentError> {
        let conversation = ConversationChoice::New;
        let made = context
            .agent
            .conversations()
            .conversation_for(&ChatRequest { conversation, ..ChatRequest::default() })
            .await?;
        let kept = match &context.conversation {
            Some(old) if old.messages > 0 => format!(" The one before is kept as {}.", old.id),
            _ => String::new(),
        };
        Ok(context.says(format!("A new conversation.{kept}")).after(&made, &["conversation"]))
    }
}
