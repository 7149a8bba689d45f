//! The weekly update of what is known of models, when the owner wants it. A list that is fetched twice does no harm.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_config::{CatalogueUpdate, Config, Live};
use limpid_context::ContextDeps;
use limpid_services::error::AgentError;
use limpid_services::host::Host;
use limpid_services::models::ModelRegistry;
use limpid_store::Store;

use crate::jobs::job::Job;

/// The kind of the timer of the weekly update, and its name.
const KIND: &str = "catalogue";
const NAME: &str = "weekly";

const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// The weekly update.
pub(crate) struct CatalogueJob {
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
    models: Arc<ModelRegistry>,
}

impl CatalogueJob {
    pub(crate) fn new(deps: &ContextDeps) -> Self {
        let ContextDeps { store, config, host, models, .. } = deps.clone();
        Self { store, config, host, models }
    }
}

#[async_trait]
impl Job for CatalogueJob {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, _name: &str, _slot_ms: i64) -> Result<Option<i64>, AgentError> {
        if self.config.catalogue.update != CatalogueUpdate::Weekly {
            return Ok(None);
        }
        self.models.update(None).await?;
        Ok(Some(self.host.now_ms().saturating_add(WEEK_MS)))
    }

    /// Sets the timer of the next update, a week after the day of the table that is there, or removes it.
    async fn plan(&self) -> Result<(), AgentError> {
        if self.config.catalogue.update != CatalogueUpdate::Weekly {
            return Ok(self.store.remove_timer(KIND, NAME).await?);
        }
        let now_ms = self.host.now_ms();
        // A clock that was set back must not keep the update away until the old time comes again.
        let due_ms =
            self.models.fetched_on().map_or(now_ms, |day| day.as_millisecond().min(now_ms).saturating_add(WEEK_MS));
        Ok(self.store.set_timer(KIND, NAME, due_ms).await?)
    }
}
