//! What a model costs.

use crate::usage::{Money, Usage};

/// What a model costs, in US dollars for a million tokens, which is the same as millionths of a dollar for one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Price {
    /// What short prompts cost.
    pub base: Rates,
    /// What longer ones cost, the shortest first.
    pub tiers: Vec<PriceTier>,
}

/// What requests cost whose prompt is longer than a limit. They cost this from their first token on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceTier {
    /// The limit, in tokens.
    pub above: u64,
    /// What they cost.
    pub rates: Rates,
}

/// US dollars for a million tokens of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Fresh input.
    pub input: f64,
    /// Input read from the cache.
    pub cached: f64,
    /// Input written to the cache.
    pub cache_written: f64,
    /// Input written to the cache for an hour.
    pub cache_written_hour: f64,
    /// Spoken input.
    pub audio: f64,
    /// Output.
    pub output: f64,
    /// Reasoning, which is part of the output.
    pub reasoning: f64,
}

impl Price {
    /// The same price for a prompt of any length, with writes to the cache, speech and reasoning as other tokens.
    pub fn flat(input: f64, cached: f64, output: f64) -> Self {
        let (written, reasoning) = (input, output);
        let base = Rates {
            input,
            cached,
            cache_written: written,
            cache_written_hour: written,
            audio: input,
            output,
            reasoning,
        };
        Self { base, tiers: Vec::new() }
    }

    /// What a prompt of so many tokens is charged by.
    ///
    /// ```
    /// use limpid_core::{Price, PriceTier, Rates};
    /// let mut price = Price::flat(2.0, 0.2, 10.0);
    /// let long = Rates { input: 4.0, ..price.base };
    /// price.tiers.push(PriceTier { above: 272_000, rates: long });
    /// assert_eq!(price.rates(272_000).input, 2.0);
    /// assert_eq!(price.rates(272_001).input, 4.0);
    /// ```
    pub fn rates(&self, input: u64) -> &Rates {
        let reached = self.tiers.iter().rev().find(|tier| input > tier.above);
        reached.map_or(&self.base, |tier| &tier.rates)
    }

    /// What a usage costs at this price, rounded to a millionth of a dollar.
    ///
    /// ```
    /// use limpid_core::{Money, Price, Usage};
    /// let price = Price::flat(2.0, 0.5, 8.0);
    /// let usage = Usage { input: 1000, cached: 400, output: 10, ..Usage::default() };
    /// assert_eq!(price.of(usage), Money(1480));
    /// ```
    pub fn of(&self, usage: Usage) -> Money {
        let rates = self.rates(usage.input);
        // A provider that counts wrong must not be charged below zero: each part is at most what is left of the whole.
        let rest = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_written);
        let spoken = usage.audio.min(rest);
        let hour = usage.cache_written_hour.min(usage.cache_written);
        let reasoned = usage.reasoning.min(usage.output);
        let sum = (rest - spoken) as f64 * rates.input
            + spoken as f64 * rates.audio
            + usage.cached as f64 * rates.cached
            + (usage.cache_written - hour) as f64 * rates.cache_written
            + hour as f64 * rates.cache_written_hour
            + (usage.output - reasoned) as f64 * rates.output
            + reasoned as f64 * rates.reasoning;
        Money(sum.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-120 MOD-052
    #[test]
    fn hours_of_cache_speech_and_reasoning_are_charged_by_their_own_rates() {
        let base = Rates {
            input: 1.0,
            cached: 0.1,
            cache_written: 1.25,
            cache_written_hour: 2.0,
            audio: 3.0,
            output: 5.0,
            reasoning: 7.0,
        };
        let price = Price { base, tiers: Vec::new() };
        let cost = |usage| price.of(usage).0;
        let usage = Usage { input: 10_000, cached: 1_000, cache_written: 2_000, output: 600, ..Usage::default() };
        assert_eq!(cost(usage), 7_000 + 100 + 2_500 + 3_000);
        assert_eq!(cost(Usage { cache_written_hour: 400, ..usage }), 12_600 + 400 * 3 / 4);
        assert_eq!(cost(Usage { audio: 500, ..usage }), 12_600 + 500 * 2);
        assert_eq!(cost(Usage { reasoning: 100, ..usage }), 12_600 + 100 * 2);
        let odd = Usage { cache_written_hour: 9_999, audio: 99_999, reasoning: 9_999, ..usage };
        assert_eq!(cost(odd), 7_000 * 3 + 100 + 2_000 * 2 + 600 * 7, "parts are never more than the whole");
    }
}
