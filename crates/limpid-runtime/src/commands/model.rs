//! `/model`.

use async_trait::async_trait;
use limpid_conversation::ChatRequest;
use limpid_services::error::AgentError;
use limpid_services::models::offered;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Shows the model, or goes on with another.
pub(crate) struct Model;

#[async_trait]
impl SlashCommand for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    fn arguments(&self) -> &'static str {
        "[PROVIDER/MODEL]"
    }

    fn help(&self) -> &'static str {
        "Show the model, or go on with another"
    }

    async fn words(&self, context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        if !before.is_empty() {
            return Ok(Vec::new());
        }
        offered(context.agent.models()).await
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        if arguments.is_empty() {
            let own = context.agent.context().wanted_model(context.conversation.as_ref()).await;
            let model = context.agent.models().choose(own.as_deref()).await?;
            return Ok(context.says(format!("The model is {}.", model.info().name())));
        }
        let request = ChatRequest { model: Some(arguments.to_owned()), ..ChatRequest::default() };
        let changed = context.change(request).await?;
        Ok(context.says(format!("{arguments} answers from the next message on.")).after(&changed, &["model"]))
    }
}
