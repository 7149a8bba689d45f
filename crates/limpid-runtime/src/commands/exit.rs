//! `/exit`.

use async_trait::async_trait;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Leaves the chat.
pub(crate) struct Exit;

#[async_trait]
impl SlashCommand for Exit {
    fn name(&self) -> &'static str {
        "exit"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["quit"]
    }

    fn help(&self) -> &'static str {
        "Leave the chat; the conversation is kept"
    }

    async fn run(&self, context: &CommandContext<'_>, _arguments: &str) -> Result<SlashReply, AgentError> {
        Ok(SlashReply { leaves: true, ..context.says("") })
    }
}
