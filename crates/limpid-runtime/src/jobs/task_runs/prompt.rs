//! A task that a model carries out: a turn of its own on the path `task`.

use std::sync::Arc;

use limpid_store::{Task, TaskRun};
use limpid_turn::Outcome;

use crate::agent::Inner;
use crate::conversation::background_run::{BackgroundRun, RunInputs};
use crate::jobs::task_runs::Did;
use crate::services::error::AgentError;
use crate::services::spending::Spender;

/// The path of such a turn.
const PATH: &str = "task";

impl Inner {
    /// Has a model carry out a task, with the profile and the model of the conversation that made it. A run that was cut
    /// off is carried on.
    pub(crate) async fn run_agent(self: &Arc<Self>, task: &Task, run: &TaskRun) -> Result<Did, AgentError> {
        // What may not be paid for today waits, and comes again for the same slot.
        self.spending.check_and_tell(Spender::Background, None, None).await?;
        let made_in = match &task.new.conversation {
            Some(conversation) => self.store.conversation(conversation).await?,
            None => None,
        };
        let audience = match &made_in {
            Some(conversation) => conversation.audience,
            None => self.directory.audience_of_reports().await?,
        };
        let end = self
            .run_in_background(BackgroundRun {
                key: format!("task-{}-{}", task.id, run.slot_ms),
                path: PATH,
                profile: made_in.as_ref().map(|conversation| conversation.profile.clone()),
                model: made_in.and_then(|conversation| conversation.model),
                audience,
                text: task.new.prompt.clone(),
                extra: RunInputs { trust: task.new.trust },
            })
            .await?;
        let told = end.told().unwrap_or_default();
        let did = match end.outcome {
            Outcome::Answered { .. } => Did::said(told, end.trust),
            Outcome::Cancelled => Did::failed("it was stopped"),
            Outcome::Failed { message, .. } => Did::failed(message),
        };
        Ok(Did { conversation: Some(end.conversation), ..did })
    }
}
