//! `/new`.

use async_trait::async_trait;
use limpid_conversation::ChatRequest;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_store::Audience;

use crate::commands::group::OTHERS_READ;
use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// The kind of conversation whose answers are screens.
const INTERACTIVE: &str = "interactive";

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

    fn arguments(&self) -> &'static str {
        "[interactive]"
    }

    fn help(&self) -> &'static str {
        "Begin a new conversation; this one is kept. In an `interactive` one each answer is a screen"
    }

    async fn words(&self, _context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        Ok(if before.is_empty() { vec![INTERACTIVE.to_owned()] } else { Vec::new() })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let interactive = match arguments {
            "" => false,
            INTERACTIVE => true,
            other => {
                return Err(AgentError::Invalid(format!(
                    "/new does not know `{other}`; write /new or /new interactive"
                )));
            }
        };
        let conversation = ConversationChoice::New;
        // Whoever reads this one reads on in the next.
        let others_read = context.conversation.as_ref().is_some_and(|old| old.audience == Audience::Group);
        let made = context
            .agent
            .conversations()
            .conversation_for(&ChatRequest { conversation, interactive, others_read, ..ChatRequest::default() })
            .await?;
        let kept = match &context.conversation {
            Some(old) if old.messages > 0 => format!(" The one before is kept as {}.", old.id),
            _ => String::new(),
        };
        let new = if interactive { "A new interactive conversation." } else { "A new conversation." };
        let read = if others_read { format!(" {OTHERS_READ}") } else { String::new() };
        Ok(context.says(format!("{new}{kept}{read}")).after(&made, &["conversation"]))
    }
}
