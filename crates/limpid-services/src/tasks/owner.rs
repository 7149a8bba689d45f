//! What the owner does with tasks.

use jiff::{SignedDuration, Timestamp};
use limpid_core::task::{Standing, TaskKind, TaskStatus, Trigger, TriggerError};
use limpid_store::{Listed, Task, TaskRun};
use limpid_tools::exec::words::split;

use crate::error::AgentError;
use crate::tasks::request::{TaskChange, TaskRequest};
use crate::tasks::requester::{Requester, zone_of};
use crate::tasks::service::{Tasks, over};
use crate::tasks::stood::Stood;

impl Tasks {
    /// Makes a task.
    ///
    /// # Errors
    /// When it says nothing, its time cannot be, its conversation does not exist, or it is a command that needs a shell
    /// where none is granted.
    pub async fn add(&self, request: TaskRequest) -> Result<Task, AgentError> {
        self.check_command(request.kind, &request.prompt)?;
        self.add_as(&Requester::owner(&self.host), request).await
    }

    /// The tasks of one status or of all, those that are due first before the others.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(&self, status: Option<TaskStatus>) -> Result<Listed<Task>, AgentError> {
        self.list_as(&Requester::owner(&self.host), status).await
    }

    /// One task and its newest runs, newest first.
    ///
    /// # Errors
    /// When there is none of that number, or the store cannot be read.
    pub async fn get(&self, id: &str) -> Result<(Task, Listed<TaskRun>), AgentError> {
        let task = self.find_as(&Requester::owner(&self.host), id).await?;
        let runs = self.store.task_runs(task.id).await?;
        Ok((task, runs))
    }

    /// Changes what a task says or when it is due.
    ///
    /// # Errors
    /// When there is none of that number, or it cannot be as asked; then nothing changes.
    pub async fn change(&self, id: &str, change: TaskChange) -> Result<Task, AgentError> {
        if let Some(prompt) = &change.prompt {
            let kind = change.kind.unwrap_or(self.get(id).await?.0.new.kind);
            self.check_command(kind, prompt)?;
        }
        self.change_as(&Requester::owner(&self.host), id, change).await
    }

    /// Cancels a task.
    ///
    /// # Errors
    /// When there is none of that number that waits.
    pub async fn cancel(&self, id: &str) -> Result<Task, AgentError> {
        self.cancel_as(&Requester::owner(&self.host), id).await
    }

    /// Takes back that a task was cancelled: it waits again, or is off again, as it was before. Times that have passed
    /// meanwhile are not made up for.
    ///
    /// # Errors
    /// When there is none of that number, it was not cancelled, or its only time has passed.
    pub async fn undo_cancel(&self, id: &str) -> Result<Task, AgentError> {
        let requester = Requester::owner(&self.host);
        let known = self.find_as(&requester, id).await?;
        let newest = self.store.setting_events(None, &Stood::name(known.id), 1).await?.rows.pop();
        let stood = newest.and_then(|event| event.value).map_or_else(Stood::default, |text| Stood::read(&text));
        self.update(&requester, id, |task| {
            if task.standing.status != TaskStatus::Cancelled {
                return Err(AgentError::Invalid(format!("task {} was not cancelled", task.id)));
            }
            task.standing = stood.again(&task.new.trigger, requester.now).ok_or_else(|| {
                AgentError::Invalid(format!(
                    "the time of task {} has passed; give it another: limpid task edit {} --at 2026-04-11T09:00",
                    task.id, task.id
                ))
            })?;
            Ok(())
        })
        .await
    }

    /// Switches a task on or off.
    ///
    /// # Errors
    /// When there is none of that number, or it is over.
    pub async fn set_enabled(&self, id: &str, on: bool) -> Result<Task, AgentError> {
        self.set_enabled_as(&Requester::owner(&self.host), id, on).await
    }

    /// Makes a task due again later: in `10m`, `2h`, `1d`, or at a moment in ISO 8601. One that repeats goes on as before
    /// after that.
    ///
    /// # Errors
    /// When there is none of that number, it has no time of its own, or the time cannot be read or has passed.
    pub async fn snooze(&self, id: &str, until: &str) -> Result<Task, AgentError> {
        let requester = Requester::owner(&self.host);
        self.update(&requester, id, |task| {
            if task.new.trigger == Trigger::Heartbeat || task.standing.status == TaskStatus::Cancelled {
                return Err(not_due(task));
            }
            let until = moment(until, task, &requester)?;
            task.standing = Standing { status: TaskStatus::Pending, next: Some(until), failures: 0 };
            Ok(())
        })
        .await
    }

    /// Marks a task as done: one of one moment is over, one that repeats waits for its next time.
    ///
    /// # Errors
    /// When there is none of that number, or it was cancelled.
    pub async fn finish(&self, id: &str) -> Result<Task, AgentError> {
        let requester = Requester::owner(&self.host);
        self.update(&requester, id, |task| {
            if task.standing.status == TaskStatus::Cancelled {
                return Err(over(task));
            }
            let next = task.new.trigger.next_after(requester.now);
            let status = if next.is_some() { task.standing.status } else { TaskStatus::Completed };
            task.standing = Standing { status, next, failures: 0 };
            Ok(())
        })
        .await
    }

    /// Makes a task due now, whatever its time is, so that it can be run by hand. The time of `next` is the slot of that
    /// run.
    ///
    /// # Errors
    /// When there is none of that number that waits or is done, or it has no time of its own.
    pub async fn make_due(&self, id: &str) -> Result<Task, AgentError> {
        let requester = Requester::owner(&self.host);
        self.update(&requester, id, |task| {
            let can = matches!(task.standing.status, TaskStatus::Pending | TaskStatus::Completed | TaskStatus::Failed);
            if !can || task.new.trigger == Trigger::Heartbeat {
                return Err(not_due(task));
            }
            task.standing = Standing { status: TaskStatus::Pending, next: Some(requester.now), ..task.standing };
            Ok(())
        })
        .await
    }

    /// Whether a command can be run as it is written, so that this is said before the task is due.
    fn check_command(&self, kind: TaskKind, prompt: &str) -> Result<(), AgentError> {
        if kind == TaskKind::Command && !self.config.exec.shell {
            split(prompt).map_err(AgentError::Invalid)?;
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

fn moment(text: &str, task: &Task, requester: &Requester) -> Result<Timestamp, AgentError> {
    if let Some(seconds) = parse_span(text) {
        let at = requester.now.checked_add(SignedDuration::from_secs(seconds));
        return at.map_err(|_| AgentError::Invalid(TriggerError::NoTime(seconds).to_string()));
    }
    match Trigger::at(text, &zone_of(&task.new), requester.now) {
        Ok(Trigger::Once(at)) => Ok(at),
        Ok(_) | Err(TriggerError::Time(_)) => Err(AgentError::Invalid(format!(
            "`{text}` is not a time that can be read; write 10m, 2h, 1d or 2026-04-11T09:00"
        ))),
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
