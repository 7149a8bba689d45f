//! Where work waits that may take long: behind other work that does, and before none that is quick.

use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use crate::parser::Broken;

/// Pieces of work at a time that are quick, as far as is known.
pub(crate) const QUICK_AT_ONCE: usize = 4;

/// Pieces of work at a time that turned out to take long.
const SLOW_AT_ONCE: usize = 2;

/// How long work counts as quick.
const QUICK: Duration = Duration::from_secs(1);

/// Places for work that is quick, and others for what takes long.
#[derive(Debug)]
pub(crate) struct Lanes {
    quick: Semaphore,
    slow: Semaphore,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self { quick: Semaphore::new(QUICK_AT_ONCE), slow: Semaphore::new(SLOW_AT_ONCE) }
    }

    /// Does the work, within so much time. What takes long goes on in a place for such; where there is none free it is given up, and done
    /// from its beginning once there is one.
    ///
    /// # Errors
    /// [`Broken::Late`] when it could not be begun until then, [`Broken::Time`] when its own time was not enough.
    pub(crate) async fn run<F: Future>(
        &self,
        until: Option<Instant>,
        most: Duration,
        work: impl Fn() -> F,
    ) -> Result<F::Output, Broken> {
        let place = begun(until, self.quick.acquire()).await?;
        let mut under_way = Box::pin(work());
        if let Ok(done) = timeout(QUICK.min(most), &mut under_way).await {
            return Ok(done);
        }
        if let Ok(_slow) = self.slow.try_acquire() {
            drop(place);
            return timeout(most.saturating_sub(QUICK), under_way).await.map_err(|_| Broken::Time);
        }
        drop((under_way, place));
        let _slow = begun(until, self.slow.acquire()).await?;
        timeout(most, work()).await.map_err(|_| Broken::Time)
    }

    /// Takes every place for quick work.
    #[cfg(test)]
    pub(crate) async fn fill(&self) -> tokio::sync::SemaphorePermit<'_> {
        self.quick.acquire_many(QUICK_AT_ONCE as u32).await.unwrap()
    }
}

/// What a wait ends with.
///
/// # Errors
/// [`Broken::Late`] when it has not ended by then.
pub(crate) async fn begun<F: Future>(until: Option<Instant>, wait: F) -> Result<F::Output, Broken> {
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

    const MOST: Duration = Duration::from_secs(10);

    // SEC-093
    #[tokio::test(start_paused = true)]
    async fn quick_work_waits_for_none_that_takes_long() {
        let lanes = Lanes::new();
        let endless = join_all((0..40).map(|_| lanes.run(None, MOST, pending::<()>)));
        let quick = async {
            // As soon as all of them were begun.
            sleep(QUICK * 10).await;
            let begun = Instant::now();
            for _ in 0..20 {
                assert_eq!(lanes.run(None, MOST, async || "read").await, Ok("read"));
            }
            begun.elapsed()
        };
        let (ended, waited) = join(endless, quick).await;
        assert_eq!((ended.len(), ended.iter().flatten().count(), waited), (40, 0, Duration::ZERO));
    }

    // SEC-093
    #[tokio::test(start_paused = true)]
    async fn long_work_is_done_whole_however_much_of_it_there_is() {
        let (lanes, begun) = (Lanes::new(), AtomicUsize::new(0));
        let work = async || {
            begun.fetch_add(1, Ordering::Relaxed);
            sleep(QUICK * 3).await;
        };
        let done = join_all((0..8).map(|_| lanes.run(None, MOST, work))).await;
        assert_eq!((done.iter().flatten().count(), begun.load(Ordering::Relaxed)), (8, 14), "two were not given up");
    }
}
