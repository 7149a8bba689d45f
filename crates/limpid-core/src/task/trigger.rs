//! What makes a task run, and its times.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::cron::{CronError, CronPattern};
use crate::zone;

/// How long ago a moment may be and still be meant.
const PAST: SignedDuration = SignedDuration::from_secs(60);

/// The shortest time between two runs.
const SHORTEST: SignedDuration = SignedDuration::from_secs(60);

/// What makes a task run.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// A moment.
    Once(Timestamp),
    /// Again and again, so long after the one before.
    Every {
        /// The first time.
        first: Timestamp,
        /// The time between two.
        period: SignedDuration,
    },
    /// A pattern of times on the clock of a zone.
    Cron {
        /// The pattern.
        pattern: CronPattern,
        /// The zone.
        zone: TimeZone,
    },
    /// Every heartbeat; it is never due by itself.
    Heartbeat,
}

/// Why something cannot be a trigger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// The moment cannot be read.
    #[error("`{0}` is not a time that can be read; write ISO 8601 such as 2026-04-11T09:00 or 2026-04-11T09:00+02:00")]
    Time(String),
    /// The moment has passed.
    #[error("{asked} has passed; it is {now} here")]
    Past {
        /// The moment that was asked for, on the clock of the zone.
        asked: String,
        /// The time on that clock.
        now: String,
    },
    /// The time between two runs is too short.
    #[error("every {0} seconds is too often; the shortest interval is 60 seconds")]
    TooOften(i64),
    /// The number of seconds leads to no moment.
    #[error("{0} seconds from now is not in the future; give a positive number")]
    NoTime(i64),
    /// There is no such zone.
    #[error("unknown time zone `{0}`; give an IANA name such as Europe/Berlin")]
    Zone(String),
    /// The pattern cannot be used.
    #[error(transparent)]
    Cron(#[from] CronError),
}

impl Trigger {
    /// A moment by its ISO 8601 form, on the clock of a zone when it names no offset.
    ///
    /// # Errors
    /// When it cannot be read or has passed.
    pub fn at(text: &str, zone: &TimeZone, now: Timestamp) -> Result<Self, TriggerError> {
        let text = text.trim();
        let unreadable = || TriggerError::Time(text.to_owned());
        // A day alone is no moment.
        if !text.contains(['T', 't', ' ']) {
            return Err(unreadable());
        }
        let at = text
            .parse::<Timestamp>()
            .or_else(|_| text.parse::<Zoned>().map(|zoned| zoned.timestamp()))
            .or_else(|_| text.parse::<DateTime>().and_then(|local| Ok(local.to_zoned(zone.clone())?.timestamp())))
            .map_err(|_| unreadable())?;
        if now.duration_since(at) > PAST {
            let local = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
            return Err(TriggerError::Past { asked: local(at), now: local(now) });
        }
        Ok(Self::Once(at))
    }

    /// So many seconds from now.
    ///
    /// # Errors
    /// When that is no time in the future.
    pub fn after_seconds(seconds: i64, now: Timestamp) -> Result<Self, TriggerError> {
        let at = now.checked_add(SignedDuration::from_secs(seconds)).ok().filter(|_| seconds > 0);
        at.map(Self::Once).ok_or(TriggerError::NoTime(seconds))
    }

    /// Every so many seconds, first when they have passed once.
    ///
    /// # Errors
    /// When that is less than a minute.
    pub fn every_seconds(seconds: i64, now: Timestamp) -> Result<Self, TriggerError> {
        let period = SignedDuration::from_secs(seconds);
        if period < SHORTEST {
            return Err(TriggerError::TooOften(seconds));
        }
        let first = now.checked_add(period).map_err(|_| TriggerError::NoTime(seconds))?;
        Ok(Self::Every { first, period })
    }

    /// A pattern in a zone.
    ///
    /// # Errors
    /// When there is no such zone, or the pattern cannot be used.
    pub fn cron(pattern: &str, zone: &str) -> Result<Self, TriggerError> {
        Self::cron_in(pattern, zone, zone::named)
    }

    /// The same of one that was stored.
    ///
    /// # Errors
    /// As [`cron`](Self::cron).
    pub fn stored_cron(pattern: &str, zone: &str) -> Result<Self, TriggerError> {
        Self::cron_in(pattern, zone, zone::stored)
    }

