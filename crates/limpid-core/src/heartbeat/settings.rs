//! What the owner sets.

/// Intervals that settings offer, in minutes (KAI-055).
pub const PRESETS: [u32; 8] = [5, 10, 15, 30, 45, 60, 120, 240];

/// The usual interval, in minutes.
pub const INTERVAL: u32 = 30;

/// The shortest interval, in minutes.
const SHORTEST: u32 = 5;

/// Characters that the owner's own opening may have (KAI-063).
const PROMPT: usize = 4000;

/// What the owner sets of the heartbeat (KAI-053).
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
    /// The settings as they are kept: an interval of 0 is the usual one (PICO-073), a blank opening none.
    ///
    /// # Errors
    /// What is wrong and what is allowed (KAI-055, KAI-056, KAI-063).
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
    /// ends where it starts holds no hour (KAI-056, KAI-057).
    pub fn allows(&self, hour: u8) -> bool {
        if self.start_hour <= self.end_hour {
            (self.start_hour..self.end_hour).contains(&hour)
        } else {
            hour >= self.start_hour || hour < self.end_hour
        }
    }

    /// Whether its hours never come.
    pub fn never_runs(&self) -> bool {
        self.start_hour == self.end_hour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
