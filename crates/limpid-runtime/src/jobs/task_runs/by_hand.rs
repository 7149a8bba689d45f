//! A task that is run by hand.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use limpid_core::task::TaskKind;
use limpid_store::{TASK_TIMER, Task, TaskRun};

use crate::agent::{Agent, Inner};
use crate::jobs::scheduler::Job as _;
use crate::jobs::task_runs::TaskJob;
use crate::services::error::AgentError;
use crate::services::spending::Spender;

/// How often it is looked whether another process has run a task.
const LOOK: Duration = Duration::from_millis(200);

/// How long a process that runs a task by hand holds it.
const CLAIM_MS: i64 = 10 * 60 * 1000;

impl Agent {
    /// Runs a task at once, whatever its time is, and returns when that run is over. A process that serves this home
    /// may be the one that runs it.
    ///
    /// # Errors
    /// When there is none of that number that waits or is done, or it cannot be run.
    pub async fn run_task(&self, id: &str) -> Result<(Task, TaskRun), AgentError> {
        let inner = &self.inner;
        // What is refused leaves the task as it was.
        inner.may_run_task(&inner.tasks.get(id).await?.0).await?;
        let task = inner.tasks.make_due(id).await?;
        let (name, slot_ms) = (task.id.to_string(), task.standing.next.map(Timestamp::as_millisecond));
        loop {
            let claimed =
                inner.store.claim_timer(TASK_TIMER, &name, inner.host.now_ms(), inner.host.holder(), CLAIM_MS).await?;
            if let Some(lease) = claimed {
                let next_ms = match TaskJob.run(inner, &name, lease.due_ms).await {
                    Ok(next_ms) => next_ms,
                    Err(error) => {
                        inner.store.put_off_timer(&lease, inner.host.now_ms()).await?;
                        return Err(error);
                    }
                };
                inner.store.settle_timer(&lease, next_ms).await?;
            }
            let (task, runs) = inner.tasks.get(&name).await?;
            if let Some(run) = runs.rows.into_iter().find(|run| Some(run.slot_ms) == slot_ms && run.end.is_some()) {
                self.deliver_waiting().await?;
                return Ok((task, run));
            }
            if task.standing.next.map(Timestamp::as_millisecond) != slot_ms {
                return Err(AgentError::Invalid(format!("task {name} was changed before it ran; look at it again")));
            }
            inner.pause.pause(LOOK).await;
        }
    }

    /// Writes down the owner's zone when it is another one than before, and asks them once what becomes of the tasks that
    /// keep the old one.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check_time_zone(&self) -> Result<(), AgentError> {
        self.inner.check_time_zone().await
    }
}

impl Inner {
    pub(crate) async fn check_time_zone(self: &Arc<Self>) -> Result<(), AgentError> {
        if let Some(notice) = self.tasks.check_time_zone().await? {
            self.deliveries.notice(None, &notice.key, notice.title, notice.text).await?;
        }
        Ok(())
    }

    /// Whether a task can be run now.
    async fn may_run_task(&self, task: &Task) -> Result<(), AgentError> {
        if !self.config.scheduling.enabled {
            let why = "[scheduling] enabled is false in limpid.toml, so no task runs; set it to true";
            return Err(AgentError::Invalid(why.to_owned()));
        }
        if task.new.kind == TaskKind::Agent {
            self.spending.check(Spender::Background, None, None).await?;
            let made_in = match &task.new.conversation {
                Some(conversation) => self.store.conversation(conversation).await?,
                None => None,
            };
            self.models.choose(self.context.wanted_model(made_in.as_ref()).await.as_deref()).await?;
        }
        Ok(())
    }
}
