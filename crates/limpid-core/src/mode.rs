//! Modes: when a message sounds like the work of another one, and when a switch may be made.
//!
//! Times are milliseconds since 1970 and come in as arguments.

mod cues;

use std::fmt;

pub use cues::suggest;

/// How long a mode lasts at least before another is suggested.
pub const DWELL_MS: i64 = 60_000;

/// How long a suggestion stands alone.
pub const COOLDOWN_MS: i64 = 30_000;

/// Switches that a history shows.
pub const HISTORY: u32 = 100;

/// Minutes of a focus when nobody says how many.
pub const FOCUS_MINUTES: u32 = 25;

/// Minutes that a focus may have at its beginning.
pub const FOCUS_LONGEST: u32 = 240;

/// Minutes that a focus may be made longer by at once.
pub const EXTENSION_LONGEST: u32 = 120;

const MS_PER_MINUTE: i64 = 60_000;

/// What switched a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// A suggestion was followed without asking.
    Auto,
    /// A command of the person's.
    Manual,
    /// A tool.
    Tool,
    /// The person's words in a message: “switch to planning mode”.
    Explicit,
}

impl Trigger {
    /// The word for it, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
            Self::Tool => "tool",
            Self::Explicit => "explicit",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Auto, Self::Manual, Self::Tool, Self::Explicit].into_iter().find(|trigger| trigger.as_str() == word)
    }
}

/// A mode that would suit a message better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The mode.
    pub target: String,
    /// The words that speak for it.
    pub reason: String,
    /// How sure that is, in percent; 100 when the person asked for the mode by name.
    pub confidence: u8,
}

impl Suggestion {
    /// What a switch to it is triggered by.
    pub const fn trigger(&self) -> Trigger {
        if self.confidence == 100 { Trigger::Explicit } else { Trigger::Auto }
    }
}

/// What happened of late that says whether a mode may be suggested or switched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// When the mode was switched last.
    pub switched_ms: Option<i64>,
    /// When a mode was suggested last.
    pub suggested_ms: Option<i64>,
    /// When the focus ends.
    pub focus_until_ms: Option<i64>,
}

impl Pace {
    /// Whether a mode may be suggested: the one that is on has lasted, the last suggestion is over, nobody wants focus.
    pub fn may_suggest(&self, now_ms: i64) -> bool {
        let is_past = |since: Option<i64>, span: i64| since.is_none_or(|since| now_ms - since >= span);
        is_past(self.switched_ms, DWELL_MS) && is_past(self.suggested_ms, COOLDOWN_MS) && self.focus(now_ms).is_none()
    }

    /// Refuses a switch while there is focus.
    ///
    /// # Errors
    /// [`Focused`] with what is left of it.
    pub fn may_switch(&self, now_ms: i64) -> Result<(), Focused> {
        self.focus(now_ms).map_or(Ok(()), Err)
    }

    /// The focus that is on, if one is.
    pub fn focus(&self, now_ms: i64) -> Option<Focused> {
        let left = self.focus_until_ms? - now_ms;
        (left > 0).then(|| Focused { minutes: u32::try_from((left + MS_PER_MINUTE - 1) / MS_PER_MINUTE).unwrap_or(1) })
    }

    /// When a focus of so many minutes from now on ends.
    ///
    /// # Errors
    /// When the number of minutes is none of a focus.
    pub fn focus_until(now_ms: i64, minutes: u32) -> Result<i64, FocusError> {
        match minutes {
            1..=FOCUS_LONGEST => Ok(now_ms + i64::from(minutes) * MS_PER_MINUTE),
            minutes => Err(FocusError::Length { minutes, longest: FOCUS_LONGEST }),
        }
    }

    /// When the focus that is on ends after it was made longer.
    ///
    /// # Errors
    /// When there is none, or the number of minutes is too large or zero.
    pub fn extended(&self, now_ms: i64, minutes: u32) -> Result<i64, FocusError> {
        let until = self.focus_until_ms.filter(|until| *until > now_ms).ok_or(FocusError::None)?;
        match minutes {
            1..=EXTENSION_LONGEST => Ok(until + i64::from(minutes) * MS_PER_MINUTE),
            minutes => Err(FocusError::Length { minutes, longest: EXTENSION_LONGEST }),
        }
    }
}

/// A focus that refuses every switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focused {
    /// Minutes that are left, rounded up.
    pub minutes: u32,
}

impl Focused {
    /// How long it lasts still: `1 minute`, `25 minutes`.
    pub fn left(self) -> String {
        if self.minutes == 1 { "1 minute".to_owned() } else { format!("{} minutes", self.minutes) }
    }
}

impl fmt::Display for Focused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.left();
        write!(f, "focus keeps the mode for {left} more; end it with /mode focus off, or `limpid mode focus --off`")
    }
}

impl std::error::Error for Focused {}

/// A focus that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FocusError {
    /// So many minutes are not possible.
    #[error("{minutes} minutes cannot be; write 1 to {longest}")]
    Length {
        /// What was asked for.
        minutes: u32,
        /// The largest number that can be.
        longest: u32,
    },
    /// There is no focus to be made longer.
    #[error("no focus is on; begin one with /mode focus")]
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = MS_PER_MINUTE;

    // OLLM-042
    #[test]
    fn a_mode_lasts_a_minute_and_a_suggestion_stands_alone_for_half_of_one() {
        let pace = Pace { switched_ms: Some(0), suggested_ms: Some(40_000), ..Pace::default() };
        let allowed: Vec<bool> = [59_999, 60_000, 69_999, 70_000].map(|now| pace.may_suggest(now)).to_vec();
        assert_eq!(allowed, [false, false, false, true]);
        assert!(Pace { suggested_ms: None, ..pace }.may_suggest(60_000));
        assert!(Pace::default().may_suggest(0));
    }

    // OLLM-044
    #[test]
    fn focus_refuses_until_it_ends_and_has_its_limits() {
        let until = Pace::focus_until(0, FOCUS_MINUTES).unwrap();
        let pace = Pace { focus_until_ms: Some(until), ..Pace::default() };
        assert_eq!(pace.may_switch(0), Err(Focused { minutes: 25 }));
        assert_eq!(pace.may_switch(until - 1), Err(Focused { minutes: 1 }));
        assert!(!pace.may_suggest(until - 1));
        assert_eq!(pace.may_switch(until), Ok(()));
        assert_eq!(pace.extended(0, 120), Ok(145 * MINUTE));
        assert_eq!(pace.extended(until, 1), Err(FocusError::None));
        let lengths: Vec<bool> = [0, 1, 240, 241].map(|minutes| Pace::focus_until(0, minutes).is_ok()).to_vec();
        assert_eq!(lengths, [false, true, true, false]);
        let extensions: Vec<bool> = [0, 1, 120, 121].map(|minutes| pace.extended(0, minutes).is_ok()).to_vec();
        assert_eq!(extensions, [false, true, true, false]);
    }
}
