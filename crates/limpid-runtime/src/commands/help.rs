//! `/help`.

use async_trait::async_trait;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Characters of the column of names.
const WIDTH: usize = 16;

/// What is a command, in the person's words.
const RULE: &str = "\nA message whose first word is a slash and a name is a command, or activates the skill of that name. \
                    Paths such as /etc/hosts are messages. To begin a message with /name, write //name.";

/// Lists the commands.
pub(crate) struct Help;

#[async_trait]
impl SlashCommand for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn help(&self) -> &'static str {
        "List the commands"
    }

    async fn run(&self, context: &CommandContext<'_>, _arguments: &str) -> Result<SlashReply, AgentError> {
        // What takes long arguments has a line of its own, so that the rest stays narrow.
        let lines = context.table.list().map(|command| {
            let names: Vec<String> = command.names().map(|name| format!("/{name}")).collect();
            let usage = format!("{} {}", names.join(", "), command.arguments).trim_end().to_owned();
            if usage.chars().count() <= WIDTH {
                format!("{usage:WIDTH$}  {}", command.help)
            } else {
                format!("{usage}\n{:WIDTH$}  {}", "", command.help)
            }
        });
        let lines: Vec<String> = lines.chain([RULE.to_owned()]).collect();
        Ok(context.says(lines.join("\n")))
    }
}
