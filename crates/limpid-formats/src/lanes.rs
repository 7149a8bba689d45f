//! Two queues for parsing, so that slow work never holds up quick work for long.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use crate::parser::{Broken, HEAD_SECONDS};
use crate::shares::Shares;

/// Pieces of work at a time that are quick, as far as is known.
pub(crate) const QUICK_AT_ONCE: usize = 4;

/// Pieces of work at a time that turned out to take long.
const SLOW_AT_ONCE: usize = 2;

/// How long work counts as quick: longer than the beginning of a message may be computed on, so that none is begun twice.
const QUICK: Duration = Duration::from_secs(2);

const _: () = assert!(HEAD_SECONDS < QUICK.as_secs());

/// What one reader may have under way at one time.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
}

impl Share {
    /// All places.
    pub(crate) fn whole() -> Self {
        Self { quick: Arc::new(Semaphore::new(QUICK_AT_ONCE)), slow: Arc::new(Semaphore::new(SLOW_AT_ONCE)) }
    }
}

/// Places for work that is quick, and others for what takes long.
#[derive(Debug)]
pub(crate) struct Lanes {
    quick: Semaphore,
    slow: Semaphore,
    quick_shares: Shares,
    slow_shares: Shares,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        let (quick, slow) = (Semaphore::new(QUICK_AT_ONCE), Semaphore::new(SLOW_AT_ONCE));
        Self { quick, slow, quick_shares: Shares::default(), slow_shares: Shares::default() }
    }

    /// The share of one of several readers: half of the places of each queue, so that others find room beside it.
    pub(crate) fn share_of(&self, reader: &str) -> Share {
        Share {
            quick: self.quick_shares.of(reader, QUICK_AT_ONCE / 2),
            slow: self.slow_shares.of(reader, SLOW_AT_ONCE / 2),
        }
    }

    /// Runs work for at most so long. What is not done soon goes on in a place for slow work; if there is none, it is given up and run
    /// again from its start once there is one.
    ///
    /// # Errors
    /// [`Broken::Late`] when there was no place for it in time, [`Broken::Time`] when its own time was not enough.
    pub(crate) async fn run<F: Future>(
        &self,
        share: &Share,
        (until, most): (Option<Instant>, Duration),
        work: impl Fn() -> F,
    ) -> Result<F::Output, Broken> {
        // The reader's own place first: whoever waits for it must not stand in the way of others meanwhile.
        let own = begun(until, share.quick.acquire()).await?;
        let place = begun(until, self.quick.acquire()).await?;
        let mut under_way = Box::pin(work());
        if let Ok(done) = timeout(QUICK.min(most), &mut under_way).await {
            return Ok(done);
        }
        if let Ok(_own_slow) = share.slow.try_acquire()
            && let Ok(_slow) = self.slow.try_acquire()
        {
            drop(place);
            return timeout(most.saturating_sub(QUICK), under_way).await.map_err(|_| Broken::Time);
        }
        drop((under_way, place));
        let _own_slow = begun(until, share.slow.acquire()).await?;
        let _slow = begun(until, self.slow.acquire()).await?;
        let done = timeout(most, work()).await.map_err(|_| Broken::Time);
        drop(own);
        done
    }

    /// Takes every place for quick work.
    #[cfg(test)]
    pub(crate) async fn fill(&self) -> tokio::sync::SemaphorePermit<'_> {
        self.quick.acquire_many(QUICK_AT_ONCE as u32).await.unwrap()
    }
}

/// What a wait ends with.
async fn begun<F: Future>(until: Option<Instant>, wait: F) -> Result<F::Output, Broken> {
    match until {
        Some(until) => timeout_at(until, wait).await.map_err(|_| Broken::Late),
        None => Ok(wait.await),
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::{join, join_all};
    use tokio::time::sleep;

    use super::*;

    const LIMITS: (Option<Instant>, Duration) = (None, Duration::from_secs(10));

    // SEC-093
    #[tokio::test(start_paused = true)]
    async fn quick_work_waits_for_little_of_what_takes_long() {
        let lanes = Lanes::new();
        let readers = ["one", "two", "three"].map(|reader| lanes.share_of(reader));
        let endless = (0..60).map(|at| lanes.run(&readers[at % readers.len()], LIMITS, pending::<()>));
        let quick = async {
            let (own, mut longest) = (lanes.share_of("another"), Duration::ZERO);
            for _ in 0..60 {
                let asked = Instant::now();
                assert_eq!(lanes.run(&own, LIMITS, async || "read").await, Ok("read"));
                longest = longest.max(asked.elapsed());
                sleep(Duration::from_millis(700)).await;
            }
            longest
        };
        let (ended, longest) = join(join_all(endless), quick).await;
        assert!(ended.iter().all(|ended| *ended == Err(Broken::Time)));
        // At most two of each of the three are before it, and four are done at a time.
        assert!(longest <= QUICK * 2, "{longest:?}");
    }

    // SEC-093
    #[tokio::test(start_paused = true)]
    async fn long_work_of_one_reader_waits_for_none_of_another() {
        let lanes = Lanes::new();
        let (one, another) = (lanes.share_of("one"), lanes.share_of("another"));
        let endless = join_all((0..8).map(|_| lanes.run(&one, LIMITS, pending::<()>)));
        let begun = AtomicUsize::new(0);
        let long = async {
            sleep(QUICK * 3).await;
            let asked = Instant::now();
            let work = async || {
                begun.fetch_add(1, Ordering::Relaxed);
                sleep(QUICK * 2).await;
            };
            lanes.run(&another, LIMITS, work).await.unwrap();
            asked.elapsed()
        };
        let (_, took) = join(endless, long).await;
        assert_eq!((took, begun.load(Ordering::Relaxed)), (QUICK * 2, 1));
    }

    // SEC-093
    #[tokio::test(start_paused = true)]
    async fn long_work_is_done_whole_however_much_of_it_there_is() {
        let (lanes, reader, begun) = (Lanes::new(), Share::whole(), AtomicUsize::new(0));
        let work = async || {
            begun.fetch_add(1, Ordering::Relaxed);
            sleep(QUICK * 3).await;
        };
        let done = join_all((0..8).map(|_| lanes.run(&reader, LIMITS, work))).await;
        assert_eq!((done.iter().flatten().count(), begun.load(Ordering::Relaxed)), (8, 14), "two were not given up");
    }
}
