//! Drafts that nobody answers in time expire by a timer of their own.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::DraftState;

use crate::agent::Inner;
use crate::jobs::scheduler::Job;
use crate::services::error::AgentError;

/// The kind of the timer.
const KIND: &str = "expiry";

/// Its name.
const NAME: &str = "drafts";

/// Expires drafts.
pub(crate) struct Expiry(pub(crate) Arc<Inner>);

#[async_trait]
impl Job for Expiry {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, _: &str, _: i64) -> Result<Option<i64>, AgentError> {
        self.0.settle_drafts().await?;
        self.0.next_expiry_ms().await
    }
}

impl Inner {
    /// Sets the timer after a draft was kept.
    pub(crate) async fn watch_drafts(&self) -> Result<(), AgentError> {
        if let Some(due_ms) = self.next_expiry_ms().await? {
            self.store.set_timer(KIND, NAME, due_ms).await?;
            self.waker.wake();
        }
        Ok(())
    }

    /// When the next draft expires, in milliseconds since 1970.
    async fn next_expiry_ms(&self) -> Result<Option<i64>, AgentError> {
        let open = self.store.drafts(&[DraftState::Open]).await?.rows;
        Ok(open.into_iter().map(|draft| draft.new.expires_ms).min())
    }
}
