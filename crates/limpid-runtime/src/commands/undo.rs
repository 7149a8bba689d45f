//! `/undo`.

use async_trait::async_trait;
use limpid_conversation::ChangeOutcome;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};
use crate::question::lines_behind_margin;

/// Characters of the message that is quoted.
const QUOTED: usize = 80;

/// Columns that the narrowest screens have.
const NARROW: usize = 40;

/// Takes the last turn out of what is sent; nothing is deleted.
pub(crate) struct Undo;

#[async_trait]
impl SlashCommand for Undo {
    fn name(&self) -> &'static str {
        "undo"
    }

    fn arguments(&self) -> &'static str {
        "[back]"
    }

    fn help(&self) -> &'static str {
        "Take the last message and its answer out of what is sent; `back` puts them in again"
    }

    async fn words(&self, _context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        Ok(if before.is_empty() { vec!["back".to_owned()] } else { Vec::new() })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let nothing = || AgentError::Invalid("there is no conversation yet, so nothing to take out".to_owned());
        let conversation = context.conversation.as_ref().ok_or_else(nothing)?;
        let (settled, back) = match arguments {
            "" => (context.agent.conversations().undo_turn(&conversation.id).await?, false),
            "back" => (context.agent.conversations().redo_turn(&conversation.id).await?, true),
            other => {
                return Err(AgentError::Invalid(format!("/undo does not know `{other}`; write /undo or /undo back")));
            }
        };
        let text = match settled {
            ChangeOutcome::Deferred => "An answer is under way; it is done when that has ended.".to_owned(),
            _ if back => "It is in the conversation again.".to_owned(),
            ChangeOutcome::Applied(said) => format!(
                "The last message and its answer are no longer sent; what tools did stays done. Put them back with /undo back.\n{}",
                // It may have been handed in.
                lines_behind_margin(&quoted(&said), NARROW)
            ),
            ChangeOutcome::Unchanged => "Nothing changed.".to_owned(),
        };
        Ok(context.says(text).after(conversation, &["window"]))
    }
}

fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= QUOTED { line } else { line.chars().take(QUOTED - 1).chain(['…']).collect() }
}
