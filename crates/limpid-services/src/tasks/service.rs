//! The tasks of an agent.

use std::sync::Arc;

#[cfg(test)]
use jiff::tz::TimeZone;
use limpid_config::{Config, Live};
use limpid_core::TaskId;
use limpid_core::task::{Standing, TaskStatus};
use limpid_store::{Listed, Store, StoreError, Task};

use crate::error::AgentError;
use crate::host::Host;
use crate::tasks::display::lasting_words;
use crate::tasks::request::{TaskChange, TaskRequest, When};
use crate::tasks::requester::Requester;
use crate::tasks::stood::Stood;
use crate::timers::SchedulerWaker;

/// How often a change is tried while others change the same task.
const TRIES: u32 = 5;

/// The tasks. Methods without a [`Requester`] are the owner's.
#[derive(Clone)]
pub struct Tasks {
    pub(super) store: Arc<dyn Store>,
    pub(super) config: Live<Config>,
    pub(super) host: Host,
    pub(super) waker: Arc<SchedulerWaker>,
}

impl Tasks {
    /// The tasks of a store; `waker` wakes whoever runs them.
    pub fn new(store: Arc<dyn Store>, config: Live<Config>, host: Host, waker: Arc<SchedulerWaker>) -> Self {
        Self { store, config, host, waker }
    }

    /// The tasks of a store, by the clock and the settings of tests.
    #[cfg(test)]
    pub(crate) fn of_test(store: &Arc<dyn Store>, home: &limpid_config::Home) -> Self {
        let (clock, ids) = (Arc::new(limpid_config::SystemClock), Arc::new(limpid_config::RandomIds));
        let host = Host::new(clock, ids, Live::default(), TimeZone::UTC, "test");
        Self::new(Arc::clone(store), Live::default(), host, Arc::new(SchedulerWaker::new(home.wake_socket())))
    }

    /// Whether a process serves this home, so that tasks run when they are due.
    pub(crate) fn is_served(&self) -> bool {
        self.waker.is_served()
    }

    /// Makes a task. Everything is checked before anything is stored.
    ///
    /// # Errors
    /// When it says nothing, its time cannot be, or its conversation does not exist.
    pub(crate) async fn add_as(&self, requester: &Requester, request: TaskRequest) -> Result<Task, AgentError> {
        let new = request.check(requester, self.base())?;
        let standing = Standing::begin(&new.trigger, requester.now);
        let task = self.store.keep_task(new, standing, requester.now.as_millisecond()).await?;
        self.waker.wake();
        Ok(task)
    }

    /// The folder that relative paths begin at in what is planned here; none where that is the workspace.
    pub(crate) fn base(&self) -> Option<String> {
        self.config.files.base_text()
    }

    /// The tasks of one status, or all, that may be seen.
    pub(crate) async fn list_as(
        &self,
        requester: &Requester,
        status: Option<TaskStatus>,
    ) -> Result<Listed<Task>, AgentError> {
        let mut listed = self.store.tasks(status).await?;
        listed.rows.retain(|task| requester.may_see(task));
        Ok(listed)
    }

    /// One task by its number as somebody wrote it.
    ///
    /// # Errors
    /// When there is none that may be seen.
    pub(crate) async fn find_as(&self, requester: &Requester, id: &str) -> Result<Task, AgentError> {
        let word = id.trim();
        let missing = || AgentError::NotFound {
            what: "task",
            name: word.to_owned(),
            advice: "list the tasks to see their numbers".to_owned(),
        };
        // Spelled as it is shown, so that it has one name alone.
        let number = word.parse::<i64>().ok().filter(|number| number.to_string() == word).ok_or_else(missing)?;
        self.store.task(TaskId(number)).await?.filter(|task| requester.may_see(task)).ok_or_else(missing)
    }

