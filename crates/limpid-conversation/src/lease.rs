//! The lease of a conversation: who has it is the only one who writes to it, in any process.

use std::sync::Arc;
use std::time::Duration;

use limpid_config::process;
use limpid_core::ConversationId;
use limpid_services::host::Host;
use limpid_store::{Acquired, Lease, Store, StoreError};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// How long a lease lasts when nobody renews it.
const LASTS: Duration = Duration::from_secs(30);

/// A lease that is renewed while this lives.
pub(crate) struct HeldLease {
    lease: Lease,
    store: Arc<dyn Store>,
    renewing: AbortHandle,
    lost: Arc<Notify>,
}

/// What asking for a lease came to.
pub(crate) enum Attempt {
    Held(HeldLease),
    /// This process, which lives, has it.
    Busy(String),
}

impl HeldLease {
    /// Asks for the lease of a conversation. What a dead process left behind is taken over.
    pub(crate) async fn acquire(
        store: &Arc<dyn Store>,
        host: &Host,
        conversation: &ConversationId,
    ) -> Result<Attempt, StoreError> {
        loop {
            let asked = store.acquire(conversation, host.holder(), host.now_ms(), LASTS.as_millis() as i64);
            match asked.await? {
                Acquired::Lease(lease) => return Ok(Attempt::Held(Self::renewed(store, host, lease))),
                Acquired::Busy(other) if process::is_dead(&other.holder) => {
                    store.release(conversation, other.fence).await?;
                }
                Acquired::Busy(other) => return Ok(Attempt::Busy(other.holder)),
            }
        }
    }

    fn renewed(store: &Arc<dyn Store>, host: &Host, lease: Lease) -> Self {
        let lost = Arc::new(Notify::new());
        let (of, clock, own, tell) = (Arc::clone(store), host.clone(), lease.clone(), Arc::clone(&lost));
        let renewing = tokio::spawn(async move {
            loop {
                tokio::time::sleep(LASTS / 3).await;
                let renewed = of.renew(&own, clock.now_ms(), LASTS.as_millis() as i64).await;
                // Whatever else fails may pass; where it does not, the next write says so.
                if let Err(StoreError::StaleFence { .. }) = renewed {
                    return tell.notify_one();
                }
            }
        });
        Self { lease, store: Arc::clone(store), renewing: renewing.abort_handle(), lost }
    }

    /// The lease, for what is written under it.
    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Waits until somebody else has it.
    pub(crate) async fn lost(&self) {
        self.lost.notified().await;
    }

    /// Gives it back.
    pub(crate) async fn release(self) -> Result<(), StoreError> {
        self.renewing.abort();
        self.store.release(&self.lease.conversation, self.lease.fence).await
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}
