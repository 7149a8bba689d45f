//! What runs when its time has come.

pub mod catalogue;
pub mod draft_expiry;
pub mod heartbeat;
pub mod mail;
pub mod mail_idle;
pub mod maintenance;
pub mod scheduler;
pub mod serve;
pub mod task_runs;
pub(crate) mod turns;

use std::sync::Arc;

use limpid_store::{Pruned, Task, TaskRun};

use crate::agent::Inner;
use crate::jobs::catalogue::CatalogueJob;
use crate::jobs::draft_expiry::Expiry;
use crate::jobs::heartbeat::{HeartbeatJob, HeartbeatResult, HeartbeatStatus, RunTrigger};
use crate::jobs::mail::MailJob;
use crate::jobs::maintenance::Maintenance;
use crate::jobs::scheduler::Job;
use crate::jobs::task_runs::TaskJob;
use crate::jobs::turns::BackgroundTurns;
use crate::services::error::AgentError;

/// What an agent does by itself, and its runs by hand.
pub struct Jobs {
    inner: Arc<Inner>,
    turns: BackgroundTurns,
    catalogue: Arc<CatalogueJob>,
    heartbeat: Arc<HeartbeatJob>,
    maintenance: Arc<Maintenance>,
    mail: Arc<MailJob>,
    tasks: Arc<TaskJob>,
    /// Every kind of job.
    all: Vec<Arc<dyn Job>>,
}

impl Jobs {
    pub(crate) fn new(inner: &Arc<Inner>, maintenance: Arc<Maintenance>) -> Self {
        let catalogue = Arc::new(CatalogueJob::new(inner));
        let heartbeat = Arc::new(HeartbeatJob::new(inner));
        let (store, host, pause) = (Arc::clone(&inner.store), inner.host.clone(), Arc::clone(&inner.pause));
        let mail = Arc::new(MailJob::new(Arc::clone(&inner.mail), store, host, pause));
        let tasks = Arc::new(TaskJob::new(inner));
        let all: Vec<Arc<dyn Job>> = vec![
            Arc::clone(&catalogue) as Arc<dyn Job>,
            Arc::new(Expiry(inner.drafts.clone())),
            Arc::clone(&heartbeat) as Arc<dyn Job>,
            Arc::clone(&mail) as Arc<dyn Job>,
            Arc::clone(&tasks) as Arc<dyn Job>,
        ];
        Self {
            inner: Arc::clone(inner),
            turns: BackgroundTurns::new(inner),
            catalogue,
            heartbeat,
            maintenance,
            mail,
            tasks,
            all,
        }
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
        self.heartbeat.status().await
    }

    /// Runs a task at once, whatever its time is, and returns when that run is over. A process that serves this home
    /// may be the one that runs it.
    ///
    /// # Errors
    /// When there is none of that number that waits or is done, or it cannot be run.
    pub async fn run_task(&self, id: &str) -> Result<(Task, TaskRun), AgentError> {
        self.tasks.run_now(id).await
    }

    /// Deletes the requests that are older or more than the owner keeps.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn prune_requests(&self) -> Result<Pruned, AgentError> {
        self.maintenance.prune_requests().await
    }

    /// Writes down the owner's zone when it is another one than before, and asks them once what becomes of the tasks that
    /// keep the old one.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check_time_zone(&self) -> Result<(), AgentError> {
        if let Some(notice) = self.inner.tasks.check_time_zone().await? {
            self.inner.deliveries.notice(None, &notice.key, notice.title, notice.text).await?;
        }
        Ok(())
    }
}
