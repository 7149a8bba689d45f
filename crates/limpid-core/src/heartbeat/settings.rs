//! What the owner sets.

use jiff::civil::Date;
use jiff::{ToSpan, Zoned};

/// Intervals that settings offer, in minutes.
pub const PRESETS: [u32; 8] = [5, 10, 15, 30, 45, 60, 120, 240];

/// The usual interval, in minutes.
pub const INTERVAL: u32 = 30;

/// The shortest interval, in minutes.
const SHORTEST: u32 = 5;

/// Characters that the owner's own opening may have.
const PROMPT: usize = 4000;

/// What the owner sets of the heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether it runs.
    pub enabled: bool,
    /// Minutes from a good run to the next.
    pub interval_minutes: u32,
    /// The first hour of the owner's day in which it runs.
    pub start_hour: u8,
    /// The hour before which it runs last, 24 for midnight.
    pub end_hour: u8,
    /// A model of its own, as `provider/id`.
    pub model: Option<String>,
    /// The owner's own opening; empty: the profile's.
    pub prompt: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            interval_minutes: INTERVAL,
            start_hour: 8,
            end_hour: 22,
            model: None,
            prompt: String::new(),
        }
    }
}

impl Settings {
    /// The settings as they are kept: an interval of 0 is the usual one, a blank opening none.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn checked(mut self) -> Result<Self, String> {
        if self.interval_minutes == 0 {
            self.interval_minutes = INTERVAL;
        }
        if self.interval_minutes < SHORTEST {
            return Err(format!("the interval must be {SHORTEST} minutes or more (0 for the usual {INTERVAL})"));
        }
        if self.start_hour > 23 || self.end_hour > 24 {
            return Err("hours go from 0 to 23; the end may be 24".to_owned());
        }
        let length = self.prompt.chars().count();
        if length > PROMPT {
            return Err(format!("the opening has {length} characters; at most {PROMPT} are allowed"));
        }
        if self.prompt.trim().is_empty() {
            self.prompt.clear();
        }
        Ok(self)
    }

    /// Whether it may run in an hour of the owner's day. A window that ends before it starts crosses midnight; one that
    /// ends where it starts holds no hour.
    pub fn allows(&self, hour: u8) -> bool {
        if self.start_hour <= self.end_hour {
            (self.start_hour..self.end_hour).contains(&hour)
        } else {
            hour >= self.start_hour || hour < self.end_hour
        }
    }

    /// The first moment from this one on at which it may run; none when its hours never come.
    pub fn first_allowed(&self, from: &Zoned) -> Option<Zoned> {
        if self.never_runs() {
            return None;
        }
        if self.allows(from.hour().unsigned_abs()) {
            return Some(from.clone());
        }
        let today = at(from.date(), self.start_hour, from).filter(|start| start > from);
        today.or_else(|| at(from.date().tomorrow().ok()?, self.start_hour, from))
    }

    /// Hours of the day in which it runs.
    pub fn hours_a_day(&self) -> u32 {
        (0..24).map(|hour| u32::from(self.allows(hour))).sum()
    }

    /// How often it is due in a day.
    pub fn runs_due_a_day(&self) -> u32 {
        self.hours_a_day() * 60 / self.interval_minutes.max(1)
    }

    /// The hours before these in which it did not run; none at an hour of theirs, or when there are none.
    pub fn quiet_before(&self, now: &Zoned) -> Option<QuietHours> {
        let hour = |now: &Zoned| now.hour().unsigned_abs();
        if !self.allows(hour(now)) || (0..24).all(|hour| self.allows(hour)) {
            return None;
        }
        let today = now.date();
        let start = if hour(now) >= self.start_hour { today } else { today.yesterday().ok()? };
        let ended = at(start, self.start_hour, now)?;
        // They began on the day on which these ended, or on the day before.
        let began = at(start, self.end_hour, now).filter(|began| *began < ended);
        let began = began.or_else(|| at(start.yesterday().ok()?, self.end_hour, now))?;
        Some(QuietHours { began, ended })
    }

    /// Whether its hours never come.
    pub fn never_runs(&self) -> bool {
        self.start_hour == self.end_hour
    }
}

/// A stretch of the owner's hours in which it does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// When it began.
    pub began: Zoned,
    /// When it ended.
    pub ended: Zoned,
}

