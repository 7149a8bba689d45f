//! A task that a model carries out: a turn of its own on the path `task`.

use limpid_conversation::BackgroundRun;
use limpid_core::{Labelled, Sentence};
use limpid_services::directory::key_of_task;
use limpid_services::error::AgentError;
use limpid_services::spending::Spender;
use limpid_store::{Task, TaskRun};
use limpid_turn::Outcome;

use crate::jobs::task_runs::{TaskJob, TaskResult};

/// The path of such a turn.
pub(super) const PATH: &str = "task";

/// Has a model carry out a task, with the profile and the model of the conversation that made it. A run that was cut
/// off is carried on.
pub(super) async fn run_agent(job: &TaskJob, task: &Task, run: &TaskRun) -> Result<TaskResult, AgentError> {
    // What may not be paid for today waits, and comes again for the same slot.
    job.spending.check_background_and_tell(Some(PATH), task.new.trust.is_foreign()).await?;
    let made_in = match &task.new.conversation {
        Some(conversation) => job.store.conversation(conversation).await?,
        None => None,
    };
    let audience = match &made_in {
        Some(conversation) => conversation.audience,
        None => job.directory.audience_of_reports().await?,
    };
    let end = job
        .conversations
        .run(BackgroundRun {
            key: key_of_task(task.id, run.slot_ms),
            path: PATH.to_owned(),
            mode: job.modes.of_runs(PATH).map(str::to_owned),
            spender: Spender::Background,
            profile: made_in.as_ref().map(|conversation| conversation.profile.clone()),
            model: made_in.and_then(|conversation| conversation.model),
            audience,
            text: task.new.prompt.clone(),
            trust: task.new.trust,
        })
        .await?;
    let told = end.told().unwrap_or_default();
    let did = match end.outcome {
        Outcome::Answered { .. } => TaskResult::said(told, end.trust),
        Outcome::Cancelled => TaskResult::failed(Sentence::from("it was stopped")),
        Outcome::Failed { message, .. } => TaskResult::failed(Labelled::outside(message)),
    };
    Ok(TaskResult { conversation: Some(end.conversation), ..did })
}
