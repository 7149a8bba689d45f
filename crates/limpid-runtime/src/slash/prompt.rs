//! `/prompt`.

use async_trait::async_trait;
use limpid_prompt::show::SYSTEM_TARGET;

use super::{Scene, SlashCommand, SlashReply};
use crate::chat::ConversationChoice;
use crate::error::AgentError;
use crate::preview::PreviewRequest;

/// Shows what the next message would send (OLLM-114).
pub(super) struct Prompt;

#[async_trait]
impl SlashCommand for Prompt {
    fn name(&self) -> &'static str {
        "prompt"
    }

    fn arguments(&self) -> &'static str {
        "[text]"
    }

    fn help(&self) -> &'static str {
        "Show the sections of the next prompt with their sizes, or its text"
    }

    async fn words(&self, _scene: &Scene<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        Ok(if before.is_empty() { vec!["text".to_owned()] } else { Vec::new() })
    }

    async fn run(&self, scene: &Scene<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let known = scene.conversation.as_ref().map(|conversation| conversation.id.clone());
        let conversation = known.map_or(ConversationChoice::New, ConversationChoice::Id);
        let request = PreviewRequest { conversation, ..PreviewRequest::default() };
        let prompt = scene.agent.prompt_preview(request).await?;
        let text = match arguments {
            "" => prompt.explain(SYSTEM_TARGET),
            "text" => prompt.to_text(),
            other => return Err(AgentError::Invalid(format!("/prompt does not know `{other}`; write /prompt text"))),
        };
        Ok(scene.says(text.trim_end()))
    }
}
