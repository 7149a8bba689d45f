//! `/tasks`.

use async_trait::async_trait;
use limpid_core::task::TaskStatus;
use limpid_services::error::AgentError;
use limpid_services::marked::marked_line;
use limpid_services::tasks::{time_words, trigger_words};

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Shows the tasks that wait.
pub(crate) struct Tasks;

#[async_trait]
impl SlashCommand for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn help(&self) -> &'static str {
        "List what is to be done later"
    }

    async fn run(&self, context: &CommandContext<'_>, _: &str) -> Result<SlashReply, AgentError> {
        let (now, zone) = (context.agent.now(), context.agent.zone());
        let waiting = context.agent.tasks().list(Some(TaskStatus::Pending)).await?.rows;
        if waiting.is_empty() {
            return Ok(context.says("Nothing is to be done later.".to_owned()));
        }
        let line = |task: &limpid_store::Task| {
            let when = match task.standing.next {
                Some(next) => time_words(next, now, &zone),
                None => "at every heartbeat".to_owned(),
            };
            let again = if task.new.trigger.repeats() {
                format!(" ({})", trigger_words(&task.new.trigger, now, &zone))
            } else {
                String::new()
            };
            format!("{}  {when}{again}: {}", task.id, marked_line(&task.new.description, task.new.trust))
        };
        Ok(context.says(waiting.iter().map(line).collect::<Vec<_>>().join("\n")))
    }
}
