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

use std::sync::Arc;

use limpid_context::ContextDeps;
use limpid_conversation::Conversations;
use limpid_model::chain::Pause;
use limpid_services::deliveries::Deliveries;
use limpid_services::directory::Directory;
use limpid_services::drafts::Drafts;
use limpid_services::error::AgentError;
use limpid_services::events::EventBus;
use limpid_services::heartbeat::HeartbeatSettings;
use limpid_services::inbox::Inbox;
use limpid_services::mail::MailAccounts;
use limpid_services::modes::Modes;
use limpid_services::notifications::Notifications;
use limpid_services::spending::Spending;
use limpid_services::tasks::Tasks;
use limpid_services::timers::SchedulerWaker;
use limpid_services::tools::ToolExecutor;
use limpid_store::{Pruned, Task, TaskRun};

use crate::agent::settings::LiveSettings;
use crate::jobs::catalogue::CatalogueJob;
use crate::jobs::draft_expiry::Expiry;
use crate::jobs::heartbeat::{HeartbeatJob, HeartbeatResult, HeartbeatStatus, RunTrigger};
use crate::jobs::mail::MailJob;
use crate::jobs::maintenance::Maintenance;
use crate::jobs::scheduler::Job;
use crate::jobs::task_runs::TaskJob;

/// What jobs work with. Each takes its own part of it.
pub(crate) struct JobDeps {
    /// What prompts are made from: home, settings, store, models and more.
    pub(crate) context: ContextDeps,
    pub(crate) conversations: Conversations,
    pub(crate) deliveries: Deliveries,
    pub(crate) directory: Directory,
    pub(crate) drafts: Drafts,
    pub(crate) events: EventBus,
    pub(crate) executor: ToolExecutor,
    pub(crate) heartbeat: HeartbeatSettings,
    pub(crate) inbox: Inbox,
    pub(crate) mail: Arc<MailAccounts>,
    pub(crate) maintenance: Arc<Maintenance>,
    pub(crate) modes: Modes,
    pub(crate) notifications: Notifications,
    pub(crate) pause: Arc<dyn Pause>,
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) spending: Spending,
    pub(crate) tasks: Tasks,
    pub(crate) waker: Arc<SchedulerWaker>,
}

/// What an agent does by itself, and its runs by hand.
pub struct Jobs {
    deps: JobDeps,
    catalogue: Arc<CatalogueJob>,
    heartbeat: Arc<HeartbeatJob>,
    mail: Arc<MailJob>,
    tasks: Arc<TaskJob>,
    /// Every kind of job.
    all: Vec<Arc<dyn Job>>,
}

impl Jobs {
    pub(crate) fn new(deps: JobDeps) -> Self {
        let catalogue = Arc::new(CatalogueJob::new(&deps.context));
        let heartbeat = Arc::new(HeartbeatJob::new(&deps));
        let (store, host, pause) =
            (Arc::clone(&deps.context.store), deps.context.host.clone(), Arc::clone(&deps.pause));
        let mail = Arc::new(MailJob::new(Arc::clone(&deps.mail), store, host, pause));
        let tasks = Arc::new(TaskJob::new(&deps));
        let all: Vec<Arc<dyn Job>> = vec![
            Arc::clone(&catalogue) as Arc<dyn Job>,
            Arc::new(Expiry(deps.drafts.clone())),
            Arc::clone(&heartbeat) as Arc<dyn Job>,
            Arc::clone(&mail) as Arc<dyn Job>,
            Arc::clone(&tasks) as Arc<dyn Job>,
        ];
        Self { deps, catalogue, heartbeat, mail, tasks, all }
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
        self.tasks.run_now(id).await
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
            self.deps.deliveries.notice(None, &notice.key, notice.title, notice.text).await?;
        }
        Ok(())
    }
}
