//! What is done when its time has come. Due times are timers of the store; of several processes on one store one claims
//! what is due, and what it claimed and did not end is claimed again with the same slot.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use limpid_config::process;
use limpid_core::background_wait;
use limpid_services::error::AgentError;
use limpid_store::{Store, TimerLease};
use tokio::task::{AbortHandle, JoinSet};

use crate::jobs::job::Job;
use crate::jobs::serve_event::{Log, ServeEvent};

/// How long a claim lasts when nobody renews it: some looks of the scheduler, which renews what it holds.
const CLAIM: Duration = Duration::from_mins(4);

/// A claim that ends this soon is renewed.
const SOON: Duration = Duration::from_mins(3);

/// How long the scheduler sleeps at most, so that a jumped clock or a suspended machine is noticed.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Things that are done at a time.
const AT_ONCE: usize = 16;

/// Claims what is due and has it done.
pub(crate) struct Scheduler {
    store: Arc<dyn Store>,
    holder: String,
    jobs: HashMap<&'static str, Arc<dyn Job>>,
    running: JoinSet<Ended>,
    /// What runs, by kind and name.
    held: HashMap<(String, String), Held>,
    /// How often each thing failed in a row.
    failures: HashMap<(String, String), u32>,
    log: Log,
}

/// Something that runs.
struct Held {
    lease: TimerLease,
    until_ms: i64,
    run: AbortHandle,
}

/// What became of something that was claimed.
struct Ended {
    lease: TimerLease,
    result: Result<Option<i64>, AgentError>,
}

/// Something that has ended and is not settled yet.
#[must_use = "what has ended is settled by `Scheduler::end`"]
pub(crate) struct HasEnded(Result<Ended, tokio::task::JoinError>);

impl Scheduler {
    /// A scheduler that claims what is due as `holder`. A timer that none of the jobs knows fails, and waits for a program
    /// that does.
    pub(crate) fn new(store: Arc<dyn Store>, holder: &str, jobs: &[Arc<dyn Job>], log: Log) -> Self {
        Self {
            store,
            holder: holder.to_owned(),
            jobs: jobs.iter().map(|job| (job.kind(), Arc::clone(job))).collect(),
            running: JoinSet::new(),
            held: HashMap::new(),
            failures: HashMap::new(),
            log,
        }
    }

    /// Begins what is due at this time as far as there is room, and says when to look again: in milliseconds since 1970;
    /// none when nothing waits.
    pub(crate) async fn step(&mut self, now_ms: i64) -> Result<Option<i64>, AgentError> {
        while let Some(ended) = self.running.try_join_next() {
            self.end(HasEnded(ended), now_ms).await?;
        }
        // First of all, lest a clock that has jumped lets it claim what it is still doing.
        self.hold(now_ms).await?;
        loop {
            let room = AT_ONCE.saturating_sub(self.running.len());
            // When something ends the loop looks again.
            if room == 0 {
                return Ok(None);
            }
            let claim_ms = CLAIM.as_millis() as i64;
            let claimed = self.store.claim_timers(now_ms, &self.holder, claim_ms, room as u32).await?;
            if claimed.is_empty() {
                return Ok(self.store.next_timer_ms().await?);
            }
            for lease in claimed {
                self.begin(lease, now_ms.saturating_add(claim_ms));
            }
        }
    }

    /// Waits until something that was begun has ended; for ever when nothing runs. Whoever stops waiting loses nothing:
    /// what has ended is settled by [`Self::end`], which must be waited for.
    pub(crate) async fn something_ends(&mut self) -> HasEnded {
        match self.running.join_next().await {
            Some(ended) => HasEnded(ended),
            None => std::future::pending().await,
        }
    }

    /// Whether something that was begun has not ended.
    pub(crate) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Waits until everything that was begun has ended.
    pub(crate) async fn idle(&mut self, now_ms: i64) -> Result<(), AgentError> {
        while let Some(ended) = self.running.join_next().await {
            self.end(HasEnded(ended), now_ms).await?;
        }
        Ok(())
    }