    fn cron_in(pattern: &str, zone: &str, found: fn(&str) -> Option<TimeZone>) -> Result<Self, TriggerError> {
        let pattern = CronPattern::parse(pattern)?;
        let zone = found(zone).ok_or_else(|| TriggerError::Zone(zone.to_owned()))?;
        Ok(Self::Cron { pattern, zone })
    }

    /// When something that is made now is due first.
    pub fn first(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Once(at) => Some(*at),
            Self::Every { first, .. } if *first > now => Some(*first),
            Self::Every { .. } | Self::Cron { .. } => self.next_after(now),
            Self::Heartbeat => None,
        }
    }

    /// The first time after a moment; none for what does not repeat. Times keep to the clock or to the first one, however
    /// late a run was.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Once(_) | Self::Heartbeat => None,
            Self::Cron { pattern, zone } => pattern.next_after(after, zone),
            Self::Every { first, .. } if *first > after => Some(*first),
            Self::Every { first, period } => {
                let period = period.as_millis().max(1);
                let passed = after.duration_since(*first).as_millis();
                let next = i128::from(first.as_millisecond()) + (passed / period + 1) * period;
                i64::try_from(next).ok().and_then(|next| Timestamp::from_millisecond(next).ok())
            }
        }
    }

    /// Whether it comes again.
    pub const fn repeats(&self) -> bool {
        matches!(self, Self::Every { .. } | Self::Cron { .. })
    }

    /// The next times after a moment, the first one included.
    pub fn times(&self, now: Timestamp, count: usize) -> Vec<Timestamp> {
        std::iter::successors(self.first(now), |at| self.next_after(*at)).take(count).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    // KAI-078 LES-095
    #[test]
    fn a_moment_is_iso_8601_on_the_owners_clock_and_not_past() {
        let zone = zone::named("Europe/Berlin").unwrap();
        let now = "2026-04-10T12:00:00Z".parse().unwrap();
        let told: Vec<String> = [
            "2026-04-11T09:00",
            "2026-04-11 09:00:30",
            "2026-04-11T09:00:00Z",
            "2026-04-11T09:00:00-05:00",
            "2026-04-11T09:00[Asia/Tokyo]",
            "2026-04-10T13:59:00",
            "2026-04-10T13:58:59",
            "2025-04-11T09:00:00Z",
            "2026-04-11",
            "tomorrow at 9",
            "2026-02-30T09:00",
            "",
        ]
        .into_iter()
        .map(|text| match Trigger::at(text, &zone, now) {
            Ok(Trigger::Once(at)) => format!("{text:28} {at}"),
            Ok(other) => panic!("{other:?}"),
            Err(error) => format!("{text:28} {error}"),
        })
        .collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    // PICO-091 LES-101
    #[test]
    fn periods_keep_to_the_first_time_however_late_a_run_was() {
        let now: Timestamp = "2026-04-10T12:00:00Z".parse().unwrap();
        let every = Trigger::every_seconds(7200, now).unwrap();
        let told: Vec<String> = every.times(now, 3).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["2026-04-10T14:00:00Z", "2026-04-10T16:00:00Z", "2026-04-10T18:00:00Z"]);
        let late = "2026-04-12T13:10:00Z".parse().unwrap();
        assert_eq!(every.next_after(late).unwrap().to_string(), "2026-04-12T14:00:00Z");
        let on_time = "2026-04-12T14:00:00Z".parse().unwrap();
        assert_eq!(every.next_after(on_time).unwrap().to_string(), "2026-04-12T16:00:00Z");
        for seconds in [59, 0, -7200] {
            assert_eq!(Trigger::every_seconds(seconds, now), Err(TriggerError::TooOften(seconds)));
        }
        for seconds in [0, -1, i64::MAX] {
            assert_eq!(Trigger::after_seconds(seconds, now), Err(TriggerError::NoTime(seconds)));
        }
        assert_eq!(Trigger::after_seconds(600, now).unwrap().first(now).unwrap().to_string(), "2026-04-10T12:10:00Z");
        assert_eq!(Trigger::cron("0 9 * * *", "Mars/Base"), Err(TriggerError::Zone("Mars/Base".to_owned())));
    }
}
