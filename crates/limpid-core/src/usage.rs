//! Tokens and money of a call (LES-016, LES-026).

use std::fmt;
use std::ops::AddAssign;

/// Tokens of one call or of many, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, the cached ones included.
    pub input: u64,
    /// Tokens of the prompt that the provider read from its cache.
    pub cached: u64,
    /// Tokens that were written to the provider's cache.
    pub cache_written: u64,
    /// Tokens of the reply, reasoning included.
    pub output: u64,
    /// Tokens of the reply that were reasoning, as far as the provider says.
    pub reasoning: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.cache_written += other.cache_written;
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
