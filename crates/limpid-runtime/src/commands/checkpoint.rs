//! `/checkpoint`.

use async_trait::async_trait;
use limpid_core::goal::CheckpointStatus;
use limpid_services::error::AgentError;
use limpid_services::goals::steps_text;

use crate::commands::goal::{chosen, told};
use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Lists the steps of the goal and sets them.
pub(crate) struct Checkpoint;

const WORDS: [(&str, CheckpointStatus); 4] = [
    ("completed", CheckpointStatus::Completed),
    ("done", CheckpointStatus::Completed),
    ("in-progress", CheckpointStatus::InProgress),
    ("pending", CheckpointStatus::Pending),
];

#[async_trait]
impl SlashCommand for Checkpoint {
    fn name(&self) -> &'static str {
        "checkpoint"
    }

    fn arguments(&self) -> &'static str {
        "[add TEXT | completed STEP | in-progress STEP | pending STEP]"
    }

    fn help(&self) -> &'static str {
        "List the steps of the goal, or set one"
    }

    async fn words(&self, context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        Ok(match before {
            [] => ["add", "completed", "in-progress", "pending"].map(str::to_owned).to_vec(),
            [word] if WORDS.iter().any(|(known, _)| known == word) => {
                let steps = context.agent.goals().checkpoints(&chosen(context)).await?;
                steps.into_iter().map(|step| step.id.to_string()).collect()
            }
            _ => Vec::new(),
        })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        let (choice, rest) = (chosen(context), rest.trim());
        if word.is_empty() || word == "list" {
            let goals = context.agent.goals().list(&choice).await?;
            let steps: Vec<String> = goals.shown().map(steps_text).unwrap_or_default();
            return Ok(context.says(if steps.is_empty() {
                "There are no steps.".to_owned()
            } else {
                steps.join("\n")
            }));
        }
        let changed = match WORDS.iter().find(|(known, _)| *known == word) {
            Some((_, status)) => context.agent.goals().set_checkpoint(&choice, rest, *status).await?,
            None if word == "add" => context.agent.goals().add_checkpoint(&choice, rest).await?,
            None => {
                let advice = "use add, completed, in-progress or pending";
                return Err(AgentError::Invalid(format!("`/checkpoint {word}` is not known; {advice}")));
            }
        };
        told(context, &choice, &changed).await
    }
}
