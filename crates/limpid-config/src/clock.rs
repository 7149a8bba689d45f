//! The time, as a value that tests can hold still.

use jiff::Timestamp;

/// A clock.
pub trait Clock: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
