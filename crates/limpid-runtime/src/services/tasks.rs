//! Tasks: what is to be done later. People and tools make and change them in the same way, through [`TaskBook`].
//!
//! # Layout
//! - `request`: what somebody asks for, and whether it can be.
//! - `by_hand`: what people do with tasks.
//! - `run`: what is done when a task is due.
//! - `set_back`: what becomes of due times when the clock is set back.
//! - `words`: times as people say them.
//! - `zone`: what becomes of tasks when the owner travels.

pub(crate) mod clock_change;
pub(crate) mod display;
pub(crate) mod owner;
pub(crate) mod request;
pub(crate) mod time_zone;
pub(crate) mod tools;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::task::{Standing, TaskStatus};
use limpid_core::{ConversationId, TaskId, Trust};
use limpid_store::{Listed, NewTask, Store, StoreError, Task};

pub(crate) use crate::jobs::task_runs::TaskJob;
pub use crate::services::tasks::display::{time_words, trigger_words};
pub use crate::services::tasks::owner::parse_span;
pub use crate::services::tasks::request::{TaskChange, TaskRequest, When};
pub use crate::services::tasks::time_zone::{ZoneMove, ZoneMoves};

use crate::agent::Inner;
use crate::jobs::scheduler::Waker;
use crate::services::error::AgentError;

/// Times that a change is tried when others change the same task.
const TRIES: u32 = 5;

/// The tasks, for everybody who makes or changes them.
#[derive(Clone)]
pub(crate) struct TaskBook {
    store: Arc<dyn Store>,
    waker: Arc<Waker>,
}

/// Who asks, when and where.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    /// The zone that times are in when nothing else is said.
    pub(crate) zone: TimeZone,
    /// The time.
    pub(crate) now: Timestamp,
    /// Who wrote the least trusted text that led to it.
    pub(crate) trust: Trust,
    /// The only conversation whose tasks may be seen and changed; none: all may be.
    pub(crate) only: Option<ConversationId>,
}

impl TaskBook {
    pub(crate) fn new(store: Arc<dyn Store>, waker: Arc<Waker>) -> Self {
        Self { store, waker }
    }

    /// Makes a task. Everything is checked before anything is kept.
    ///
    /// # Errors
    /// When it says nothing, its time cannot be, or its conversation does not exist.
    pub(crate) async fn add(&self, request: TaskRequest, asking: &Asking) -> Result<Task, AgentError> {
        let new = request.check(asking)?;
        let standing = Standing::begin(&new.trigger, asking.now);
        let task = self.store.keep_task(new, standing, asking.now.as_millisecond()).await?;
        self.waker.wake();
        Ok(task)
    }

    /// Whether a process serves this home, so that what is due is done.
    pub(crate) fn is_served(&self) -> bool {
        self.waker.is_served()
    }

    /// The tasks of one status or of all that may be seen.
    pub(crate) async fn list(&self, status: Option<TaskStatus>, asking: &Asking) -> Result<Listed<Task>, AgentError> {
        let mut listed = self.store.tasks(status).await?;
        listed.rows.retain(|task| asking.may_see(task));
        Ok(listed)
    }

    /// One task by its number as somebody wrote it.
    ///
    /// # Errors
    /// When there is none that may be seen.
    pub(crate) async fn find(&self, id: &str, asking: &Asking) -> Result<Task, AgentError> {
        let word = id.trim();
        let missing = || AgentError::NotFound {
            what: "task",
            name: word.to_owned(),
            advice: "list the tasks to see their numbers".to_owned(),
        };
        let number = word.parse().map_err(|_| missing())?;
        self.store.task(TaskId(number)).await?.filter(|task| asking.may_see(task)).ok_or_else(missing)
    }

    /// Changes a task as it stands; when somebody else changes it meanwhile, what they made of it.
    pub(crate) async fn change(
        &self,
        id: &str,
        asking: &Asking,
        change: impl Fn(&mut Task) -> Result<(), AgentError>,
    ) -> Result<Task, AgentError> {
        let mut tries = 0;
        loop {
            let mut task = self.find(id, asking).await?;
            change(&mut task)?;
            tries += 1;
            match self.store.change_task(task, asking.now.as_millisecond()).await {
                Err(StoreError::Conflict { .. }) if tries < TRIES => {}
                changed => {
                    let changed = changed?;
                    self.waker.wake();
                    return Ok(changed);
                }
            }
        }
    }

    /// Takes a task out; what was said of it stays.
    pub(crate) async fn cancel(&self, id: &str, asking: &Asking) -> Result<Task, AgentError> {
        self.change(id, asking, |task| {
            if !matches!(task.standing.status, TaskStatus::Pending | TaskStatus::Disabled) {
                return Err(over(task));
            }
            task.standing = Standing { status: TaskStatus::Cancelled, next: None, ..task.standing };
            Ok(())
        })
        .await
    }

    /// Switches a task off, or on again.
    pub(crate) async fn switch(&self, id: &str, on: bool, asking: &Asking) -> Result<Task, AgentError> {
        self.change(id, asking, |task| match (task.standing.status, on) {
            (TaskStatus::Pending, true) | (TaskStatus::Disabled, false) => Ok(()),
            (TaskStatus::Pending, false) => {
                task.standing.status = TaskStatus::Disabled;
                Ok(())
            }
            (TaskStatus::Disabled, true) => {
                task.standing = Standing::begin(&task.new.trigger, asking.now);
                Ok(())
            }
            _ => Err(over(task)),
        })
        .await
    }

    /// Changes what a task says or when it is due.
    pub(crate) async fn edit(&self, id: &str, edit: TaskChange, asking: &Asking) -> Result<Task, AgentError> {
        self.change(id, asking, |task| edit.apply(task, asking)).await
    }
}

impl Asking {
    fn may_see(&self, task: &Task) -> bool {
        self.only.is_none() || self.only == task.new.conversation
    }
}

impl Inner {
    /// The tasks.
    pub(crate) fn task_book(&self) -> TaskBook {
        TaskBook::new(Arc::clone(&self.store), Arc::clone(&self.waker))
    }

    /// The owner, asking at this moment.
    pub(crate) fn owner_asks(&self) -> Asking {
        Asking { zone: self.host.zone(), now: self.host.now(), trust: Trust::Owner, only: None }
    }
}

/// The name of a zone; one that has none is taken to be UTC, as prompts do.
pub(crate) fn zone_name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}

/// The zone of a task.
pub(crate) fn zone_of(new: &NewTask) -> TimeZone {
    TimeZone::get(&new.zone).unwrap_or(TimeZone::UTC)
}

fn over(task: &Task) -> AgentError {
    AgentError::Invalid(format!("task {} is {}; make a new one", task.id, task.standing.status))
}
