//! When things are due, and who works on what is.

use async_trait::async_trait;

use crate::{Fence, Listed, StoreError};

/// Timers: one for each thing that has a next time, known by its kind and name.
///
/// What is due is claimed for a while, so that of several processes one works on it. A claim whose process died runs
/// out, and the next one gets the same due time: what is done then can tell that it is the same.
#[async_trait]
pub trait Timers: Send + Sync {
    /// Sets when something is due next. Whoever works on it meanwhile goes on, and the new time stays when it is done.
    async fn set_timer(&self, kind: &str, name: &str, due_ms: i64) -> Result<(), StoreError>;

    /// Makes the timers of a kind due at their own times again, whatever they were put off by. Those that somebody works on
    /// stay as they are, and no time changes.
    async fn undelay_timers(&self, kind: &str) -> Result<(), StoreError>;

    /// Takes a timer out; nothing happens when there is none.
    async fn remove_timer(&self, kind: &str, name: &str) -> Result<(), StoreError>;

    /// Every timer, the one that is due first before the others.
    async fn timers(&self) -> Result<Listed<Timer>, StoreError>;

    /// When there is something to claim next: the earliest due time, or the end of a claim of what is due.
    async fn next_timer_ms(&self) -> Result<Option<i64>, StoreError>;

    /// Claims what is due and nobody works on, oldest first, until `now_ms + lease_ms`.
    async fn claim_timers(
        &self,
        now_ms: i64,
        holder: &str,
        lease_ms: i64,
        limit: u32,
    ) -> Result<Vec<TimerLease>, StoreError>;

    /// Claims one timer; none when it is not due, somebody works on it, or there is none.
    async fn claim_timer(
        &self,
        kind: &str,
        name: &str,
        now_ms: i64,
        holder: &str,
        lease_ms: i64,
    ) -> Result<Option<TimerLease>, StoreError>;

    /// Moves the end of a claim to `until_ms`; false when the claim is somebody else's.
    async fn extend_timer(&self, lease: &TimerLease, until_ms: i64) -> Result<bool, StoreError>;

    /// Ends a claim: the timer is due at `next_ms`, or gone when that is none. A timer that was set to another time
    /// since keeps that one. False, with nothing changed, when the claim was somebody else's.
    async fn settle_timer(&self, lease: &TimerLease, next_ms: Option<i64>) -> Result<bool, StoreError>;

    /// Ends a claim of what failed: the same due time can be claimed again from `again_ms` on, or once the timer is set
    /// anew. False when the claim was somebody else's.
    async fn put_off_timer(&self, lease: &TimerLease, again_ms: i64) -> Result<bool, StoreError>;

    /// Everybody who holds a claim.
    async fn timer_holders(&self) -> Result<Vec<String>, StoreError>;

    /// Ends every claim of a holder that is gone; each timer keeps its due time.
    async fn release_timers(&self, holder: &str) -> Result<(), StoreError>;
}

/// When something is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// What kind of thing: `task`, `heartbeat`, `mail`, `expiry`.
    pub kind: String,
    /// Which one.
    pub name: String,
    /// When, in milliseconds since 1970.
    pub due_ms: i64,
    /// Who works on it.
    pub holder: Option<String>,
}

/// The right to work on what is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerLease {
    /// What kind of thing.
    pub kind: String,
    /// Which one.
    pub name: String,
    /// When it was due, in milliseconds since 1970; the same again when an earlier claim ran out.
    pub due_ms: i64,
    /// The number of this claim.
    pub fence: Fence,
}
