//! Runs that nobody could make when they were due, and what is done about them.

use jiff::{SignedDuration, Timestamp};

use super::Trigger;

/// How late a run may be and still be on time.
const ON_TIME: SignedDuration = SignedDuration::from_mins(2);

/// How long a reminder is worth sending.
const REMINDED_WITHIN: SignedDuration = SignedDuration::from_hours(12);

/// Missed runs that are counted at most.
const COUNTED: usize = 10_000;

/// What is done about runs that were missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedPolicy {
    /// Nothing; the next one comes at its time.
    Skip,
    /// It runs once, however many were missed.
    RunOnce,
    /// It runs once, when the last one is no older than this.
    RunIfWithin(SignedDuration),
}

impl MissedPolicy {
    /// What is done when nothing else was said: reminders run within 12 hours, everything else once.
    pub const fn usual(kind: super::TaskKind) -> Self {
        match kind {
            super::TaskKind::Reminder => Self::RunIfWithin(REMINDED_WITHIN),
            super::TaskKind::Agent | super::TaskKind::Command => Self::RunOnce,
        }
    }

    /// Reads a policy: `skip`, `run_once`, or `run_if_within:` and seconds.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "skip" => Some(Self::Skip),
            "run_once" => Some(Self::RunOnce),
            _ => {
                let seconds: u32 = word.strip_prefix("run_if_within:")?.parse().ok()?;
                Some(Self::RunIfWithin(SignedDuration::from_secs(seconds.into())))
            }
        }
    }
}

impl std::fmt::Display for MissedPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Skip => f.write_str("skip"),
            Self::RunOnce => f.write_str("run_once"),
            Self::RunIfWithin(age) => write!(f, "run_if_within:{}", age.as_secs()),
        }
    }
}

/// What to do about a slot whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Whether it runs.
    pub runs: bool,
    /// Runs that were missed; the one that runs late counts among them.
    pub missed: usize,
}

impl Due {
    /// Looks at a slot at the moment when somebody could run it.
    pub fn look(trigger: &Trigger, policy: MissedPolicy, slot: Timestamp, now: Timestamp) -> Self {
        if now.duration_since(slot) <= ON_TIME {
            return Self { runs: true, missed: 0 };
        }
        let slots = std::iter::successors(Some(slot), |slot| trigger.next_after(*slot));
        let missed = slots.take_while(|slot| *slot <= now).take(COUNTED);
        let (missed, last) = missed.fold((0, slot), |(count, _), slot| (count + 1, slot));
        let age = now.duration_since(last);
        let runs = match policy {
            MissedPolicy::Skip => age <= ON_TIME,
            MissedPolicy::RunOnce => true,
            MissedPolicy::RunIfWithin(limit) => age <= limit,
        };
        Self { runs, missed }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;
    use crate::task::TaskKind;

    fn at(time: &str) -> Timestamp {
        format!("{time}Z").parse().unwrap()
    }

    // LES-090
    #[test]
    fn two_days_of_silence_are_answered_by_the_policy() {
        let daily = Trigger::cron("0 9 * * *", "UTC").unwrap();
        let slot = at("2026-11-19T09:00");
        let look = |policy, now: &str| {
            let due = Due::look(&daily, policy, slot, at(now));
            (due.runs, due.missed)
        };
        let within = MissedPolicy::RunIfWithin(SignedDuration::from_hours(12));
        for policy in [MissedPolicy::Skip, MissedPolicy::RunOnce, within] {
            assert_eq!(look(policy, "2026-11-19T09:01"), (true, 0), "a minute late is on time");
        }
        assert_eq!(look(MissedPolicy::Skip, "2026-11-21T12:00"), (false, 3));
        assert_eq!(look(MissedPolicy::RunOnce, "2026-11-21T12:00"), (true, 3));
        assert_eq!(look(within, "2026-11-21T12:00"), (true, 3));
        assert_eq!(look(within, "2026-11-21T08:00"), (false, 2), "the last one is 23 hours old");
        assert_eq!(look(MissedPolicy::Skip, "2026-11-21T09:00:30"), (true, 3), "the last one is on time");
    }

    // LES-090
    #[test]
    fn a_reminder_is_worth_half_a_day_and_a_task_is_always_made_up_for() {
        let once = Trigger::Once(at("2026-11-19T09:00"));
        let runs = |kind, now: &str| Due::look(&once, MissedPolicy::usual(kind), at("2026-11-19T09:00"), at(now)).runs;
        assert!(runs(TaskKind::Reminder, "2026-11-19T21:00"));
        assert!(!runs(TaskKind::Reminder, "2026-11-19T21:01"));
        assert!(runs(TaskKind::Agent, "2027-11-19T21:01"));
        for policy in ["skip", "run_once", "run_if_within:600"] {
            assert_eq!(MissedPolicy::parse(policy).unwrap().to_string(), policy);
        }
        assert_eq!(MissedPolicy::parse("run_if_within:soon"), None);
    }
}
