//! The heartbeat: the agent looks at what has come in, unasked, and speaks only when something needs its owner.
//!
//! When a run is due is decided by [`limpid_core::heartbeat::gate`]. A run that has nothing new to look at asks no
//! model; one that asks is a turn of a hidden conversation, and what came of it is written in one transaction.
//!
//! - [`beat`]: one run, from the question whether it is due to its end.
//! - [`end`]: what the end of a run means, and what is written.
//! - [`news`]: what there is to look at, and which of it a run has shown.
//! - [`standing`]: what is looked at again and again, and when each of it is due.
//! - [`settings`], [`opening`], [`status`]: what the owner sets and sees.

pub(crate) mod decision_tool;
pub(crate) mod opening;
pub(crate) mod settings;
pub(crate) mod standing;

use std::sync::Arc;

use async_trait::async_trait;
use limpid_config::process;
use limpid_core::heartbeat::Why;

use crate::agent::Inner;
use crate::jobs::heartbeat::run::{AGAIN_MS, Asked};
use crate::jobs::scheduler::Job;
use crate::services::error::AgentError;

pub(crate) use crate::jobs::heartbeat::pending_work::has_items;
pub use crate::jobs::heartbeat::run::Beat;
pub use crate::jobs::heartbeat::status::{DayCost, HeartbeatStatus};
pub(crate) use crate::services::heartbeat::decision_tool::HEARTBEAT_DECISION;
pub use crate::services::heartbeat::opening::HeartbeatOpening;
pub use crate::services::heartbeat::settings::HeartbeatChange;
pub(crate) use crate::services::heartbeat::settings::read_settings;
pub(crate) use crate::services::heartbeat::standing::{StandingItem, due_items};

/// The path of a profile that renders a heartbeat.
pub(crate) const PATH: &str = "heartbeat";

/// The kind of its timer, and the timer's name.
pub(crate) const TIMER: &str = "heartbeat";

/// Reports that a run is shown.
pub(crate) const PREVIOUS: u32 = 3;

/// The job of the scheduler.
pub(crate) struct Heartbeat;

#[async_trait]
impl Job for Heartbeat {
    fn kind(&self) -> &'static str {
        TIMER
    }

    async fn run(&self, inner: &Arc<Inner>, _name: &str, slot_ms: i64) -> Result<Option<i64>, AgentError> {
        match inner.beat(Asked::Slot(slot_ms)).await? {
            Beat::Waits(Why::Busy) => Ok(Some(inner.host.now_ms() + AGAIN_MS)),
            Beat::Ran(_) | Beat::Waits(_) => inner.next_beat().await,
        }
    }
}

impl Inner {
    /// Sees to it that the heartbeat has its timer; its interval counts from here when it never did.
    pub(crate) async fn arm_heartbeat(&self) -> Result<(), AgentError> {
        self.store.start_heartbeat(self.host.now_ms()).await?;
        // A run that its process left is carried on at once, not at the next time.
        let running = self.store.heartbeat().await?.running;
        if running.is_some_and(|running| process::is_dead(&running.holder)) {
            return Ok(self.store.set_timer(TIMER, TIMER, self.host.now_ms()).await?);
        }
        let timers = self.store.timers().await?.rows;
        if !timers.iter().any(|timer| timer.kind == TIMER) {
            self.set_heartbeat_timer().await?;
        }
        Ok(())
    }

    /// Has the heartbeat wait for its next time by the clock as it is now.
    pub(crate) async fn bring_back_heartbeat(&self) -> Result<(), AgentError> {
        let timers = self.store.timers().await?.rows;
        let Some(due_ms) = timers.into_iter().find(|timer| timer.kind == TIMER).map(|timer| timer.due_ms) else {
            return Ok(());
        };
        match self.next_beat().await? {
            Some(next_ms) if next_ms < due_ms => Ok(self.store.set_timer(TIMER, TIMER, next_ms).await?),
            _ => Ok(()),
        }
    }

    /// Sets the timer to when something can be due next, or takes it out.
    async fn set_heartbeat_timer(&self) -> Result<(), AgentError> {
        match self.next_beat().await? {
            Some(due_ms) => self.store.set_timer(TIMER, TIMER, due_ms).await?,
            None => self.store.remove_timer(TIMER, TIMER).await?,
        }
        Ok(())
    }
}
