//! `/compact`.

use async_trait::async_trait;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Makes digests of older messages, undoes that, or goes back to a kept moment.
pub(crate) struct Compact;

#[async_trait]
impl SlashCommand for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn arguments(&self) -> &'static str {
        "[undo | keep | restore N]"
    }

    fn help(&self) -> &'static str {
        "Make a digest of older messages, undo that, or keep this moment and go back to one"
    }

    async fn words(&self, _context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let words = ["undo", "keep", "restore"].map(str::to_owned).to_vec();
        Ok(if before.is_empty() { words } else { Vec::new() })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let Some(conversation) = context.conversation.as_ref() else {
            return Ok(context.says("There is no conversation yet."));
        };
        let choice = ConversationChoice::Id(conversation.id.clone());
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let report = match words.as_slice() {
            [] => context.agent.conversations().compact(&choice).await?,
            ["undo"] => context.agent.conversations().undo_compaction(&choice).await?,
            ["keep"] => {
                let kept = context.agent.conversations().save_snapshot(&choice, "by hand").await?;
                return Ok(context
                    .says(format!("This moment is kept as {}; `/compact restore {0}` goes back to it.", kept.id)));
            }
            ["restore", moment] => return crate::commands::context::restore(context, moment).await,
            _ => return Err(AgentError::Invalid(format!("/compact takes {}", self.arguments()))),
        };
        let changed: &[&str] = if report.failure.is_some() { &[] } else { &["window"] };
        Ok(context.says(report.to_string()).after(conversation, changed))
    }
}
