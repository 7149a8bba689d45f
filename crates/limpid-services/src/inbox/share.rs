//! The share of each source: how much of it is written at a time, and how much is kept of it in a day.

use std::collections::BTreeMap;
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

/// What was kept since a moment, of all senders and of each.
#[derive(Default)]
struct Day {
    since_ms: i64,
    all: Kept,
    senders: BTreeMap<String, Kept>,
}

#[derive(Clone, Copy, Default)]
struct Kept {
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
    /// Whether one more of so many bytes may be kept of a sender, who gets half of what the others leave.
    ///
    /// # Errors
    /// The seconds after which it may.
    pub(super) fn has_room(&self, sender: &str, bytes: usize, (now_ms, items_a_day): (i64, u32)) -> Result<(), u64> {
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins a day too.
        if !(0..DAY_MS).contains(&now_ms.saturating_sub(day.since_ms)) {
            *day = Day { since_ms: now_ms, ..Day::default() };
        }
        let own = day.senders.get(sender).copied().unwrap_or_default();
        let half = |most: u64, all: u64, own: u64| most.saturating_sub(all - own).div_ceil(2);
        let items = half(items_a_day.into(), day.all.items.into(), own.items.into());
        let most = half(BYTES_A_DAY, day.all.bytes, own.bytes);
        let fits = u64::from(own.items) < items && own.bytes.saturating_add(bytes as u64) <= most;
        let left_ms = day.since_ms.saturating_add(DAY_MS).saturating_sub(now_ms);
        if fits { Ok(()) } else { Err(u64::try_from(left_ms).unwrap_or_default().div_ceil(1000)) }
    }

    /// Says that one of a sender was kept.
    pub(super) fn kept(&self, sender: &str, bytes: usize) {
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        let Day { all, senders, .. } = &mut *day;
        for kept in [all, senders.entry(sender.to_owned()).or_default()] {
            kept.items = kept.items.saturating_add(1);
            kept.bytes = kept.bytes.saturating_add(bytes as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many bytes each of a sender are kept, until there is no room.
    fn fill(share: &Share, sender: &str, bytes: usize, at: (i64, u32)) -> usize {
        std::iter::from_fn(|| share.has_room(sender, bytes, at).ok().map(|()| share.kept(sender, bytes))).count()
    }

    // SEC-093
    #[test]
    fn a_sender_has_half_of_what_the_others_leave_and_each_source_its_own_day() {
        let shares = Shares::new();
        let (sms, mail) = (shares.of(Source::Sms), shares.of(Source::Mail));
        assert_eq!(["eve", "mallory", "bob", "ada"].map(|name| fill(sms, name, 10, (1000, 16))), [8, 4, 2, 1]);
        assert_eq!(fill(sms, "eve", 10, (61_000, 16)), 0);
        assert_eq!(sms.has_room("eve", 10, (61_000, 16)), Err(86_339));
        assert_eq!(fill(sms, "eve", 10, (61_000, 25)), 1, "the owner lets more come");
        assert_eq!(fill(mail, "eve", 10, (61_000, 16)), 8);
        assert_eq!(fill(sms, "eve", 10, (1000 + DAY_MS, 16)), 8, "another day");
        assert_eq!(fill(sms, "eve", 10, (5, 1)), 1, "the clock was set back");
    }

    // SEC-093
    #[test]
    fn bytes_are_shared_in_the_same_way_and_a_day_holds_no_more_than_it_may() {
        let shares = Shares::new();
        let (share, part) = (shares.of(Source::Notification), usize::try_from(BYTES_A_DAY / 64).unwrap());
        let kept = ["eve", "mallory", "bob"].map(|name| fill(share, name, part, (0, 1000)));
        assert_eq!(kept, [32, 16, 8]);
        let senders: Vec<String> = (0..200).map(|n| format!("+49 {n}")).collect();
        let more: usize = senders.iter().map(|name| fill(share, name, part, (0, 1000))).sum();
        assert!(more <= 8, "{more}");
    }
}
