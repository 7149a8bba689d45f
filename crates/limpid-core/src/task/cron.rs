//! Patterns of times: five fields, read as cron reads them, and when they fire in a zone.

mod words;

use std::fmt;

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// Years in which a pattern that fires at all fires: 29 February on one day of the week can be 40 years away.
const HORIZON_YEARS: i16 = 41;

/// Days of the longest month, by its number.
const LONGEST: [u8; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A pattern of times.
///
/// ```
/// use limpid_core::task::CronPattern;
/// let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(1));
/// let pattern = CronPattern::parse("30 9 * * mon-fri").unwrap();
/// let friday: jiff::Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
/// assert_eq!(pattern.next_after(friday, &zone).unwrap().to_string(), "2026-11-23T08:30:00Z");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronPattern {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether a day counts when either day field has it; else both must.
    either_day: bool,
    /// Whether the hours are named one by one, so that a clock change neither drops nor doubles a run.
    fixed_hours: bool,
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// It has not five fields.
    #[error(
        "`{0}` is not a cron pattern: it has five fields, minute hour day month weekday, as in `0 9 * * 1`; this one has {1}"
    )]
    Fields(String, usize),
    /// A field cannot be read.
    #[error("`{text}` is no {field}: use numbers {from}-{to}, names, `*`, lists, ranges and steps such as `*/2`")]
    Field {
        /// The field as it was given.
        text: String,
        /// What it stands for.
        field: &'static str,
        /// The least number.
        from: u8,
        /// The greatest number.
        to: u8,
    },
    /// A step leads nowhere.
    #[error("the step in `{0}` is zero or larger than its range, so it would repeat nothing")]
    Step(String),
    /// No day has this date.
    #[error("`{0}` is never due: no such day exists")]
    Never(String),
}

impl CronPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is not five fields of numbers, names, lists, ranges and steps, or names a date that does not exist.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(CronError::Fields(text.trim().to_owned(), fields.len()));
        };
        let weekdays = WEEKDAY.read(weekday)?;
        let pattern = Self {
            text: fields.join(" "),
            minutes: MINUTE.read(minute)?,
            hours: HOUR.read(hour)?,
            days: DAY.read(day)?,
            months: MONTH.read(month)?,
            // 7 is Sunday, as 0 is.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
            fixed_hours: !hour.contains(['*', '/']),
        };
        if pattern.is_ever_due() { Ok(pattern) } else { Err(CronError::Never(pattern.text)) }
    }

    /// The first time after a moment at which it fires in a zone.
    ///
    /// Hours that are named one by one fire once on every day: at the change itself when the clock skips them, the first
    /// time when it repeats them. With `*` or a step in the hour field, what the clock skips does not fire, and what it
    /// repeats fires twice.
    pub fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let first = |instant: fn(DateTime, &TimeZone) -> Option<Timestamp>| {
            let from = zone.to_datetime(after).date();
            let from = from.yesterday().unwrap_or(from);
            self.slots(from).filter_map(|slot| instant(slot, zone)).find(|at| *at > after)
        };
        if self.fixed_hours {
            return first(once);
        }
        // Each of the two ways to read a repeated hour is in order by itself.
        [first(earlier), first(later)].into_iter().flatten().min()
    }

    /// Whether any day has a date that it names. Every date falls on every day of the week some time.
    fn is_ever_due(&self) -> bool {
        let exists = |month: u8, day: u8| has(self.months, month) && has(self.days, day);
        self.either_day || (1..=12).zip(LONGEST).any(|(month, longest)| (1..=longest).any(|day| exists(month, day)))
    }

    /// Times on the clock that it names, in order, from a day on.
    fn slots(&self, from: Date) -> impl Iterator<Item = DateTime> {
        let until = from.year().saturating_add(HORIZON_YEARS);
        let days = std::iter::successors(Some(from), |day| day.tomorrow().ok());
        let days = days.take_while(move |day| day.year() <= until).filter(|day| self.has_day(*day));
        days.flat_map(move |day| {
            let times = (0..24).flat_map(|hour| (0..60).map(move |minute| (hour, minute)));
            let times = times.filter(|(hour, minute)| has(self.hours, *hour) && has(self.minutes, *minute));
            times.map(move |(hour, minute)| day.at(hour as i8, minute as i8, 0, 0))
        })
    }

    fn has_day(&self, date: Date) -> bool {
        if !has(self.months, date.month().unsigned_abs()) {
            return false;
        }
        let day = has(self.days, date.day().unsigned_abs());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset().unsigned_abs());
        if self.either_day { day || weekday } else { day && weekday }
    }
}

