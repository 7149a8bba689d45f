//! The share of each source: how much of it is written at a time, and how much is kept of it in a day.

use limpid_core::inbox::Source;
use limpid_store::DayShare;
use tokio::sync::Semaphore;

/// What is handed in by one source and written at a time. More wait for each other, and not before a turn of the owner's.
const AT_ONCE: usize = 4;

/// Bytes that are kept of one source in a day.
const BYTES_A_DAY: u64 = 64 << 20;

/// Who may write at a time, of each source.
pub(super) struct Writers {
    mail: Semaphore,
    sms: Semaphore,
    notifications: Semaphore,
}

impl Writers {
    pub(super) fn new() -> Self {
        let writers = || Semaphore::new(AT_ONCE);
        Self { mail: writers(), sms: writers(), notifications: writers() }
    }

    pub(super) fn of(&self, source: Source) -> &Semaphore {
        match source {
            Source::Mail => &self.mail,
            Source::Sms => &self.sms,
            Source::Notification => &self.notifications,
        }
    }
}

/// What is kept of one source in a day.
pub(super) fn of_a_day(items_a_day: u32) -> DayShare {
    DayShare { items: items_a_day, bytes: BYTES_A_DAY }
}
