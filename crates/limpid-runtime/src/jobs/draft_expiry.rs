//! Drafts that nobody answers in time expire by a timer of their own.

use async_trait::async_trait;
use limpid_services::drafts::{Drafts, EXPIRY_TIMER};
use limpid_services::error::AgentError;

use crate::jobs::job::Job;

/// Expires drafts.
pub(crate) struct Expiry(pub(crate) Drafts);

#[async_trait]
impl Job for Expiry {
    fn kind(&self) -> &'static str {
        EXPIRY_TIMER
    }

    async fn run(&self, _: &str, _: i64) -> Result<Option<i64>, AgentError> {
        self.0.expire_and_recover().await?;
        self.0.next_expiry_ms().await
    }
}
