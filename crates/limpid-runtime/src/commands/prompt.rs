//! `/prompt`.

use async_trait::async_trait;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};
use crate::preview::{Preview, PreviewRequest};

/// Shows what the next message would send.
pub(crate) struct Prompt;

#[async_trait]
impl SlashCommand for Prompt {
    fn name(&self) -> &'static str {
        "prompt"
    }

    fn arguments(&self) -> &'static str {
        "[text | payload]"
    }

    fn help(&self) -> &'static str {
        "Show the sections of the next prompt with their sizes, its text, or the bytes that would leave"
    }

    async fn words(&self, _context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let words: &[&str] = if before.is_empty() { &["text", "payload"] } else { &[] };
        Ok(words.iter().map(|word| (*word).to_owned()).collect())
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let known = context.conversation.as_ref().map(|conversation| conversation.id.clone());
        let conversation = known.map_or(ConversationChoice::New, ConversationChoice::Id);
        let request = PreviewRequest { conversation, ..PreviewRequest::default() };
        let Preview { prompt, payload, since, .. } = context.agent.preview(request).await?;
        let text = match (arguments, payload) {
            ("", _) => {
                let since = since.map(|since| since.to_string()).unwrap_or_default();
                format!("{}{since}", prompt.explain())
            }
            ("text", _) => prompt.to_text(),
            ("payload", Some(payload)) => format!("{}\n{}", payload.target, payload.body),
            ("payload", None) => return Err(AgentError::Invalid("there is no model that it could go to".to_owned())),
            (other, _) => {
                let wrong = format!("/prompt does not know `{other}`; write /prompt, /prompt text or /prompt payload");
                return Err(AgentError::Invalid(wrong));
            }
        };
        Ok(context.says(text.trim_end()))
    }
}
