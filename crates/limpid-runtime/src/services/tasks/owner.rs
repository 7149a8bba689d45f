//! What people do with tasks.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use limpid_core::task::{Standing, TaskKind, TaskStatus, Trigger, TriggerError};
use limpid_store::{Listed, TASK_TIMER, Task, TaskRun};
use limpid_tools::exec::words::split;

use crate::agent::{Agent, Inner};
use crate::jobs::scheduler::Job as _;
use crate::services::error::AgentError;
use crate::services::spending::{Spender, refusal};
use crate::services::tasks::{Asking, TaskChange, TaskJob, TaskRequest, over, zone_of};

/// How often it is looked whether another process has run a task.
const LOOK: Duration = Duration::from_millis(200);

/// How long a process that runs a task by hand holds it.
const CLAIM_MS: i64 = 10 * 60 * 1000;

impl Agent {
    /// Makes a task.
    ///
    /// # Errors
    /// When it says nothing, its time cannot be, its conversation does not exist, or it is a command that needs a shell
    /// where none is granted.
    pub async fn add_task(&self, request: TaskRequest) -> Result<Task, AgentError> {
        self.inner.can_run(request.kind, &request.prompt)?;
        self.inner.task_book().add(request, &self.inner.owner_asks()).await
    }

    /// The tasks of one status or of all, those that are due first before the others.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn tasks(&self, status: Option<TaskStatus>) -> Result<Listed<Task>, AgentError> {
        self.inner.task_book().list(status, &self.inner.owner_asks()).await
    }

    /// One task and its newest runs, newest first.
    ///
    /// # Errors
    /// When there is none of that number, or the store cannot be read.
    pub async fn task(&self, id: &str) -> Result<(Task, Listed<TaskRun>), AgentError> {
        let task = self.inner.task_book().find(id, &self.inner.owner_asks()).await?;
        let runs = self.inner.store.task_runs(task.id).await?;
        Ok((task, runs))
    }

    /// Changes what a task says or when it is due.
    ///
    /// # Errors
    /// When there is none of that number, or it cannot be as asked; then nothing changes.
    pub async fn edit_task(&self, id: &str, change: TaskChange) -> Result<Task, AgentError> {
        if let Some(prompt) = &change.prompt {
            let kind = change.kind.unwrap_or(self.task(id).await?.0.new.kind);
            self.inner.can_run(kind, prompt)?;
        }
        self.inner.task_book().edit(id, change, &self.inner.owner_asks()).await
    }

    /// Takes a task out.
    ///
    /// # Errors
    /// When there is none of that number that waits.
    pub async fn cancel_task(&self, id: &str) -> Result<Task, AgentError> {
        self.inner.task_book().cancel(id, &self.inner.owner_asks()).await
    }

    /// Switches a task off, or on again.
    ///
    /// # Errors
    /// When there is none of that number, or it is over.
    pub async fn switch_task(&self, id: &str, on: bool) -> Result<Task, AgentError> {
        self.inner.task_book().switch(id, on, &self.inner.owner_asks()).await
    }

    /// Has a task come again later: in `10m`, `2h`, `1d`, or at a moment in ISO 8601. One that repeats goes on as before
    /// after that.
    ///
    /// # Errors
    /// When there is none of that number, it has no time of its own, or the time cannot be read or has passed.
    pub async fn snooze_task(&self, id: &str, until: &str) -> Result<Task, AgentError> {
        let asking = self.inner.owner_asks();
        let book = self.inner.task_book();
        book.change(id, &asking, |task| {
            if task.new.trigger == Trigger::Heartbeat || task.standing.status == TaskStatus::Cancelled {
                return Err(not_due(task));
            }
            let until = moment(until, task, &asking)?;
            task.standing = Standing { status: TaskStatus::Pending, next: Some(until), failures: 0 };
            Ok(())
        })
        .await
    }

    /// Says that what a task is about is done: one of one moment is over, one that repeats waits for its next time.
    ///
    /// # Errors
    /// When there is none of that number, or it was taken out.
    pub async fn finish_task(&self, id: &str) -> Result<Task, AgentError> {
        let asking = self.inner.owner_asks();
        let book = self.inner.task_book();
        book.change(id, &asking, |task| {
            if task.standing.status == TaskStatus::Cancelled {
                return Err(over(task));
            }
            let next = task.new.trigger.next_after(asking.now);
            let status = if next.is_some() { task.standing.status } else { TaskStatus::Completed };
            task.standing = Standing { status, next, failures: 0 };
            Ok(())
        })
        .await
    }

    /// Runs a task at once, whatever its time is, and returns when that run is over. A process that serves this home
    /// may be the one that runs it.
    ///
    /// # Errors
    /// When there is none of that number that waits or is done, or it cannot be run.
    pub async fn run_task(&self, id: &str) -> Result<(Task, TaskRun), AgentError> {
        let inner = &self.inner;
        let asking = inner.owner_asks();
        let slot_ms = asking.now.as_millisecond();
        // What is refused leaves the task as it was.
        self.may_run(&inner.task_book().find(id, &asking).await?).await?;
        let task = inner
            .task_book()
            .change(id, &asking, |task| {
                let can =
                    matches!(task.standing.status, TaskStatus::Pending | TaskStatus::Completed | TaskStatus::Failed);
                if !can || task.new.trigger == Trigger::Heartbeat {
                    return Err(not_due(task));
                }
                task.standing = Standing { status: TaskStatus::Pending, next: Some(asking.now), ..task.standing };
                Ok(())
            })
            .await?;
        let name = task.id.to_string();
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
            let (task, runs) = self.task(&name).await?;
            if let Some(run) = runs.rows.into_iter().find(|run| run.slot_ms == slot_ms && run.end.is_some()) {
                self.deliver_waiting().await?;
                return Ok((task, run));
            }
            if task.standing.next.map(Timestamp::as_millisecond) != Some(slot_ms) {
                return Err(AgentError::Invalid(format!("task {name} was changed before it ran; look at it again")));
            }
            inner.pause.pause(LOOK).await;
        }
    }

    /// Whether a task can be run now.
    async fn may_run(&self, task: &Task) -> Result<(), AgentError> {
        let inner = &self.inner;
        if !inner.config.scheduling.enabled {
            let why = "[scheduling] enabled is false in limpid.toml, so no task runs; set it to true";
            return Err(AgentError::Invalid(why.to_owned()));
        }
        if task.new.kind == TaskKind::Agent {
            if let Some(reached) = inner.limit_reached(Spender::Background, None, None).await? {
                return Err(refusal(&reached).into());
            }
            let made_in = match &task.new.conversation {
                Some(conversation) => inner.store.conversation(conversation).await?,
                None => None,
            };
            inner.shelf.choose(inner.context.wanted_model(made_in.as_ref()).await.as_deref()).await?;
        }
        Ok(())
    }
}