/// An hour of a day, 24 being the first of the next one.
fn at(date: Date, hour: u8, zone: &Zoned) -> Option<Zoned> {
    let midnight = date.checked_add(i64::from(hour / 24).days()).ok()?.at((hour % 24).cast_signed(), 0, 0, 0);
    midnight.to_zoned(zone.time_zone().clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quiet_hours_are_those_between_two_stretches() {
        let quiet = |start_hour, end_hour, now: &str| {
            let settings = Settings { start_hour, end_hour, ..Settings::default() };
            let now: Zoned = format!("{now}[Europe/Berlin]").parse().unwrap();
            let quiet = settings.quiet_before(&now)?;
            Some([quiet.began, quiet.ended].map(|at| at.strftime("%d %H:%M").to_string()))
        };
        let hours = |began: &str, ended: &str| Some([began.to_owned(), ended.to_owned()]);
        assert_eq!(quiet(8, 22, "2026-03-28T08:00"), hours("27 22:00", "28 08:00"));
        assert_eq!(quiet(8, 22, "2026-03-28T21:59"), hours("27 22:00", "28 08:00"));
        assert_eq!(quiet(8, 22, "2026-03-28T22:00"), None);
        assert_eq!(quiet(22, 6, "2026-03-28T23:00"), hours("28 06:00", "28 22:00"));
        assert_eq!(quiet(22, 6, "2026-03-29T05:00"), hours("28 06:00", "28 22:00"));
        assert_eq!(quiet(8, 24, "2026-03-28T09:00"), hours("28 00:00", "28 08:00"));
        // The clocks go forward in this night.
        assert_eq!(quiet(2, 22, "2026-03-29T09:00"), hours("28 22:00", "29 03:00"));
        assert_eq!(quiet(0, 24, "2026-03-28T09:00"), None);
        assert_eq!(quiet(9, 9, "2026-03-28T09:00"), None);
    }

    #[test]
    fn the_next_allowed_moment_is_one_of_its_hours() {
        let next = |start_hour, end_hour, from: &str| {
            let settings = Settings { start_hour, end_hour, ..Settings::default() };
            let from: Zoned = format!("{from}[Europe/Berlin]").parse().unwrap();
            settings.first_allowed(&from).map(|at| at.strftime("%d %H:%M").to_string())
        };
        let at = |text: &str| Some(text.to_owned());
        assert_eq!(next(8, 22, "2026-03-27T12:10"), at("27 12:10"));
        assert_eq!(next(8, 22, "2026-03-27T22:10"), at("28 08:00"));
        assert_eq!(next(8, 22, "2026-03-27T03:10"), at("27 08:00"));
        assert_eq!(next(22, 6, "2026-03-27T06:10"), at("27 22:00"));
        assert_eq!(next(9, 9, "2026-03-27T06:10"), None);
        assert_eq!(Settings::default().hours_a_day(), 14);
        let always = Settings { interval_minutes: 5, start_hour: 0, end_hour: 24, ..Settings::default() };
        assert_eq!((Settings::default().runs_due_a_day(), always.runs_due_a_day()), (28, 288));
    }

    fn hours(start_hour: u8, end_hour: u8) -> Vec<u8> {
        let settings = Settings { start_hour, end_hour, ..Settings::default() };
        (0..24).filter(|hour| settings.allows(*hour)).collect()
    }

    // KAI-053 KAI-056 KAI-057
    #[test]
    fn hours_of_the_day() {
        assert_eq!(hours(8, 22), (8..22).collect::<Vec<_>>());
        assert_eq!(hours(22, 6), [(0..6).collect::<Vec<_>>(), vec![22, 23]].concat());
        assert_eq!(hours(0, 24), (0..24).collect::<Vec<_>>());
        assert_eq!(hours(9, 9), [0_u8; 0]);
        assert!(Settings { start_hour: 9, end_hour: 9, ..Settings::default() }.never_runs());
        assert!(!Settings::default().never_runs());
    }

    // KAI-055 KAI-056 KAI-063 PICO-073
    #[test]
    fn what_cannot_be_set_is_refused() {
        let usual = Settings::default;
        let interval = |interval_minutes| Settings { interval_minutes, ..usual() }.checked();
        assert!(interval(4).is_err() && interval(1).is_err());
        assert_eq!(interval(0).unwrap().interval_minutes, 30);
        assert!(PRESETS.iter().all(|minutes| interval(*minutes).is_ok()));
        assert!(Settings { start_hour: 24, ..usual() }.checked().is_err());
        assert!(Settings { end_hour: 25, ..usual() }.checked().is_err());
        assert!(Settings { end_hour: 24, ..usual() }.checked().is_ok());
        assert!(Settings { prompt: "ä".repeat(4000), ..usual() }.checked().is_ok());
        assert!(Settings { prompt: "ä".repeat(4001), ..usual() }.checked().is_err());
        assert_eq!(Settings { prompt: " \n".to_owned(), ..usual() }.checked(), Ok(usual()));
    }
}
