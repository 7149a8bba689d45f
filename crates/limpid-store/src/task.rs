//! What is to be done later, and what its runs came to.

use async_trait::async_trait;
use limpid_core::task::{MissedPolicy, RunOutcome, Standing, TaskKind, TaskStatus, Trigger};
use limpid_core::{ConversationId, TaskId, Trust};

use crate::{Listed, NewDelivery, StoreError};

/// The kind of the timers of tasks; a timer's name is its task's number.
pub const TASK_TIMER: &str = "task";

/// Runs of one task that are kept.
pub const KEPT_RUNS: u32 = 10;

/// Tasks. The timer of a task is written together with it, so that a task that is due has one and no other has.
#[async_trait]
pub trait Tasks: Send + Sync {
    /// Keeps a task with its timer. One whose key is known is left as it is, so that making it again makes no second
    /// one.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when its conversation does not exist.
    async fn keep_task(&self, new: NewTask, standing: Standing, now_ms: i64) -> Result<Task, StoreError>;

    /// One task.
    async fn task(&self, id: TaskId) -> Result<Option<Task>, StoreError>;

    /// The tasks of one status or of all, those that are due first before the others.
    async fn tasks(&self, status: Option<TaskStatus>) -> Result<Listed<Task>, StoreError>;

    /// Writes a task as it was changed, with its timer.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when somebody has changed it since it was read; [`StoreError::NotFound`] when there is
    /// none of that number.
    async fn change_task(&self, task: Task, now_ms: i64) -> Result<Task, StoreError>;

    /// Begins a run of a task for a slot, or finds the one that was begun.
    async fn begin_task_run(&self, id: TaskId, slot_ms: i64, now_ms: i64) -> Result<TaskRun, StoreError>;

    /// Ends a run: what it came to, how the task stands, its timer and its message, in one transaction. False, with
    /// nothing written, when it had ended before. A task that waits for another time by then stays as somebody set it.
    async fn end_task_run(&self, end: TaskRunEnd) -> Result<bool, StoreError>;

    /// The newest runs of a task, newest first.
    async fn task_runs(&self, id: TaskId) -> Result<Listed<TaskRun>, StoreError>;
}

/// A task to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTask {
    /// What makes it the same task when it is made again; absent: it is a new one.
    pub key: Option<String>,
    /// What it is, for people.
    pub description: String,
    /// What the model is told, what is sent, or the command.
    pub prompt: String,
    /// What is done.
    pub kind: TaskKind,
    /// What makes it run.
    pub trigger: Trigger,
    /// The zone in which its times are meant and shown, by its IANA name.
    pub zone: String,
    /// What is done about runs that were missed.
    pub missed: MissedPolicy,
    /// The conversation that it was made in and that its output goes to; absent: that of the heartbeat.
    pub conversation: Option<ConversationId>,
    /// The folder in which relative paths began where it was made; absent: the workspace.
    pub base: Option<String>,
    /// Who wrote the least trusted text that it was made from.
    pub trust: Trust,
    /// Whether its texts are what the owner typed, word for word.
    pub typed: bool,
}

/// A task as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// What it is.
    pub new: NewTask,
    /// How it stands and when it is due.
    pub standing: Standing,
    /// How often it was changed.
    pub revision: i64,
    /// When it was made, in milliseconds since 1970.
    pub made_ms: i64,
}

/// One run of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRun {
    /// The task.
    pub task: TaskId,
    /// The time that it was for, in milliseconds since 1970.
    pub slot_ms: i64,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// When it ended and what it came to; absent while it runs.
    pub end: Option<(i64, RunOutcome)>,
    /// What is to be known of it: an error, how many were missed.
    pub detail: String,
    /// The conversation that holds what the model read and wrote, for a run of a model.
    pub conversation: Option<ConversationId>,
    /// Whether it is this call that began it.
    pub fresh: bool,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRunEnd {
    /// The run as it began.
    pub run: TaskRun,
    /// What it came to.
    pub outcome: RunOutcome,
    /// What is to be known of it.
    pub detail: String,
    /// The conversation that holds what the model read and wrote.
    pub conversation: Option<ConversationId>,
    /// How the task stands from here on.
    pub standing: Standing,
    /// What is told to the person.
    pub delivery: Option<NewDelivery>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}
