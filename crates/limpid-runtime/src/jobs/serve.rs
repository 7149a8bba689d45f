//! The agent at work by itself: it carries on what was interrupted and does what is due, until it is told to stop.

pub(crate) mod follow;
pub(crate) mod watch;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use limpid_config::process::{Daemon, ServeLock};
use limpid_context::ContextDeps;
use limpid_services::error::AgentError;
use limpid_store::TASK_TIMER;

use crate::jobs::Jobs;
use crate::jobs::scheduler::{LOOK_AGAIN, Scheduler, release_the_dead};
use crate::jobs::serve::follow::Follower;
use crate::jobs::serve_event::{Log, ServeEvent};

/// How long what is under way may go on after the agent was told to stop.
const GRACE: Duration = Duration::from_secs(10);

impl Jobs {
    /// Serves until `stop` ends: carries on interrupted turns, does what is due, and follows its files. One process serves
    /// a home; [`Self::serve_once`] may run beside it. What is under way when it stops gets a few seconds; what is not
    /// done by then is begun again, for the same time, by whoever serves next.
    ///
    /// # Errors
    /// When another process serves this home, or the store fails at the start or at the end. While it serves, it tells
    /// that the store fails and goes on.
    pub async fn serve(
        &self,
        log: impl Fn(&ServeEvent) + Send + Sync + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<(), AgentError> {
        let log: Log = Arc::new(log);
        let ContextDeps { home, host, store, .. } = &self.deps.context;
        let _alone = ServeLock::take(home)?;
        let mut follower = Follower::new(&self.deps, Some(Daemon::here(home, host.holder(), host.now_ms())), &log);
        follower.begin(&log);
        let mut scheduler = Scheduler::new(Arc::clone(store), host.holder(), &self.all, Arc::clone(&log));
        self.begin().await?;
        log(&ServeEvent::Ready);
        self.run(&mut scheduler, &mut follower, &log, stop).await;
        log(&ServeEvent::Stopping);
        // What does not end in time keeps its claim no longer and comes again.
        let _ = tokio::time::timeout(GRACE, scheduler.idle(host.now_ms())).await;
        scheduler.stop().await
    }

    /// Goes by what limpid.toml and the other files of the home say from here on, as [`Self::serve`] does: for a process that lasts
    /// and does nothing by itself, such as an open chat. What the owner forbids elsewhere is forbidden here too.
    pub async fn follow(&self, log: impl Fn(&ServeEvent) + Send + Sync + 'static) {
        let log: Log = Arc::new(log);
        let mut follower = Follower::new(&self.deps, None, &log);
        follower.begin(&log);
        loop {
            follower.look(&log).await;
            tokio::select! {
                () = follower.happens() => {}
                () = self.deps.pause.pause(LOOK_AGAIN) => {}
            }
        }
    }

    /// What comes first, however long the agent serves: what dead processes left is free again and is carried on, and
    /// everything that happens by itself has its timer.
    async fn begin(&self) -> Result<(), AgentError> {
        let deps = &self.deps;
        release_the_dead(&*deps.context.store).await?;
        deps.conversations.resume().await?;
        deps.drafts.expire_and_recover().await?;
        deps.notifications.recover().await?;
        self.plan().await?;
        deps.maintenance.fill_index();
        deps.mcp.connect_all();
        Ok(())
    }

    /// Whether a process serves this home, so that what is due is done.
    pub fn is_served(&self) -> bool {
        self.deps.waker.is_served()
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
        let ContextDeps { host, store, .. } = &self.deps.context;
        let mut scheduler = Scheduler::new(Arc::clone(store), host.holder(), &self.all, Arc::new(log));
        let unfinished = store.unfinished_turns().await?.rows;
        self.begin().await?;
        for turn in unfinished {
            self.deps.conversations.wait_idle(&turn.conversation).await;
        }
        let now_ms = host.now_ms();
        loop {
            scheduler.step(now_ms).await?;
            if !scheduler.is_busy() {
                break;
            }
            scheduler.idle(now_ms).await?;
        }
        scheduler.stop().await?;
        self.deps.conversations.deliver_waiting().await?;
        Ok(store.next_timer_ms().await?)
    }

    /// Does what is due until `stop` ends. While the store fails nothing is done, that is told, and it is tried again: a full
    /// disk or a locked file ends no daemon.
    async fn run(&self, scheduler: &mut Scheduler, follower: &mut Follower, log: &Log, stop: impl Future<Output = ()>) {
        let (waker, host) = (&self.deps.waker, &self.deps.context.host);
        let others = waker.listen();
        if let Err(error) = &others {
            log(&ServeEvent::trouble("changes that other programs make are seen within a minute, not at once", error));
        }
        let others_woke = async || match &others {
            Ok(others) => others.woken().await,
            Err(_) => std::future::pending().await,
        };
        tokio::pin!(stop);
        let mut failures = 0;
        let mut latest_ms = host.now_ms();
        loop {
            let now_ms = host.now_ms();
            if now_ms < latest_ms.saturating_sub(SET_BACK_MS) {
                // Told afterwards, so that whoever hears it may rely on the new times.
                let replanned = self.after_clock_moved_back().await;
                log(&ServeEvent::notice("the clock was set back; what waits for its time is counted anew"));
                if let Err(error) = replanned {
                    log(&ServeEvent::trouble("what waits cannot be counted anew", error));
                }
            }
            latest_ms = now_ms;
            if follower.look(log).await
                && let Err(error) = self.look_again(scheduler).await
            {
                log(&ServeEvent::trouble("what waits cannot be planned by the new settings", error));
            }
            let step = match release_the_dead(&*self.deps.context.store).await {
                Ok(()) => scheduler.step(host.now_ms()).await,
                Err(error) => Err(error),
            };
            let wait = match step {
                Ok(next_ms) => {
                    if failures > 0 {
                        log(&ServeEvent::notice("the store works again"));
                    }
                    failures = 0;
                    until(next_ms, host.now_ms())
                }
                Err(error) => {
                    failures += 1;
                    let wait = after(failures);
                    log(&ServeEvent::Trouble {
                        what: "nothing can be done for a while",
                        text: format!("nothing can be done for {} s: {error}", wait.as_secs()),
                    });
                    wait
                }
            };
            tokio::select! {
                () = &mut stop => return,
                () = waker.woken() => {}
                () = others_woke() => {}
                () = follower.happens() => {}
                () = self.deps.pause.pause(wait) => {}
                ended = scheduler.something_ends() => {
                    if let Err(error) = scheduler.end(ended, host.now_ms()).await {
                        // Its claim runs out, and it comes again; whatever it did is not done twice.
                        log(&ServeEvent::trouble("what has ended cannot be written down", error));
                    }
                }
            }
        }
    }

    /// What waited because of a setting is looked at by the new ones.
    async fn look_again(&self, scheduler: &mut Scheduler) -> Result<(), AgentError> {
        scheduler.forget_failures();
        self.plan().await?;
        Ok(self.deps.context.store.undelay_timers(TASK_TIMER).await?)
    }

    /// Gives everything that happens by itself its timer.
    async fn plan(&self) -> Result<(), AgentError> {
        self.check_time_zone().await?;
        for job in &self.all {
            job.plan().await?;
        }
        self.after_clock_moved_back().await
    }

    /// Counts what waits for its time by the clock as it is now: it may have been set back since.
    async fn after_clock_moved_back(&self) -> Result<(), AgentError> {
        for job in &self.all {
            job.after_clock_moved_back().await?;
        }
        Ok(())
    }
}

/// How far the clock goes back when it was set back and not only corrected, in milliseconds.
const SET_BACK_MS: i64 = 60_000;

/// How long to wait when the store has failed so many times in a row: from a second to a minute.
fn after(failures: u32) -> Duration {
    Duration::from_secs(2_u64.saturating_pow(failures.saturating_sub(1))).min(LOOK_AGAIN)
}

/// How long to sleep: until the next due time, and never so long that a jumped clock goes unnoticed.
fn until(next_ms: Option<i64>, now_ms: i64) -> Duration {
    let wait = next_ms.map_or(i64::MAX, |next| next.saturating_sub(now_ms).max(0));
    Duration::from_millis(wait.unsigned_abs()).min(LOOK_AGAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-042
    #[test]
    fn a_store_that_fails_is_tried_again_later_and_later() {
        let waits: Vec<u64> = (1..=8).map(|failures| after(failures).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(after(u32::MAX).as_secs(), 60);
    }

    // LES-102
    #[test]
    fn the_sleep_ends_with_the_next_due_time_and_after_a_minute_at_the_latest() {
        let waits = [None, Some(0), Some(1_000), Some(1_500), Some(70_000)].map(|next| until(next, 1_000).as_millis());
        assert_eq!(waits, [60_000, 0, 0, 500, 60_000]);
    }
}
