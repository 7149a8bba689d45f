//! A clock that went wrong and was set right: what is due by a time that never was comes by the true one.

use jiff::Timestamp;
use limpid_core::task::{Standing, TaskStatus};
use limpid_store::{StoreError, Task};

use crate::agent::Inner;
use crate::services::error::AgentError;

impl Inner {
    /// Tasks that repeat and whose newest run ended later than it is now wait for a time that was counted from a wrong
    /// clock; they wait for their next time by this one.
    pub(crate) async fn bring_back_tasks(&self) -> Result<(), AgentError> {
        let now = self.host.now();
        for mut task in self.store.tasks(Some(TaskStatus::Pending)).await?.rows {
            let waits = task.standing.next.filter(|_| task.new.trigger.repeats());
            let next = task.new.trigger.next_after(now);
            let (Some(waits), Some(next)) = (waits, next) else { continue };
            if waits <= next || !self.ran_later_than(&task, now).await? {
                continue;
            }
            task.standing.next = Some(next);
            match self.store.change_task(task, now.as_millisecond()).await {
                // Somebody has just set it otherwise.
                Err(StoreError::Conflict { .. }) => {}
                changed => drop(changed?),
            }
        }
        Ok(())
    }

    /// Has a task go on to its next time: it ran for this one already, by a clock that was ahead.
    pub(crate) async fn pass_over(&self, task: Task) -> Result<(), AgentError> {
        let now = self.host.now();
        let next = task.new.trigger.next_after(now);
        let status = if next.is_some() { task.standing.status } else { TaskStatus::Completed };
        let standing = Standing { status, next, ..task.standing };
        match self.store.change_task(Task { standing, ..task }, now.as_millisecond()).await {
            Err(StoreError::Conflict { .. }) => Ok(()),
            changed => Ok(changed.map(drop)?),
        }
    }

    async fn ran_later_than(&self, task: &Task, now: Timestamp) -> Result<bool, AgentError> {
        let runs = self.store.task_runs(task.id).await?.rows;
        Ok(runs.iter().filter_map(|run| run.end).any(|(ended_ms, _)| ended_ms > now.as_millisecond()))
    }
}