    /// What failed under other settings is tried again without the long pauses.
    pub(crate) fn forget_failures(&mut self) {
        self.failures.clear();
    }

    /// Stops what still runs and gives back what was claimed: whoever looks next begins it again with the same slot.
    pub(crate) async fn stop(mut self) -> Result<(), AgentError> {
        self.running.shutdown().await;
        Ok(self.store.release_timers(&self.holder).await?)
    }

    /// Renews the claims of what runs; what another process has taken over stops here.
    async fn hold(&mut self, now_ms: i64) -> Result<(), AgentError> {
        let (soon, until_ms) = (SOON.as_millis() as i64, now_ms.saturating_add(CLAIM.as_millis() as i64));
        let mut lost = Vec::new();
        for (key, held) in &mut self.held {
            if held.until_ms.saturating_sub(now_ms) > soon {
                continue;
            }
            if self.store.extend_timer(&held.lease, until_ms).await? {
                held.until_ms = until_ms;
            } else {
                held.run.abort();
                lost.push(key.clone());
            }
        }
        for key in lost {
            self.held.remove(&key);
            let text = format!("{} {} was taken over by another process", key.0, key.1);
            (self.log)(&ServeEvent::Notice { what: "a run was taken over by another process", text });
        }
        Ok(())
    }

    fn begin(&mut self, lease: TimerLease, until_ms: i64) {
        (self.log)(&ServeEvent::Began { kind: lease.kind.clone(), name: lease.name.clone(), slot_ms: lease.due_ms });
        let job = self.jobs.get(lease.kind.as_str()).map(Arc::clone);
        let (key, kept) = ((lease.kind.clone(), lease.name.clone()), lease.clone());
        let run = self.running.spawn(async move {
            let Some(job) = job else {
                let unknown = format!("this program does not know timers of the kind `{}`", lease.kind);
                return Ended { lease, result: Err(AgentError::Invalid(unknown)) };
            };
            let result = guarded(job, &lease).await;
            Ended { lease, result }
        });
        self.held.insert(key, Held { lease: kept, until_ms, run });
    }

    /// Settles what has ended: it comes again at its next time, or later when it failed.
    pub(crate) async fn end(&mut self, ended: HasEnded, now_ms: i64) -> Result<(), AgentError> {
        // Nothing in the task itself panics, and whoever aborts it does not wait for it.
        let HasEnded(Ok(Ended { lease, result })) = ended else { return Ok(()) };
        let key = (lease.kind.clone(), lease.name.clone());
        self.held.remove(&key);
        let (kind, name) = key.clone();
        match result {
            Ok(next_ms) => {
                self.failures.remove(&key);
                self.store.settle_timer(&lease, next_ms).await?;
                (self.log)(&ServeEvent::Done { kind, name, next_ms });
            }
            Err(error) => {
                let failures = self.failures.entry(key).or_default();
                *failures += 1;
                let again_ms = now_ms.saturating_add(background_wait(*failures).as_millis() as i64);
                self.store.put_off_timer(&lease, again_ms).await?;
                (self.log)(&ServeEvent::Failed { kind, name, why: error.to_string(), again_ms });
            }
        }
        Ok(())
    }
}

/// Claims of processes that are known to be dead are free at once.
///
/// # Errors
/// When they cannot be read or given back.
pub(crate) async fn release_the_dead(store: &dyn Store) -> Result<(), AgentError> {
    for holder in store.timer_holders().await? {
        if process::is_dead(&holder) {
            store.release_timers(&holder).await?;
        }
    }
    Ok(())
}

/// Runs a job in a task of its own, so that one that panics has failed, no more; it stops with whoever waits for it.
async fn guarded(job: Arc<dyn Job>, lease: &TimerLease) -> Result<Option<i64>, AgentError> {
    let (name, slot) = (lease.name.clone(), lease.due_ms);
    let mut task = JoinSet::new();
    task.spawn(async move { job.run(&name, slot).await });
    match task.join_next().await {
        Some(Ok(result)) => result,
        _ => Err(AgentError::Invalid("it broke off; this is a defect, please report it".to_owned())),
    }
}

#[cfg(test)]
mod tests;
