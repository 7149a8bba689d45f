//! Which mail is fetched next: by UID, never by sequence number, so that what is expunged, moved or read elsewhere
//! changes nothing.
//!
//! A folder numbers its messages with UIDs that only grow; a UIDVALIDITY names the numbering. A [`Mark`] says how far a
//! folder was polled. [`plan`] compares it with the folder as it stands and says what to search for; [`Query::settle`]
//! takes what was found, chooses what is fetched and gives the mark from which the next poll goes on.

use std::time::Duration;

/// Messages that one poll takes at most.
pub const AT_ONCE: usize = 50;

/// Messages of one account that are listed at once.
pub const LISTED: usize = 20;

/// How long a server is waited on before the wait is renewed, in milliseconds: a minute less than the 29 minutes after
/// which servers may hang up.
pub const IDLE_MS: u64 = 28 * 60 * 1000;

/// How long nobody waits on a server after waiting broke off for the first time, in milliseconds; it doubles each time.
const REJOIN_MS: u64 = 5_000;

/// The longest such pause, in milliseconds.
const LONGEST_REJOIN_MS: u64 = 10 * 60 * 1000;

/// How long nobody looks again after a server said that mail has come: a look brings [`AT_ONCE`] of it, and a server may say so at once and
/// for ever.
pub const BETWEEN_LOOKS: Duration = Duration::from_secs(30);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How far a folder was polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The numbering that the UIDs belong to.
    pub validity: u32,
    /// The highest UID that was polled, or passed over at the beginning.
    pub uid: u32,
    /// Messages that were there when the folder was numbered anew, as long as they are not all looked through.
    pub renumbered: Option<Renumbered>,
}

/// Messages that were there when a folder was numbered anew: each may be known by its earlier number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renumbered {
    /// The highest of their new UIDs.
    pub to: u32,
    /// Those that arrived earlier are not looked at: a day before the last poll, in milliseconds since 1970.
    pub since_ms: i64,
}

/// A folder as the server tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The numbering.
    pub validity: u32,
    /// The highest UID that was given so far.
    pub highest: u32,
}

/// What a poll does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing is fetched: the folder is polled for the first time, and only what comes later counts.
    Begin(Mark),
    /// The folder is searched.
    Search(Query),
}

/// What a folder is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    mark: Mark,
}

/// What a poll fetches, and where the next one goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The UIDs to fetch, oldest first.
    pub uids: Vec<u32>,
    /// The mark once they are stored.
    pub mark: Mark,
}

/// How long to pause before a server is waited on again, after waiting broke off this many times in a row.
///
/// ```
/// use limpid_core::mail::rejoin_wait;
/// let pauses = [1, 2, 3, 8, 100].map(|failures| rejoin_wait(failures).as_secs());
/// assert_eq!(pauses, [5, 10, 20, 600, 600]);
/// ```
pub fn rejoin_wait(failures: u32) -> Duration {
    let doubled = REJOIN_MS.saturating_mul(2_u64.saturating_pow(failures.saturating_sub(1)));
    Duration::from_millis(doubled.min(LONGEST_REJOIN_MS))
}

/// Says what a poll does; `last_poll_ms` is when the last one was.
pub fn plan(mark: Option<Mark>, folder: Folder, last_poll_ms: i64) -> Plan {
    match mark {
        None => Plan::Begin(Mark { validity: folder.validity, uid: folder.highest, renumbered: None }),
        Some(mark) if mark.validity == folder.validity => Plan::Search(Query { mark }),
        Some(mark) => {
            let day_before = last_poll_ms.saturating_sub(DAY_MS);
            // What an earlier numbering left to be looked through is older than the last poll.
            let since_ms = mark.renumbered.map_or(day_before, |left| left.since_ms.min(day_before));
            let renumbered = Renumbered { to: folder.highest, since_ms };
            Plan::Search(Query { mark: Mark { validity: folder.validity, uid: 0, renumbered: Some(renumbered) } })
        }
    }
}

impl Query {
    /// Messages up to this UID were seen.
    pub fn after(&self) -> u32 {
        self.mark.uid
    }

    /// The messages that may be known by other numbers, when those are searched.
    pub fn renumbered(&self) -> Option<Renumbered> {
        self.mark.renumbered
    }

    /// The mark when nothing was taken from this UID on: the next poll goes on there.
    pub fn before(&self, uid: u32) -> Mark {
        Mark { uid: uid.saturating_sub(1).max(self.mark.uid), ..self.mark }
    }