    /// What the owner is told of the task that a call names by its number.
    pub(crate) async fn in_words(&self, id: &str) -> String {
        let owner = Requester::owner(&self.host);
        match self.find_as(&owner, id).await {
            Ok(task) => {
                let (new, status) = (&task.new, task.standing.status.as_str());
                let what = match new.description == new.prompt {
                    true => new.prompt.clone(),
                    false => format!("{}: {}", new.description, new.prompt),
                };
                let when = lasting_words(&new.trigger, &new.zone, &owner.zone);
                format!("task {}, {status}, due {when}: {what}", task.id)
            }
            Err(_) => "a task that is not there".to_owned(),
        }
    }

    /// What the owner is told of a change: made of the very task that it would leave, so that it says no other time or clock.
    pub(crate) async fn change_in_words(&self, id: &str, change: &TaskChange) -> String {
        let (owner, before) = (Requester::owner(&self.host), self.in_words(id).await);
        let Ok(task) = self.find_as(&owner, id).await else { return before };
        let mut changed = task.clone();
        let due = match (change.apply(&mut changed, &owner), &change.when) {
            (Err(_), _) => None,
            // What is so long after a yes has no moment before that.
            (Ok(()), Some(when @ When::In(_))) => when.in_words(None, &owner),
            (Ok(()), _) if changed.new.trigger == task.new.trigger && changed.new.zone == task.new.zone => None,
            (Ok(()), _) => Some(lasting_words(&changed.new.trigger, &changed.new.zone, &owner.zone)),
        };
        match due {
            Some(due) => format!("from now on due {due}; before, {before}"),
            None => format!("changes {before}"),
        }
    }

    /// Changes what a task says or when it is due.
    pub(crate) async fn change_as(
        &self,
        requester: &Requester,
        id: &str,
        change: TaskChange,
    ) -> Result<Task, AgentError> {
        self.update(requester, id, |task| change.apply(task, requester)).await
    }

    /// Cancels a task; its runs stay in the log. How it stood is written down first, so that it can be taken back.
    pub(crate) async fn cancel_as(&self, requester: &Requester, id: &str) -> Result<Task, AgentError> {
        let before = self.find_as(requester, id).await?;
        if matches!(before.standing.status, TaskStatus::Pending | TaskStatus::Disabled) {
            let value = Some(Stood::of(&before).to_text());
            self.write_setting(&Stood::name(before.id), value, "auto").await?;
        }
        self.update(requester, id, |task| {
            if !matches!(task.standing.status, TaskStatus::Pending | TaskStatus::Disabled) {
                return Err(over(task));
            }
            task.standing = Standing { status: TaskStatus::Cancelled, next: None, ..task.standing };
            Ok(())
        })
        .await
    }

    /// Switches a task on or off.
    pub(crate) async fn set_enabled_as(&self, requester: &Requester, id: &str, on: bool) -> Result<Task, AgentError> {
        self.update(requester, id, |task| match (task.standing.status, on) {
            (TaskStatus::Pending, true) | (TaskStatus::Disabled, false) => Ok(()),
            (TaskStatus::Pending, false) => {
                task.standing.status = TaskStatus::Disabled;
                Ok(())
            }
            (TaskStatus::Disabled, true) => {
                task.standing = Standing::begin(&task.new.trigger, requester.now);
                Ok(())
            }
            _ => Err(over(task)),
        })
        .await
    }

    /// Changes a task as it is now. When somebody else changes it meanwhile, `update` is called again with their version.
    pub(super) async fn update(
        &self,
        requester: &Requester,
        id: &str,
        update: impl Fn(&mut Task) -> Result<(), AgentError>,
    ) -> Result<Task, AgentError> {
        let mut tries = 0;
        loop {
            let mut task = self.find_as(requester, id).await?;
            update(&mut task)?;
            tries += 1;
            match self.store.change_task(task, requester.now.as_millisecond()).await {
                Err(StoreError::Conflict { .. }) if tries < TRIES => {}
                changed => {
                    let changed = changed?;
                    self.waker.wake();
                    return Ok(changed);
                }
            }
        }
    }
}

pub(super) fn over(task: &Task) -> AgentError {
    AgentError::Invalid(format!("task {} is {}; make a new one", task.id, task.standing.status))
}
