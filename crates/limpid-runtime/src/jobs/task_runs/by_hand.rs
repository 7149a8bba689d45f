//! A task that is run by hand.

use std::time::Duration;

use jiff::Timestamp;
use limpid_core::task::TaskKind;
use limpid_services::error::AgentError;
use limpid_store::{TASK_TIMER, Task, TaskRun};

use crate::jobs::job::Job as _;
use crate::jobs::scheduler::release_the_dead;
use crate::jobs::task_runs::TaskJob;
use crate::jobs::task_runs::prompt::PATH;

/// How often it is looked whether another process has run a task.
const LOOK: Duration = Duration::from_millis(200);

/// How long a process that runs a task by hand holds it.
const CLAIM_MS: i64 = 10 * 60 * 1000;

impl TaskJob {
    /// Runs a task at once, whatever its time is, and returns when that run is over. A process that serves this home
    /// may be the one that runs it.
    ///
    /// # Errors
    /// When there is none of that number that waits or is done, or it cannot be run.
    pub(crate) async fn run_now(&self, id: &str) -> Result<(Task, TaskRun), AgentError> {
        // What is refused leaves the task as it was.
        self.check_runnable(&self.tasks.get(id).await?.0).await?;
        let task = self.tasks.make_due(id).await?;
        let (name, slot_ms) = (task.id.to_string(), task.standing.next.map(Timestamp::as_millisecond));
        loop {
            let claimed =
                self.store.claim_timer(TASK_TIMER, &name, self.host.now_ms(), self.host.holder(), CLAIM_MS).await?;
            if let Some(lease) = claimed {
                let next_ms = match self.run(&name, lease.due_ms).await {
                    Ok(next_ms) => next_ms,
                    Err(error) => {
                        self.store.put_off_timer(&lease, self.host.now_ms()).await?;
                        return Err(error);
                    }
                };
                self.store.settle_timer(&lease, next_ms).await?;
            } else {
                // Where nobody serves this home, nobody else frees what a process held that was ended.
                release_the_dead(&*self.store).await?;
            }
            let (task, runs) = self.tasks.get(&name).await?;
            if let Some(run) = runs.rows.into_iter().find(|run| Some(run.slot_ms) == slot_ms && run.end.is_some()) {
                return Ok((task, run));
            }
            if task.standing.next.map(Timestamp::as_millisecond) != slot_ms {
                return Err(AgentError::Invalid(format!("task {name} was changed before it ran; look at it again")));
            }
            self.pause.pause(LOOK).await;
        }
    }

    /// Whether a task can be run now.
    async fn check_runnable(&self, task: &Task) -> Result<(), AgentError> {
        if !self.config.scheduling.enabled {
            let why = "[scheduling] enabled is false in limpid.toml, so no task runs; set it to true";
            return Err(AgentError::Invalid(why.to_owned()));
        }
        if task.new.kind == TaskKind::Agent {
            // Whoever asked reads the refusal, so there is no notice as well.
            if let Some(stop) = self.spending.background_stop(Some(PATH), task.new.trust.is_foreign()).await? {
                return Err(stop.refusal());
            }
            let made_in = match &task.new.conversation {
                Some(conversation) => self.store.conversation(conversation).await?,
                None => None,
            };
            self.models.choose(self.context.wanted_model(made_in.as_ref()).await.as_deref()).await?;
        }
        Ok(())
    }
}
