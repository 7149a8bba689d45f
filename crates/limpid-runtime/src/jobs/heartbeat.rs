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
use limpid_core::heartbeat::Why;
use limpid_store::Store;
use tokio::sync::Mutex;

pub use self::run::HeartbeatResult;
pub(crate) use self::run::RunTrigger;
pub use self::status::{DayCost, HeartbeatStatus};

use crate::agent::Inner;
use crate::context::ContextDeps;
use crate::jobs::scheduler::Job;
use crate::jobs::turns::BackgroundTurns;
use crate::services::deliveries::Deliveries;
use crate::services::directory::Directory;
use crate::services::error::AgentError;
use crate::services::events::EventBus;
use crate::services::heartbeat::{HeartbeatSettings, RETRY_MS, TIMER};
use crate::services::host::Host;
use crate::services::models::ModelRegistry;
use crate::services::spending::Spending;

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
    bus: EventBus,
    context: ContextDeps,
    turns: BackgroundTurns,
    /// Held while the heartbeat runs in this process.
    alone: Mutex<()>,
}

impl HeartbeatJob {
    pub(crate) fn new(inner: &Arc<Inner>) -> Self {
        Self {
            heartbeat: inner.heartbeat.clone(),
            store: Arc::clone(&inner.store),
            config: inner.config.clone(),
            host: inner.host.clone(),
            home: inner.home.clone(),
            models: Arc::clone(&inner.models),
            spending: inner.spending.clone(),
            directory: inner.directory.clone(),
            deliveries: inner.deliveries.clone(),
            bus: inner.bus.clone(),
            context: inner.context.clone(),
            turns: BackgroundTurns::new(inner),
            alone: Mutex::new(()),
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
}
