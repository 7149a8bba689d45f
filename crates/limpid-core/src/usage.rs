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

/// What a model costs, in US dollars for a million tokens, which is the same as millionths of a dollar for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Fresh input.
    pub input: f64,
    /// Input read from the cache.
    pub cached: f64,
    /// Input written to the cache.
    pub cache_written: f64,
    /// Output.
    pub output: f64,
}

impl Price {
    /// What a usage costs at this price, rounded to a millionth of a dollar.
    ///
    /// ```
    /// use limpid_core::{Money, Price, Usage};
    /// let price = Price { input: 2.0, cached: 0.5, cache_written: 2.5, output: 8.0 };
    /// let usage = Usage { input: 1000, cached: 400, output: 10, ..Usage::default() };
    /// assert_eq!(price.of(usage), Money(1480));
    /// ```
    pub fn of(&self, usage: Usage) -> Money {
        let fresh = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_written);
        let sum = fresh as f64 * self.input
            + usage.cached as f64 * self.cached
            + usage.cache_written as f64 * self.cache_written
            + usage.output as f64 * self.output;
        Money(sum.round() as u64)
    }
}
