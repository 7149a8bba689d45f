//! How tokens are counted (PRO-024, OLLM-105).

/// Counts the tokens of texts; the report of a prompt says which one counted.
pub trait TokenCounter {
    /// What counted, and how sure it is: `o200k_base`, `estimate`, `estimate ×1.12 ±4 %`.
    fn name(&self) -> &str;

    /// The tokens of one text. The same text always has the same number.
    fn count(&self, text: &str) -> usize;
}

/// Used factors stay between a quarter and four times the plain estimate: a report beyond that is no tokenizer's.
const FACTORS: (f64, f64) = (0.25, 4.0);

/// An estimate: four Latin characters a token, one of any other script, times a factor learned from what providers
/// reported for this family of models.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    name: String,
    factor: f64,
    error: Option<f64>,
}

/// One prompt that was estimated and then counted by its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Tokens by [`Estimate::default`].
    pub estimated: u64,
    /// Tokens that the provider reported.
    pub reported: u64,
}

impl Default for Estimate {
    /// The plain estimate, before anything was reported.
    fn default() -> Self {
        Self { name: "estimate".to_owned(), factor: 1.0, error: None }
    }
}

impl Estimate {
    /// The estimate for a family of models, given what its provider reported for earlier prompts.
    ///
    /// The factor is the median of the reported ratios, so that a few odd reports change nothing; a report of nothing
    /// is no report.
    ///
    /// ```
    /// use limpid_prompt::count::{Estimate, Observation, TokenCounter};
    /// let seen = [Observation { estimated: 100, reported: 110 }, Observation { estimated: 200, reported: 220 }];
    /// let counter = Estimate::calibrated(seen);
    /// assert_eq!(counter.name(), "estimate ×1.10 ±0 %");
    /// assert_eq!(counter.count(&"four".repeat(100)), 110);
    /// ```
    pub fn calibrated(observations: impl IntoIterator<Item = Observation>) -> Self {
        let seen: Vec<Observation> =
            observations.into_iter().filter(|seen| seen.estimated > 0 && seen.reported > 0).collect();
        let Some(ratio) = median(seen.iter().map(|seen| seen.reported as f64 / seen.estimated as f64).collect()) else {
            return Self::default();
        };
        // Two decimals, so that the name says exactly what is used.
        let factor = (ratio.clamp(FACTORS.0, FACTORS.1) * 100.0).round() / 100.0;
        let errors = seen.iter().map(|seen| (seen.estimated as f64 * factor / seen.reported as f64 - 1.0).abs());
        let error = errors.sum::<f64>() / seen.len() as f64;
        Self { name: format!("estimate ×{factor:.2} ±{:.0} %", error * 100.0), factor, error: Some(error) }
    }

    /// The mean of the estimate's deviations so far, as a share of the reported tokens; none before the first report.
    pub fn error(&self) -> Option<f64> {
        self.error
    }
}

impl TokenCounter for Estimate {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> usize {
        let quarters: usize =
            if text.is_ascii() { text.len() } else { text.chars().map(|c| if is_latin(c) { 1 } else { 4 }).sum() };
        // Hundredths keep the product exact, whatever the platform's floating point does.
        (quarters * (self.factor * 100.0).round() as usize).div_ceil(400)
    }
}

/// Latin letters with their marks, and the punctuation, digits and spaces that go with them.
fn is_latin(c: char) -> bool {
    matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{2000}'..='\u{206f}')
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let upper = *numbers.get(numbers.len() / 2)?;
    let lower = *numbers.get(numbers.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // OLLM-105
    #[test]
    fn four_latin_characters_or_one_other_make_a_token() {
        let count = |text: &str| Estimate::default().count(text);
        assert_eq!([count(""), count("a"), count("four"), count("fives")], [0, 1, 1, 2]);
        assert_eq!([count("größe — “x”"), count("東京"), count("🦞")], [3, 2, 1]);
    }

    // PRO-024 OLLM-105
    #[test]
    fn reports_calibrate_the_factor_and_give_the_error() {
        let seen = [(100, 120), (1000, 1200), (50, 66), (80, 0), (0, 7), (100, 9000)];
        let counter = Estimate::calibrated(seen.map(|(estimated, reported)| Observation { estimated, reported }));
        assert_eq!(counter.name(), "estimate ×1.26 ±28 %");
        assert_eq!(counter.count(&"x".repeat(400)), 126);
        assert_eq!(Estimate::calibrated([]), Estimate::default());
    }

    // OLLM-105
    #[test]
    fn a_report_that_no_tokenizer_would_make_moves_the_factor_so_far_and_no_farther() {
        let factor = |reported: u64| Estimate::calibrated([Observation { estimated: 1000, reported }]);
        assert_eq!(
            [1, 249, 251, 3990, 4010, 90_000].map(|reported| factor(reported).count(&"x".repeat(4000))),
            [250, 250, 250, 3990, 4000, 4000]
        );
    }

    proptest! {
        // OLLM-105
        #[test]
        fn two_texts_never_count_less_than_their_concatenation(a in any::<String>(), b in any::<String>()) {
            let counter = Estimate::default();
            let joined = [a.as_str(), b.as_str()].concat();
            prop_assert!(counter.count(&a) + counter.count(&b) >= counter.count(&joined));
        }
    }
}
