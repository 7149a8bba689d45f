//! Classes of provider errors, and when to try again.

use std::fmt;
use std::time::Duration;

/// Why a call of a model failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// The account has no money or no quota left.
    Quota,
    /// The key is missing, wrong or may not do this.
    Key,
    /// The provider does not know the model.
    UnknownModel,
    /// The provider refused the request as malformed.
    Malformed,
    /// The request's body is larger than the provider takes.
    TooLarge,
    /// The provider refused the content.
    Moderated,
    /// The prompt is larger than the model's window.
    Overflow,
    /// Too many requests; try again later.
    Rate,
    /// The provider is overloaded or broken.
    Server,
    /// The provider could not be reached, or the stream broke off or stood still.
    Transport,
    /// What came back is no answer: HTML, half a JSON document, an empty stream.
    Garbage,
    /// The turn was cancelled.
    Cancelled,
    /// A spending limit of the owner's is reached; nothing was sent.
    Limit,
    /// A file of the owner's cannot be used; nothing was sent.
    OwnFile,
}

impl FailureClass {
    /// Every class.
    pub const ALL: [Self; 14] = [
        Self::Quota,
        Self::Key,
        Self::UnknownModel,
        Self::Malformed,
        Self::TooLarge,
        Self::Moderated,
        Self::Overflow,
        Self::Rate,
        Self::Server,
        Self::Transport,
        Self::Garbage,
        Self::Cancelled,
        Self::Limit,
        Self::OwnFile,
    ];

    /// The class's name, as the request log and `--json` write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Key => "key",
            Self::UnknownModel => "unknown-model",
            Self::Malformed => "malformed",
            Self::TooLarge => "too-large",
            Self::Moderated => "moderated",
            Self::Overflow => "overflow",
            Self::Rate => "rate",
            Self::Server => "server",
            Self::Transport => "transport",
            Self::Garbage => "garbage",
            Self::Cancelled => "cancelled",
            Self::Limit => "limit",
            Self::OwnFile => "own-file",
        }
    }

    /// Reads a class's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == word)
    }

    /// Whether the same request may succeed a little later.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::Rate | Self::Server | Self::Transport | Self::Garbage)
    }

    /// Whether another model may be asked instead; after a cancel, at a limit or without a file none is.
    pub const fn allows_fallback(self) -> bool {
        !matches!(self, Self::Cancelled | Self::Limit | Self::OwnFile)
    }
}

/// What a person is told of a failure that is kept as its class and a message. That no answer came back, the message says itself.
pub fn failure_words(kept: &str) -> &str {
    kept.strip_prefix(FailureClass::Garbage.as_str()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(kept)
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How often one request is tried and how long the waits between are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPlan {
    /// Tries in all, the first included.
    pub tries: u32,
    /// The wait before the second try; each later one is twice as long.
    pub first_wait: Duration,
}

/// The longest wait that a provider may ask for; what would take longer goes to the next model, or is told at once.
pub const PATIENCE: Duration = Duration::from_mins(1);

impl Default for RetryPlan {
    /// Three tries, after 1 s and 2 s.
    fn default() -> Self {
        Self { tries: 3, first_wait: Duration::from_secs(1) }
    }
}

impl RetryPlan {
    /// How long to wait before the next try after `failed` tries, or none when it is over.
    ///
    /// `asked` is what the provider asked for (`Retry-After`), which is kept to when it is longer; a request that would
    /// have to wait longer than [`PATIENCE`] is given up instead. `spread`, from 0 to 1, makes the wait up to half as long
    /// again, so that requests which failed together do not come back together.
    pub fn wait_after(
        &self,
        failed: u32,
        class: FailureClass,
        asked: Option<Duration>,
        spread: f64,
    ) -> Option<Duration> {
        let impatient = asked.is_some_and(|asked| asked > PATIENCE);
        if !class.is_passing() || failed == 0 || failed >= self.tries || impatient {
            return None;
        }
        let own = self.first_wait * 2u32.saturating_pow(failed - 1);
        let wait = asked.map_or(own, |asked| asked.max(own));
        Some(wait + wait.mul_f64(spread.clamp(0.0, 1.0) / 2.0))
    }
}

/// How long what runs by itself waits after it failed so many times in a row: a minute, then twice as long each time, an
/// hour at most.
pub fn background_wait(failures: u32) -> Duration {
    const FIRST: Duration = Duration::from_mins(1);
    const LONGEST: Duration = Duration::from_hours(1);
    FIRST.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1))).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    // KAI-110
    #[test]
    fn three_tries_with_waits_of_one_and_two_seconds() {
        let plan = RetryPlan::default();
        let waits: Vec<_> = (1..=3).map(|failed| plan.wait_after(failed, FailureClass::Rate, None, 0.0)).collect();
        assert_eq!(waits, [Some(Duration::from_secs(1)), Some(Duration::from_secs(2)), None]);
        let asked = |seconds| plan.wait_after(1, FailureClass::Rate, Some(Duration::from_secs(seconds)), 0.0);
        assert_eq!(asked(7), Some(Duration::from_secs(7)));
    }

    // MOD-100
    #[test]
    fn a_wait_of_ten_minutes_is_not_waited_for() {
        let asked =
            |seconds| RetryPlan::default().wait_after(1, FailureClass::Rate, Some(Duration::from_secs(seconds)), 0.0);
        assert_eq!([60, 61, 600].map(asked), [Some(Duration::from_mins(1)), None, None]);
    }

    // MOD-101
    #[test]
    fn a_wait_is_never_shorter_than_planned_and_up_to_half_as_long_again() {
        let wait = |spread| RetryPlan::default().wait_after(2, FailureClass::Rate, None, spread);
        let seconds = [0.0, 0.5, 1.0, 7.0, -1.0].map(|spread| wait(spread).unwrap_or_default().as_secs_f64());
        assert_eq!(seconds, [2.0, 2.5, 3.0, 3.0, 2.0]);
    }

    // KAI-111
    #[test]
    fn what_cannot_pass_is_tried_once() {
        let once: Vec<_> = FailureClass::ALL
            .into_iter()
            .filter(|class| RetryPlan::default().wait_after(1, *class, None, 0.0).is_none())
            .map(FailureClass::as_str)
            .collect();
        assert_eq!(
            once,
            [
                "quota",
                "key",
                "unknown-model",
                "malformed",
                "too-large",
                "moderated",
                "overflow",
                "cancelled",
                "limit",
                "own-file"
            ]
        );
        assert!(!FailureClass::Cancelled.allows_fallback());
    }

    #[test]
    fn a_class_that_says_nothing_to_a_person_is_left_out() {
        assert_eq!(failure_words("garbage: the answer is empty"), "the answer is empty");
        for kept in ["key: bad key", "garbage", "the answer: garbage: none", ""] {
            assert_eq!(failure_words(kept), kept);
        }
    }

    #[test]
    fn what_runs_by_itself_waits_twice_as_long_after_each_failure_up_to_an_hour() {
        let minutes: Vec<_> = (1..=8).map(|failures| background_wait(failures).as_secs() / 60).collect();
        assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(background_wait(u32::MAX).as_secs(), 3600);
    }
}
