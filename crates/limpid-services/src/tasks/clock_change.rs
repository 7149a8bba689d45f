//! Due times that were counted from a wrong clock are counted again once the clock is right.

use jiff::Timestamp;
use limpid_core::task::{Standing, TaskStatus};
use limpid_store::{StoreError, Task};

use crate::error::AgentError;
use crate::tasks::service::Tasks;

/// Gives repeating tasks whose newest run ended later than it is now their next time by the clock of now.
///
/// # Errors
/// When the store fails.
pub async fn after_clock_moved_back(tasks: &Tasks) -> Result<(), AgentError> {
    let now = tasks.host.now();
    for mut task in tasks.store.tasks(Some(TaskStatus::Pending)).await?.rows {
        let waits = task.standing.next.filter(|_| task.new.trigger.repeats());
        let next = task.new.trigger.next_after(now);
        let (Some(waits), Some(next)) = (waits, next) else { continue };
        if waits <= next || !ran_later_than(tasks, &task, now).await? {
            continue;
        }
        task.standing.next = Some(next);
        match tasks.store.change_task(task, now.as_millisecond()).await {
            // Somebody has just set it otherwise.
            Err(StoreError::Conflict { .. }) => {}
            changed => drop(changed?),
        }
    }
    Ok(())
}

/// Moves a task on to its next time: it ran for this one already, by a clock that was ahead.
///
/// # Errors
/// When the store fails.
pub async fn skip_to_next(tasks: &Tasks, task: Task) -> Result<(), AgentError> {
    let now = tasks.host.now();
    let next = task.new.trigger.next_after(now);
    let status = if next.is_some() { task.standing.status } else { TaskStatus::Completed };
    let standing = Standing { status, next, ..task.standing };
    match tasks.store.change_task(Task { standing, ..task }, now.as_millisecond()).await {
        Err(StoreError::Conflict { .. }) => Ok(()),
        changed => Ok(changed.map(drop)?),
    }
}

async fn ran_later_than(tasks: &Tasks, task: &Task, now: Timestamp) -> Result<bool, AgentError> {
    let runs = tasks.store.task_runs(task.id).await?.rows;
    Ok(runs.iter().filter_map(|run| run.end).any(|(ended_ms, _)| ended_ms > now.as_millisecond()))
}
