//! The agent at work by itself: it carries on what was interrupted and does what is due, until it is told to stop.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::{Agent, Inner};
use crate::error::AgentError;
use crate::scheduler::{LOOK_AGAIN, Scheduler, jobs};

/// How long what is under way may go on after the agent was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// What happens while an agent serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServeEvent {
    /// It serves from here on.
    Ready,
    /// Something that was due has begun.
    Began {
        /// What kind of thing: `task`, `heartbeat`, …
        kind: String,
        /// Which one.
        name: String,
        /// When it was due, in milliseconds since 1970.
        slot_ms: i64,
    },
    /// It is done.
    Done {
        /// What kind of thing.
        kind: String,
        /// Which one.
        name: String,
        /// When it is due next, in milliseconds since 1970; none: never again.
        next_ms: Option<i64>,
    },
    /// It failed and is tried again.
    Failed {
        /// What kind of thing.
        kind: String,
        /// Which one.
        name: String,
        /// Why.
        why: String,
        /// When it is tried again, in milliseconds since 1970.
        again_ms: i64,
    },
    /// Something that the owner should know, in words.
    Notice(String),
    /// It was told to stop and waits a moment for what is under way.
    Stopping,
}

/// Whoever is told what happens.
pub(crate) type Log = Arc<dyn Fn(&ServeEvent) + Send + Sync>;

impl Agent {
    /// Serves until `stop` ends: carries on interrupted turns and does what is due. Several processes may serve one
    /// home; each thing is done by one of them. What is under way when it stops gets a few seconds; what is not done by
    /// then is begun again, for the same time, by whoever serves next.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn serve(
        &self,
        log: impl Fn(&ServeEvent) + Send + Sync + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<(), AgentError> {
        let log: Log = Arc::new(log);
        let inner = &self.inner;
        let mut scheduler = Scheduler::new(inner, jobs(), Arc::clone(&log));
        scheduler.release_the_dead().await?;
        self.resume().await?;
        inner.look_at_zone().await?;
        inner.arm_heartbeat().await?;
        inner.plan_all_mail().await?;
        log(&ServeEvent::Ready);
        let ended = run(inner, &mut scheduler, &log, stop).await;
        log(&ServeEvent::Stopping);
        // What does not end in time keeps its claim no longer and comes again.
        let _ = tokio::time::timeout(GRACE, scheduler.idle(inner.now_ms())).await;
        scheduler.stop().await?;
        ended
    }

    /// Whether a process serves this home, so that what is due is done.
    pub fn is_served(&self) -> bool {
        self.inner.waker.is_served()
    }

    /// Does what is due at this moment and returns when that is done and delivered. Says when something is due next, in
    /// milliseconds since 1970: for whoever has a clock of their own call the agent.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn run_due(&self) -> Result<Option<i64>, AgentError> {
        self.serve_once(|_| {}).await
    }

    /// The same, and tells what happens.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn serve_once(
        &self,
        log: impl Fn(&ServeEvent) + Send + Sync + 'static,
    ) -> Result<Option<i64>, AgentError> {
        let inner = &self.inner;
        inner.look_at_zone().await?;
        inner.arm_heartbeat().await?;
        let mut scheduler = Scheduler::new(inner, jobs(), Arc::new(log));
        scheduler.release_the_dead().await?;
        let now_ms = inner.now_ms();
        loop {
            scheduler.step(now_ms).await?;
            if !scheduler.is_busy() {
                break;
            }
            scheduler.idle(now_ms).await?;
        }
        scheduler.stop().await?;
        self.deliver_waiting().await?;
        Ok(inner.store.next_timer_ms().await?)
    }
}

/// Does what is due until `stop` ends.
async fn run(
    inner: &Arc<Inner>,
    scheduler: &mut Scheduler,
    log: &Log,
    stop: impl Future<Output = ()>,
) -> Result<(), AgentError> {
    let others = inner.waker.listen();
    if let Err(error) = &others {
        let why = format!("changes that other programs make are seen within a minute, not at once: {error}");
        log(&ServeEvent::Notice(why));
    }
    let others_woke = async || match &others {
        Ok(others) => others.woken().await,
        Err(_) => std::future::pending().await,
    };
    tokio::pin!(stop);
    loop {
        let next_ms = scheduler.step(inner.now_ms()).await?;
        tokio::select! {
            () = &mut stop => return Ok(()),
            () = inner.waker.woken() => {}
            () = others_woke() => {}
            () = inner.pause.pause(until(next_ms, inner.now_ms())) => {}
            ended = scheduler.something_ends() => scheduler.end(ended, inner.now_ms()).await?,
        }
    }
}

/// How long to sleep: until the next due time, and never so long that a jumped clock goes unnoticed.
fn until(next_ms: Option<i64>, now_ms: i64) -> Duration {
    let wait = next_ms.map_or(i64::MAX, |next| next.saturating_sub(now_ms).max(0));
    Duration::from_millis(wait.unsigned_abs()).min(LOOK_AGAIN)
}

impl Inner {
    /// Tells the scheduler, here or in the process that serves this home, that something may be due earlier.
    pub(crate) fn wake_scheduler(&self) {
        self.waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LES-102
    #[test]
    fn the_sleep_ends_with_the_next_due_time_and_after_a_minute_at_the_latest() {
        let waits = [None, Some(0), Some(1_000), Some(1_500), Some(70_000)].map(|next| until(next, 1_000).as_millis());
        assert_eq!(waits, [60_000, 0, 0, 500, 60_000]);
    }
}
