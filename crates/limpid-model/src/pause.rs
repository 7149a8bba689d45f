//! Waiting, so that tests and simulations need not.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};

/// Waits for a while.
pub trait Pause: Send + Sync {
    /// Ends after this time.
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Where in its range a wait lies, from 0 to 1, so that those who wait for the same thing do not come back together.
    fn spread(&self) -> f64 {
        0.0
    }
}

/// Waits by the runtime's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealPause;

impl Pause for RealPause {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(time).boxed()
    }

    fn spread(&self) -> f64 {
        // Each one has keys of its own, so even an empty text has another hash each time.
        let drawn = RandomState::new().build_hasher().finish();
        f64::from(u32::try_from(drawn >> 32).unwrap_or_default()) / f64::from(u32::MAX)
    }
}