/// A length of time: `90s`, `10m`, `2h`, `1d`; none when it is none.
pub fn parse_span(text: &str) -> Option<i64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit())?);
    let length = match unit.trim() {
        "s" | "sec" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(length).filter(|seconds| *seconds > 0)
}

fn moment(text: &str, task: &Task, asking: &Asking) -> Result<Timestamp, AgentError> {
    if let Some(seconds) = parse_span(text) {
        let at = asking.now.checked_add(SignedDuration::from_secs(seconds));
        return at.map_err(|_| AgentError::Invalid(TriggerError::NoTime(seconds).to_string()));
    }
    match Trigger::at(text, &zone_of(&task.new), asking.now) {
        Ok(Trigger::Once(at)) => Ok(at),
        Ok(_) | Err(TriggerError::Time(_)) => {
            Err(AgentError::Invalid(format!("`{text}` is no time; say 10m, 2h, 1d or 2026-04-11T09:00")))
        }
        Err(error) => Err(AgentError::Invalid(error.to_string())),
    }
}

fn not_due(task: &Task) -> AgentError {
    match task.new.trigger {
        Trigger::Heartbeat => {
            AgentError::Invalid(format!("task {} is a part of every heartbeat and has no time of its own", task.id))
        }
        _ => over(task),
    }
}

impl Inner {
    /// Whether a command can be run as it is written, so that this is said before the task is due.
    fn can_run(&self, kind: TaskKind, prompt: &str) -> Result<(), AgentError> {
        if kind == TaskKind::Command && !self.config.exec.shell {
            split(prompt).map_err(AgentError::Invalid)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_a_number_and_a_unit() {
        let told = ["90s", "10m", "2 h", "1d", "0m", "10", "m", "-5m", "1w", ""].map(parse_span);
        let wanted = [Some(90), Some(600), Some(7_200), Some(86_400), None, None, None, None, None, None];
        assert_eq!(told, wanted);
    }
}
