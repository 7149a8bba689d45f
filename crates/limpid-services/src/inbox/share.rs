//! The share of each source: how much of it is written at a time, and how much is kept of it in a day.

use std::sync::{Mutex, PoisonError};

use limpid_core::inbox::Source;
use tokio::sync::Semaphore;

/// What is handed in by one source and written at a time. More wait for each other, and not before a turn of the owner's.
const AT_ONCE: usize = 4;

/// Bytes that are kept of one source in a day.
const BYTES_A_DAY: u64 = 64 << 20;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The shares of all sources.
pub(super) struct Shares {
    mail: Share,
    sms: Share,
    notifications: Share,
}

/// The share of one source.
pub(super) struct Share {
    pub(super) writers: Semaphore,
    day: Mutex<Day>,
}

/// What was kept since a moment.
#[derive(Default)]
struct Day {
    since_ms: i64,
    items: u32,
    bytes: u64,
}

impl Shares {
    pub(super) fn new() -> Self {
        let share = || Share { writers: Semaphore::new(AT_ONCE), day: Mutex::default() };
        Self { mail: share(), sms: share(), notifications: share() }
    }

    pub(super) fn of(&self, source: Source) -> &Share {
        match source {
            Source::Mail => &self.mail,
            Source::Sms => &self.sms,
            Source::Notification => &self.notifications,
        }
    }
}

impl Share {
    /// Whether one more of so many bytes may be kept.
    ///
    /// # Errors
    /// The seconds after which it may.
    pub(super) fn has_room(&self, bytes: usize, (now_ms, items_a_day): (i64, u32)) -> Result<(), u64> {
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins a day too.
        if !(0..DAY_MS).contains(&now_ms.saturating_sub(day.since_ms)) {
            *day = Day { since_ms: now_ms, ..Day::default() };
        }
        let fits = day.items < items_a_day && day.bytes + bytes as u64 <= BYTES_A_DAY;
        let left_ms = day.since_ms.saturating_add(DAY_MS).saturating_sub(now_ms);
        if fits { Ok(()) } else { Err(u64::try_from(left_ms).unwrap_or_default().div_ceil(1000)) }
    }

    /// Says that one was kept.
    pub(super) fn kept(&self, bytes: usize) {
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        day.items = day.items.saturating_add(1);
        day.bytes = day.bytes.saturating_add(bytes as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-093
    #[test]
    fn a_source_has_room_for_so_many_and_so_much_in_a_day_and_the_others_for_theirs() {
        let shares = Shares::new();
        let (sms, mail) = (shares.of(Source::Sms), shares.of(Source::Mail));
        for _ in 0..3 {
            assert_eq!(sms.has_room(10, (1000, 3)), Ok(()));
            sms.kept(10);
        }
        assert_eq!(sms.has_room(10, (61_000, 3)), Err(86_339));
        assert_eq!(sms.has_room(10, (61_000, 4)), Ok(()), "the owner lets more come");
        assert_eq!(mail.has_room(10, (61_000, 3)), Ok(()));
        sms.kept(usize::try_from(BYTES_A_DAY).unwrap() - 40);
        assert!(sms.has_room(11, (61_000, 100)).is_err() && sms.has_room(10, (61_000, 100)).is_ok());
        assert_eq!(sms.has_room(11, (1000 + DAY_MS, 3)), Ok(()), "another day");
        sms.kept(11);
        assert_eq!(sms.has_room(11, (5, 1)), Ok(()), "the clock was set back");
    }
}
