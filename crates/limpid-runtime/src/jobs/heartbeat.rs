//! The heartbeat's runs: the agent looks at what has come in, unasked.
//!
//! - `run`: one run, from the question whether it is due to its end.
//! - `pending_work`: what there is to look at.
//! - `outcome`: what the end of a run means, and what is written.
//! - `status`: what the owner sees.

mod outcome;
mod pending_work;
mod run;
mod status;

use std::sync::Arc;

use async_trait::async_trait;
use limpid_config::{Config, Home, Live};
use limpid_context::ContextDeps;
use limpid_conversation::Conversations;
use limpid_core::heartbeat::Why;
use limpid_services::deliveries::Deliveries;
use limpid_services::directory::Directory;
use limpid_services::error::AgentError;
use limpid_services::events::EventBus;
use limpid_services::heartbeat::{HeartbeatSettings, RETRY_MS, TIMER};
use limpid_services::host::Host;
use limpid_services::models::ModelRegistry;
use limpid_services::modes::Modes;
use limpid_services::spending::Spending;
use limpid_store::Store;
use tokio::sync::Mutex;

pub use self::run::HeartbeatResult;
pub(crate) use self::run::RunTrigger;
pub(crate) use self::status::status;
pub use self::status::{DayCost, HeartbeatStatus};

use crate::jobs::deps::JobDeps;
use crate::jobs::job::Job;

/// Runs the heartbeat.
pub(crate) struct HeartbeatJob {
    heartbeat: HeartbeatSettings,
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
    home: Home,
    models: Arc<ModelRegistry>,
    spending: Spending,
    directory: Directory,
    deliveries: Deliveries,
    events: EventBus,
    context: ContextDeps,
    conversations: Conversations,
    modes: Modes,
    /// Held while the heartbeat runs in this process.
    alone: Mutex<()>,
}

impl HeartbeatJob {
    pub(crate) fn new(deps: &JobDeps) -> Self {
        let context = deps.context.clone();
        Self {
            heartbeat: deps.heartbeat.clone(),
            store: Arc::clone(&context.store),
            config: context.config.clone(),
            host: context.host.clone(),
            home: context.home.clone(),
            models: Arc::clone(&context.models),
            spending: deps.spending.clone(),
            directory: deps.directory.clone(),
            deliveries: deps.deliveries.clone(),
            events: deps.events.clone(),
            conversations: deps.conversations.clone(),
            context,
            alone: Mutex::new(()),
            modes: deps.modes.clone(),
        }
    }
}

#[async_trait]
impl Job for HeartbeatJob {
    fn kind(&self) -> &'static str {
        TIMER
    }

    async fn run(&self, _name: &str, slot_ms: i64) -> Result<Option<i64>, AgentError> {
        match self.run_for(RunTrigger::Slot(slot_ms)).await? {
            HeartbeatResult::Waits(Why::Busy) => Ok(Some(self.host.now_ms() + RETRY_MS)),
            HeartbeatResult::Ran(_) | HeartbeatResult::Waits(_) => self.heartbeat.next_due_ms().await,
        }
    }

    async fn plan(&self) -> Result<(), AgentError> {
        self.heartbeat.schedule().await
    }

    async fn after_clock_moved_back(&self) -> Result<(), AgentError> {
        self.heartbeat.after_clock_moved_back().await
    }
}
