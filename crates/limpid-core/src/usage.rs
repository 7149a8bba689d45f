//! Tokens and money of a call.

use std::fmt;
use std::ops::AddAssign;

/// Tokens of one call or of many, as the provider counted them.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, the cached ones included.
    pub input: u64,
    /// Tokens of the prompt that the provider read from its cache.
    pub cached: u64,
    /// Tokens that were written to the provider's cache.
    pub cache_written: u64,
    /// Those of them that are kept for an hour.
    pub cache_written_hour: u64,
    /// Tokens of the prompt that were speech.
    pub audio: u64,
    /// Tokens of the reply, reasoning included.
    pub output: u64,
    /// Tokens of the reply that were reasoning, as far as the provider says.
    pub reasoning: u64,
}

impl fmt::Debug for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input, cached, cache_written, cache_written_hour, audio, output, reasoning } = self;
        let mut shown = f.debug_struct("Usage");
        shown.field("input", input).field("cached", cached).field("cache_written", cache_written);
        // Most requests have none of these.
        for (name, count) in [("cache_written_hour", cache_written_hour), ("audio", audio)] {
            if *count > 0 {
                shown.field(name, count);
            }
        }
        shown.field("output", output).field("reasoning", reasoning).finish()
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.cache_written += other.cache_written;
        self.cache_written_hour += other.cache_written_hour;
        self.audio += other.audio;
        self.output += other.output;
        self.reasoning += other.reasoning;
    }
}

/// An amount of money in millionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(pub u64);

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}