impl fmt::Display for CronPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The moment of a time on the clock: the change itself when it is skipped, the first one when it is repeated.
fn once(slot: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(slot).offset() {
        AmbiguousOffset::Gap { before, .. } => {
            let beyond = before.to_timestamp(slot).ok()?.checked_add(SignedDuration::from_nanos(1)).ok()?;
            zone.preceding(beyond).next().map(|change| change.timestamp())
        }
        _ => earlier(slot, zone),
    }
}

/// The moment of a time on the clock: none when it is skipped, the first one when it is repeated.
fn earlier(slot: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(slot).offset() {
        AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
            offset.to_timestamp(slot).ok()
        }
        AmbiguousOffset::Gap { .. } => None,
    }
}

/// The moment of a time on the clock: none when it is skipped, the last one when it is repeated.
fn later(slot: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(slot).offset() {
        AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { after: offset, .. } => {
            offset.to_timestamp(slot).ok()
        }
        AmbiguousOffset::Gap { .. } => None,
    }
}

fn has(set: u64, number: u8) -> bool {
    set >> number & 1 == 1
}

/// What one field may hold.
struct Field {
    name: &'static str,
    from: u8,
    to: u8,
    /// The greatest number that `*` covers.
    star_to: u8,
    names: &'static [&'static str],
}

const MINUTE: Field = Field { name: "minute", from: 0, to: 59, star_to: 59, names: &[] };
const HOUR: Field = Field { name: "hour", from: 0, to: 23, star_to: 23, names: &[] };
const DAY: Field = Field { name: "day of the month", from: 1, to: 31, star_to: 31, names: &[] };
const MONTH: Field = Field {
    name: "month",
    from: 1,
    to: 12,
    star_to: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
const WEEKDAY: Field = Field {
    name: "day of the week",
    from: 0,
    to: 7,
    star_to: 6,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

impl Field {
    /// The numbers of a field as a set.
    fn read(&self, text: &str) -> Result<u64, CronError> {
        let mut set = 0;
        for item in text.split(',') {
            let (range, step) = match item.split_once('/') {
                Some((range, step)) => (range, Some(self.number(step, text)?)),
                None => (item, None),
            };
            let (first, last) = match range.split_once('-') {
                _ if range == "*" => (self.from, self.star_to),
                Some((first, last)) => (self.value(first, text)?, self.last_of_range(last, text)?),
                // A step needs a range to walk through.
                None if step.is_some() => return Err(self.unreadable(text)),
                None => {
                    let value = self.value(range, text)?;
                    (value, value)
                }
            };
            if first > last {
                return Err(self.unreadable(text));
            }
            let step = step.unwrap_or(1);
            if step == 0 || (step > 1 && step > last - first) {
                return Err(CronError::Step(text.to_owned()));
            }
            set |= (first..=last).step_by(step.into()).fold(0, |set, number| set | 1 << number);
        }
        Ok(set)
    }

    /// A range may end on Sunday by its name.
    fn last_of_range(&self, word: &str, text: &str) -> Result<u8, CronError> {
        let value = self.value(word, text)?;
        Ok(if value == 0 && self.star_to < self.to && !is_number(word) { self.to } else { value })
    }

    /// One number or name.
    fn value(&self, word: &str, text: &str) -> Result<u8, CronError> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(word));
        let value = match named {
            Some(at) => at as u8 + self.from,
            None => self.number(word, text)?,
        };
        if (self.from..=self.to).contains(&value) { Ok(value) } else { Err(self.unreadable(text)) }
    }

    fn number(&self, word: &str, text: &str) -> Result<u8, CronError> {
        // `parse` alone would take a plus sign.
        let number = if is_number(word) { word.parse().ok() } else { None };
        number.ok_or_else(|| self.unreadable(text))
    }

    fn unreadable(&self, text: &str) -> CronError {
        CronError::Field { text: text.to_owned(), field: self.name, from: self.from, to: self.to }
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests;
