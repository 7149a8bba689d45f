//! `/context`.

use async_trait::async_trait;

use super::{Scene, SlashCommand, SlashReply};
use crate::chat::ConversationChoice;
use crate::error::AgentError;
use crate::preview::PreviewRequest;

/// Shows how full the window is.
pub(super) struct Context;

#[async_trait]
impl SlashCommand for Context {
    fn name(&self) -> &'static str {
        "context"
    }

    fn help(&self) -> &'static str {
        "Show how full the window is"
    }

    async fn run(&self, scene: &Scene<'_>, _arguments: &str) -> Result<SlashReply, AgentError> {
        let own = scene.conversation.as_ref();
        let wanted = own.and_then(|conversation| conversation.model.as_deref());
        let card = scene.inner().shelf.choose(wanted).await?.info().clone();
        let known = own.map(|conversation| conversation.id.clone());
        let conversation = known.map_or(ConversationChoice::New, ConversationChoice::Id);
        let request = PreviewRequest { conversation, ..PreviewRequest::default() };
        let prompt = scene.agent.prompt_preview(request).await?;
        let used = prompt.totals().map_or(0, |totals| totals.total);
        let messages = own.map_or(0, |conversation| conversation.messages);
        let window = match card.usable_window {
            Some(usable) => format!("of the {} that {} can use", usable.0, card.name()),
            None => format!("; the window of {} is not known", card.name()),
        };
        Ok(scene.says(format!("{messages} messages; the next prompt has {used} tokens {window}.").replace(" ;", ";")))
    }
}
