//! How often a standing item is asked: at every run that is due, or less often.

use std::fmt;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// How often a standing item is asked: an addition, a line of the checklist, the owner's own opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recheck {
    /// At every run that is due.
    #[default]
    EveryRun,
    /// When so many milliseconds have passed since it was asked last.
    Every(i64),
    /// Once on each day of the owner's.
    Daily,
    /// Once, until its text changes.
    OnChange,
}

impl Recheck {
    /// Reads a rhythm: `every run`, `2h`, `every 90 minutes`, `daily`, `weekly`, `on change`.
    ///
    /// ```
    /// use limpid_core::heartbeat::Recheck;
    /// assert_eq!(Recheck::parse("Every 2 hours"), Some(Recheck::Every(7_200_000)));
    /// assert_eq!(Recheck::parse("often"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["every", "run" | "time"] => return Some(Self::EveryRun),
            ["daily"] | ["every", "day"] | ["once", "a", "day"] => return Some(Self::Daily),
            ["hourly"] | ["every", "hour"] => return Some(Self::Every(HOUR_MS)),
            ["weekly"] | ["every", "week"] => return Some(Self::Every(7 * DAY_MS)),
            ["on", "change"] => return Some(Self::OnChange),
            _ => {}
        }
        let span: String = words.strip_prefix(&["every"]).unwrap_or(&words).concat();
        let unit = span.find(|c: char| !c.is_ascii_digit())?;
        let (count, unit) = span.split_at(unit);
        let unit_ms = match unit {
            "m" | "min" | "mins" | "minute" | "minutes" => MINUTE_MS,
            "h" | "hour" | "hours" => HOUR_MS,
            "d" | "day" | "days" => DAY_MS,
            "w" | "week" | "weeks" => 7 * DAY_MS,
            _ => return None,
        };
        let count: i64 = count.parse().ok().filter(|count| (1..=10_000).contains(count))?;
        Some(Self::Every(count * unit_ms))
    }

    /// The rhythm that an item names itself, in parentheses at its end or its beginning: `Look at the disk (every 2h)`.
    ///
    /// ```
    /// use limpid_core::heartbeat::Recheck;
    /// assert_eq!(Recheck::of_item("- [ ] Look at the disk (daily)."), Some(Recheck::Daily));
    /// assert_eq!(Recheck::of_item("Look at the disk (the big one)"), None);
    /// ```
    pub fn of_item(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('.');
        let at_end = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
        if let Some(found) = at_end.and_then(|(_, inner)| Self::parse(inner)) {
            return Some(found);
        }
        let text = text.trim_start_matches(['-', '*', '+', ' ']);
        let text = text.strip_prefix("[ ]").unwrap_or(text).trim_start();
        let (inner, _) = text.strip_prefix('(')?.split_once(')')?;
        Self::parse(inner)
    }

    /// Whether an item that was asked then is asked now; `day_ms` is when the owner's day began.
    pub fn is_due(self, asked_ms: Option<i64>, now_ms: i64, day_ms: i64) -> bool {
        // After a clock that was set back, what lies ahead says nothing.
        let Some(asked_ms) = asked_ms.filter(|asked_ms| *asked_ms <= now_ms || self == Self::OnChange) else {
            return true;
        };
        match self {
            Self::EveryRun => true,
            Self::Every(span_ms) => now_ms - asked_ms >= span_ms,
            Self::Daily => asked_ms < day_ms,
            Self::OnChange => false,
        }
    }

    /// Of so many runs a day, which are spread over so many milliseconds, how many ask the item.
    pub fn runs_a_day(self, runs: u32, hours_ms: i64) -> u32 {
        match self {
            Self::EveryRun => runs,
            Self::Every(span_ms) => u32::try_from(hours_ms / span_ms.max(1)).unwrap_or(runs).max(1).min(runs),
            Self::Daily => runs.min(1),
            Self::OnChange => 0,
        }
    }
}

impl fmt::Display for Recheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EveryRun => f.write_str("every run"),
            Self::Every(ms) if ms % DAY_MS == 0 => write!(f, "{}d", ms / DAY_MS),
            Self::Every(ms) if ms % HOUR_MS == 0 => write!(f, "{}h", ms / HOUR_MS),
            Self::Every(ms) => write!(f, "{}m", ms / MINUTE_MS),
            Self::Daily => f.write_str("daily"),
            Self::OnChange => f.write_str("on change"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LES-030
    #[test]
    fn rhythms_are_read_as_people_write_them() {
        let rows = [
            ("every run", Some(Recheck::EveryRun)),
            ("2h", Some(Recheck::Every(2 * HOUR_MS))),
            ("Every 90 Minutes", Some(Recheck::Every(90 * MINUTE_MS))),
            ("every 3 days", Some(Recheck::Every(3 * DAY_MS))),
            ("daily", Some(Recheck::Daily)),
            ("on change", Some(Recheck::OnChange)),
            ("0h", None),
            ("h", None),
            ("2 moons", None),
            ("", None),
            ("99999999999999999999h", None),
        ];
        for (text, expected) in rows {
            assert_eq!(Recheck::parse(text), expected, "{text}");
            if let Some(expected) = expected {
                assert_eq!(Recheck::parse(&expected.to_string()), Some(expected));
            }
        }
        let items = [
            ("Warn when the disk is full (2h)", Some(Recheck::Every(2 * HOUR_MS))),
            ("- (daily) Look at the backup", Some(Recheck::Daily)),
            ("* [ ] (on change) Look", Some(Recheck::OnChange)),
            ("Look at the disk", None),
            ("Look at the disk (90 % is much)", None),
            (")", None),
            ("(", None),
        ];
        for (text, expected) in items {
            assert_eq!(Recheck::of_item(text), expected, "{text}");
        }
    }

    // LES-030
    #[test]
    fn an_item_is_asked_again_when_its_rhythm_says_so() {
        let (day, now) = (100 * DAY_MS, 100 * DAY_MS + 10 * HOUR_MS);
        let due = |recheck: Recheck, asked| recheck.is_due(asked, now, day);
        for recheck in [Recheck::EveryRun, Recheck::Every(HOUR_MS), Recheck::Daily, Recheck::OnChange] {
            assert!(due(recheck, None), "{recheck}: never asked");
        }
        assert!(due(Recheck::EveryRun, Some(now - 1)));
        assert!(due(Recheck::Every(HOUR_MS), Some(now - HOUR_MS)) && !due(Recheck::Every(HOUR_MS), Some(now - 1)));
        assert!(due(Recheck::Daily, Some(day - 1)) && !due(Recheck::Daily, Some(day)));
        assert!(!due(Recheck::OnChange, Some(0)) && !due(Recheck::OnChange, Some(now + 1)));
        assert!(due(Recheck::Daily, Some(now + HOUR_MS)), "the clock was set back");
        let hours = 14 * HOUR_MS;
        let runs = [Recheck::EveryRun, Recheck::Every(2 * HOUR_MS), Recheck::Daily, Recheck::OnChange];
        assert_eq!(runs.map(|recheck| recheck.runs_a_day(28, hours)), [28, 7, 1, 0]);
        assert_eq!(Recheck::Every(MINUTE_MS).runs_a_day(28, hours), 28);
    }
}
