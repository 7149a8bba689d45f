//! `/help`.

use async_trait::async_trait;

use super::{Scene, SlashCommand, SlashReply, commands};
use crate::error::AgentError;

/// Lists the commands.
pub(super) struct Help;

#[async_trait]
impl SlashCommand for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn help(&self) -> &'static str {
        "List the commands"
    }

    async fn run(&self, scene: &Scene<'_>, _arguments: &str) -> Result<SlashReply, AgentError> {
        let usages: Vec<String> = commands()
            .map(|command| format!("/{} {}", command.name, command.arguments).trim_end().to_owned())
            .collect();
        let width = usages.iter().map(|usage| usage.chars().count()).max().unwrap_or(0);
        let lines = commands().zip(&usages).map(|(command, usage)| format!("{usage:width$}  {}", command.help));
        Ok(scene.says(lines.collect::<Vec<_>>().join("\n")))
    }
}
