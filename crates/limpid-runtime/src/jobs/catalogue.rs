//! The weekly update of what is known of models, when the owner wants it. A list that is fetched twice does no harm.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_config::CatalogueUpdate;

use crate::agent::Inner;
use crate::jobs::scheduler::Job;
use crate::services::error::AgentError;

/// The kind of the timer of the weekly update, and its name.
const KIND: &str = "catalogue";
const NAME: &str = "weekly";

const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// The weekly update.
pub(crate) struct CatalogueJob;

/// Has the table updated every week, counted from the day of the one that is there.
pub(crate) async fn plan(inner: &Inner) -> Result<(), AgentError> {
    if inner.config.catalogue.update != CatalogueUpdate::Weekly {
        return Ok(inner.store.remove_timer(KIND, NAME).await?);
    }
    let now_ms = inner.host.now_ms();
    // A clock that was set back must not keep the update away until the old time comes again.
    let due_ms =
        inner.models.fetched_on().map_or(now_ms, |day| day.as_millisecond().min(now_ms).saturating_add(WEEK_MS));
    Ok(inner.store.set_timer(KIND, NAME, due_ms).await?)
}

#[async_trait]
impl Job for CatalogueJob {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, inner: &Arc<Inner>, _name: &str, _slot_ms: i64) -> Result<Option<i64>, AgentError> {
        if inner.config.catalogue.update != CatalogueUpdate::Weekly {
            return Ok(None);
        }
        inner.models.update(None).await?;
        Ok(Some(inner.host.now_ms().saturating_add(WEEK_MS)))
    }
}