    /// Chooses among the UIDs that were found. A search for `n:*` always finds the last message, so those that were
    /// seen are dropped.
    pub fn settle(&self, found: impl IntoIterator<Item = u32>) -> Step {
        let last = self.mark.renumbered.map_or(u32::MAX, |renumbered| renumbered.to);
        let mut uids: Vec<u32> = found.into_iter().filter(|uid| *uid > self.mark.uid && *uid <= last).collect();
        uids.sort_unstable();
        uids.dedup();
        let mark = if uids.len() > AT_ONCE {
            uids.truncate(AT_ONCE);
            Mark { uid: uids[AT_ONCE - 1], ..self.mark }
        } else {
            let seen = uids.last().copied().unwrap_or(self.mark.uid);
            let passed = self.mark.renumbered.map_or(seen, |renumbered| renumbered.to.max(seen));
            Mark { uid: passed, renumbered: None, ..self.mark }
        };
        Step { uids, mark }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn folder(validity: u32, highest: u32) -> Folder {
        Folder { validity, highest }
    }

    const fn mark(validity: u32, uid: u32) -> Mark {
        Mark { validity, uid, renumbered: None }
    }

    fn query(mark: Mark) -> Query {
        match plan(Some(mark), folder(mark.validity, 0), 0) {
            Plan::Search(query) => query,
            Plan::Begin(_) => unreachable!("a mark was given"),
        }
    }

    // KAI-091
    #[test]
    fn the_first_poll_passes_over_everything_that_is_there() {
        assert_eq!(plan(None, folder(7, 120), 0), Plan::Begin(mark(7, 120)));
        assert_eq!(plan(None, folder(7, 0), 0), Plan::Begin(mark(7, 0)));
    }

    // KAI-090 KAI-130
    #[test]
    fn a_poll_takes_fifty_after_the_last_one_oldest_first() {
        type Case = (&'static str, u32, Vec<u32>, Vec<u32>, u32);
        let table: [Case; 5] = [
            ("nothing new: the last message comes back all the same", 9, vec![9], vec![], 9),
            ("an empty folder", 9, vec![], vec![], 9),
            ("any order, gaps where mail was expunged", 9, vec![15, 10, 12, 12], vec![10, 12, 15], 15),
            ("more than fifty", 9, (1..=100).rev().collect(), (10..=59).collect(), 59),
            ("the highest UID there can be", u32::MAX, vec![u32::MAX], vec![], u32::MAX),
        ];
        for (case, after, found, uids, uid) in table {
            assert_eq!(query(mark(7, after)).settle(found), Step { uids, mark: mark(7, uid) }, "{case}");
        }
    }

    // KAI-091 KAI-130
    #[test]
    fn after_a_new_numbering_the_last_day_is_looked_through_once() {
        let Plan::Search(first) = plan(Some(mark(7, 900)), folder(8, 120), 10 * DAY_MS) else { unreachable!() };
        let renumbered = Renumbered { to: 120, since_ms: 9 * DAY_MS };
        assert_eq!((first.after(), first.renumbered()), (0, Some(renumbered)));
        // 60 of the last day, and one that came while the poll ran: that one has the new number only.
        let step = first.settle((61..=121).collect::<Vec<_>>());
        assert_eq!(step.uids, (61..=110).collect::<Vec<_>>());
        assert_eq!(step.mark, Mark { validity: 8, uid: 110, renumbered: Some(renumbered) });
        // The next poll goes on with the same day, although the last poll is a later one by then.
        let Plan::Search(second) = plan(Some(step.mark), folder(8, 121), 12 * DAY_MS) else { unreachable!() };
        assert_eq!(second.renumbered(), Some(renumbered));
        let step = second.settle(111..=121);
        assert_eq!((step.uids.len(), step.mark), (10, mark(8, 120)));
        assert_eq!(query(step.mark).settle([121]).uids, [121]);
    }

    // KAI-090 KAI-091
    #[test]
    fn what_there_was_no_time_for_is_found_by_the_next_poll() {
        let late = query(mark(7, 9)).before(12);
        assert_eq!(late, mark(7, 11));
        assert_eq!(query(late).settle([12, 15]).uids, [12, 15]);
        let Plan::Search(anew) = plan(Some(mark(7, 900)), folder(8, 120), 10 * DAY_MS) else { unreachable!() };
        let renumbered = Some(Renumbered { to: 120, since_ms: 9 * DAY_MS });
        assert_eq!([anew.before(61), anew.before(0)], [60, 0].map(|uid| Mark { validity: 8, uid, renumbered }));
    }

    // KAI-091
    #[test]
    fn a_new_numbering_without_recent_mail_passes_over_the_old() {
        let Plan::Search(query) = plan(Some(mark(7, 9)), folder(8, 300), DAY_MS) else { unreachable!() };
        assert_eq!(query.settle([]), Step { uids: vec![], mark: mark(8, 300) });
    }
}
