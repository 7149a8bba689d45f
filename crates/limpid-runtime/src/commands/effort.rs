//! `/effort`.

use async_trait::async_trait;
use limpid_conversation::ChatRequest;
use limpid_core::Effort as Level;
use limpid_services::error::AgentError;
use limpid_services::models::{EffortChoice, lacking};

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Shows how much the model reasons, or has it reason more or less.
pub(crate) struct Effort;

#[async_trait]
impl SlashCommand for Effort {
    fn name(&self) -> &'static str {
        "effort"
    }

    fn arguments(&self) -> &'static str {
        "[LEVEL]"
    }

    fn help(&self) -> &'static str {
        "Show how much the model reasons, or set it: off, minimal, low, medium, high, xhigh, max, default"
    }

    async fn words(&self, _context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let levels = Level::ALL.iter().map(|level| level.as_str().to_owned());
        Ok(if before.is_empty() { levels.collect() } else { Vec::new() })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let agent = context.agent;
        let model =
            agent.models().choose(agent.context().wanted_model(context.conversation.as_ref()).await.as_deref()).await?;
        let card = model.info();
        if arguments.is_empty() {
            let path = if card.local { "chat-local" } else { "chat-remote" };
            let choice = EffortChoice::of(agent.config(), context.conversation.as_ref(), path);
            let levels = card.abilities.effort.as_deref().unwrap_or_default();
            let known: Vec<&str> = levels.iter().map(|level| level.as_str()).collect();
            let has = match known.is_empty() {
                true => "its levels are not known".to_owned(),
                false => format!("it has {}", known.join(", ")),
            };
            return Ok(context.says(format!(
                "The effort is {}. {}: {has}.",
                choice.of_model(card).as_str(),
                card.name()
            )));
        }
        let level = Level::parse(arguments).ok_or_else(|| {
            let known = Level::ALL.map(Level::as_str).join(", ");
            AgentError::Invalid(format!("unknown effort \"{arguments}\". Use one of {known}."))
        })?;
        let request = ChatRequest { effort: Some(level), ..ChatRequest::default() };
        let changed = context.change(request).await?;
        let mut text = format!("The effort is {arguments} from the next message on.");
        if let Some(notice) = lacking(card, level) {
            text.push_str(&format!(" Note: {notice}."));
        }
        Ok(context.says(text).after(&changed, &["effort"]))
    }
}
