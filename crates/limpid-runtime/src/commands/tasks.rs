//! `/tasks`.

use async_trait::async_trait;
use limpid_core::task::TaskStatus;
use limpid_services::error::AgentError;
use limpid_services::tasks::{time_words, trigger_words};

use crate::commands::{Scene, SlashCommand, SlashReply};

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

    async fn run(&self, scene: &Scene<'_>, _: &str) -> Result<SlashReply, AgentError> {
        let (now, zone) = (scene.agent.now(), scene.agent.zone());
        let waiting = scene.agent.tasks().list(Some(TaskStatus::Pending)).await?.rows;
        if waiting.is_empty() {
            return Ok(scene.says("Nothing is to be done later.".to_owned()));
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
            format!("{}  {when}{again}: {}", task.id, task.new.description)
        };
        Ok(scene.says(waiting.iter().map(line).collect::<Vec<_>>().join("\n")))
    }
}
