//! `/memory`.

use async_trait::async_trait;
use limpid_services::error::AgentError;
use limpid_services::marked::marked_line;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Memories that a search shows.
const FOUND: usize = 10;

/// Lists memories, or finds some; no model is asked.
pub(crate) struct Memory;

#[async_trait]
impl SlashCommand for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn arguments(&self) -> &'static str {
        "[WORDS]"
    }

    fn help(&self) -> &'static str {
        "List what is remembered, or find it by words"
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let memories = match arguments {
            "" => context.agent.store().memories(None).await?.rows,
            words => context.agent.memory().recall(words, FOUND).await?,
        };
        let lines: Vec<String> = memories
            .iter()
            .map(|memory| {
                let pinned = if memory.pinned { " (pinned)" } else { "" };
                marked_line(&format!("{}{pinned}: {}", memory.key, memory.content), memory.trust)
            })
            .collect();
        Ok(context.says(match lines.is_empty() {
            true if arguments.is_empty() => "Nothing is remembered.".to_owned(),
            true => format!("Nothing that is remembered has a word of “{arguments}”."),
            false => lines.join("\n"),
        }))
    }
}
