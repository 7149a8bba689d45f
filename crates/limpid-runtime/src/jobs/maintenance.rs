//! What keeps the data of an agent small and searchable, now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use limpid_config::{Config, Live};
use limpid_conversation::Housekeeping;
use limpid_services::error::AgentError;
use limpid_services::host::Host;
use limpid_services::memory::Memories;
use limpid_store::{Pruned, Retention, Store};

const MS_PER_DAY: i64 = 86_400_000;

/// Deletes old requests, archives memories, fills the semantic index.
pub(crate) struct Maintenance {
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
    memory: Memories,
    /// Whether requests were deleted since this process started.
    pruned: AtomicBool,
}

impl Maintenance {
    pub(crate) fn new(store: Arc<dyn Store>, config: Live<Config>, host: Host, memory: Memories) -> Self {
        Self { store, config, host, memory, pruned: AtomicBool::new(false) }
    }

    /// Deletes the requests that are older or more than the owner keeps.
    pub(crate) async fn prune_requests(&self) -> Result<Pruned, AgentError> {
        let keep = &self.config.ledger;
        let retention = Retention {
            before_ms: Some(self.host.now_ms() - i64::from(keep.keep_days) * MS_PER_DAY),
            max_bytes: Some(keep.keep_megabytes.saturating_mul(1_000_000)),
        };
        Ok(self.store.prune_requests(retention).await?)
    }

    /// Fills the semantic index while nobody waits for it.
    pub(crate) fn fill_index(&self) {
        self.memory.fill_index_in_background();
    }
}

#[async_trait]
impl Housekeeping for Maintenance {
    /// Requests are pruned once a process, memories are archived at most once a day.
    async fn when_idle(&self) {
        if !self.pruned.swap(true, Ordering::Relaxed) {
            let _ = self.prune_requests().await;
        }
        let _ = self.memory.archive_if_due().await;
        self.fill_index();
    }
}
