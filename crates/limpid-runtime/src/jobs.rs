//! What runs when its time has come.

pub mod catalogue;
pub(crate) mod deps;
pub mod draft_expiry;
pub mod heartbeat;
pub(crate) mod job;
pub mod mail;
pub mod mail_idle;
pub mod maintenance;
pub mod scheduler;
pub mod serve;
pub(crate) mod serve_event;
pub mod task_runs;

use std::sync::Arc;

use limpid_services::deliveries::Announcement;
use limpid_services::error::AgentError;
use limpid_store::{Pruned, Task, TaskRun};

use crate::jobs::catalogue::CatalogueJob;
use crate::jobs::deps::JobDeps;
use crate::jobs::draft_expiry::Expiry;
use crate::jobs::heartbeat::{HeartbeatJob, HeartbeatResult, HeartbeatStatus, RunTrigger};
use crate::jobs::job::Job;
use crate::jobs::mail::MailJob;
use crate::jobs::task_runs::TaskJob;

/// What an agent does by itself, and its runs by hand.
pub struct Jobs {
    deps: JobDeps,
    heartbeat: Arc<HeartbeatJob>,
    tasks: Arc<TaskJob>,
    /// Every kind of job, in the order in which they plan their timers.
    all: Vec<Arc<dyn Job>>,
}

impl Jobs {
    pub(crate) fn new(deps: JobDeps) -> Self {
        let heartbeat = Arc::new(HeartbeatJob::new(&deps));
        let tasks = Arc::new(TaskJob::new(&deps));
        let all: Vec<Arc<dyn Job>> = vec![
            Arc::clone(&tasks) as Arc<dyn Job>,
            Arc::clone(&heartbeat) as Arc<dyn Job>,
            Arc::new(MailJob::new(&deps)),
            Arc::new(CatalogueJob::new(&deps.context)),
            Arc::new(Expiry(deps.drafts.clone())),
        ];
        Self { deps, heartbeat, tasks, all }
    }

    /// Runs the heartbeat, whatever the hour, the interval and the news; not when it or scheduling is switched off,
    /// and not while another call of a model is in progress.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn run_heartbeat(&self) -> Result<HeartbeatResult, AgentError> {
        self.heartbeat.run_for(RunTrigger::ByHand).await
    }

    /// The state of the heartbeat at this moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn heartbeat_status(&self) -> Result<HeartbeatStatus, AgentError> {
        heartbeat::status(&self.heartbeat).await
    }

    /// Runs a task at once, whatever its time is, and returns when that run is over. A process that serves this home
    /// may be the one that runs it.
    ///
    /// # Errors
    /// When there is none of that number that waits or is done, or it cannot be run.
    pub async fn run_task(&self, id: &str) -> Result<(Task, TaskRun), AgentError> {
        let ran = self.tasks.run_now(id).await?;
        self.deps.conversations.deliver_waiting().await?;
        Ok(ran)
    }

    /// The same in a process that goes on: what it says is delivered as soon as its conversation is free, and nobody waits for
    /// others, in one of which a question may be open.
    ///
    /// # Errors
    /// As there.
    pub async fn begin_task(&self, id: &str) -> Result<(Task, TaskRun), AgentError> {
        let ran = self.tasks.run_now(id).await?;
        self.deps.deliveries.wake_pending().await?;
        Ok(ran)
    }

    /// Deletes the requests that are older or more than the owner keeps.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn prune_requests(&self) -> Result<Pruned, AgentError> {
        self.deps.maintenance.prune_requests().await
    }

    /// Writes down the owner's zone when it is another one than before, and asks them once what becomes of the tasks that
    /// keep the old one.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check_time_zone(&self) -> Result<(), AgentError> {
        if let Some(notice) = self.deps.tasks.check_time_zone().await? {
            let told = Announcement::new(notice.title.into(), notice.text);
            self.deps.deliveries.notice(None, &notice.key, told).await?;
        }
        Ok(())
    }
}
