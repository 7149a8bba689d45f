//! Waiting, so that tests and simulations need not.

use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};

/// Waits for a while.
pub trait Pause: Send + Sync {
    /// Ends after this time.
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// Waits by the runtime's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealPause;

impl Pause for RealPause {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(time).boxed()
    }
}
