//! How long providers are asked to keep what they have read of a prompt.

/// How long a provider keeps what it has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheLife {
    /// Five minutes from the last reading.
    #[default]
    Minutes,
    /// An hour from the last reading; a write costs more.
    Hour,
    /// Nothing is to be kept.
    Off,
}

impl CacheLife {
    /// Every length.
    pub const ALL: [Self; 3] = [Self::Minutes, Self::Hour, Self::Off];

    /// The word for it, as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minutes => "5m",
            Self::Hour => "1h",
            Self::Off => "off",
        }
    }

    /// Reads a word; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|life| life.as_str() == word)
    }

    /// What suits requests with these gaps between them, in milliseconds. Gaps below five minutes say nothing: both lengths
    /// outlast them. An hour is chosen when as many of the others are at most an hour as are longer.
    pub fn for_gaps(gaps: impl IntoIterator<Item = i64>) -> Self {
        let long: Vec<i64> = gaps.into_iter().filter(|gap| *gap > 5 * MINUTE).collect();
        let within = long.iter().filter(|gap| **gap <= 60 * MINUTE).count();
        if within > 0 && 2 * within >= long.len() { Self::Hour } else { Self::Minutes }
    }
}

/// A minute in milliseconds.
const MINUTE: i64 = 60 * 1000;

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-052
    #[test]
    fn an_hour_is_for_gaps_that_five_minutes_do_not_outlast_and_an_hour_does() {
        let of = |minutes: &[i64]| CacheLife::for_gaps(minutes.iter().map(|minutes| minutes * MINUTE)).as_str();
        let cases: [(&[i64], &str); 8] = [
            (&[], "5m"),
            (&[1, 2, 5], "5m"),
            (&[6], "1h"),
            (&[60], "1h"),
            (&[61], "5m"),
            (&[1, 1, 1, 20, 1, 1], "1h"),
            (&[20, 600], "1h"),
            (&[20, 600, 700], "5m"),
        ];
        assert_eq!(cases.map(|(gaps, _)| of(gaps)), cases.map(|(_, expected)| expected));
    }
}
