//! The estimate of the window's use, calibrated by what providers report.

use super::{Tally, TextKind, TokenCounter};

/// Factors stay between a quarter of the plain estimate and four times it: a report beyond that is no tokenizer's.
const FACTORS: (f64, f64) = (0.25, 4.0);

/// How much the expected factor of a kind counts: as much as a quarter of a request that has nothing else.
const EXPECTED: f64 = 0.25;

/// How far off a report may be before it counts for less than others, as a share of the estimate.
const ODD: f64 = 0.15;

/// Rounds of fitting; factors no longer change in the second decimal after a dozen.
const ROUNDS: usize = 40;

/// One request that was tallied and then counted by its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What it was made of.
    pub tally: Tally,
    /// Tokens that the provider reported.
    pub reported: u64,
}

/// Estimates how much of a window a text uses: each kind of text has a factor of its own, so that a table of numbers in
/// one conversation says nothing about prose in another.
///
/// It may be wrong. Whoever uses it may shorten a request by it, but never refuse one.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowEstimate {
    name: String,
    /// Tokens for each of the plain estimate, in hundredths, by kind.
    factors: [u32; 8],
    error: Option<f64>,
}

impl Default for WindowEstimate {
    /// The estimate before anything was reported.
    fn default() -> Self {
        Self { name: "estimate".to_owned(), factors: TextKind::ALL.map(TextKind::expected), error: None }
    }
}

impl WindowEstimate {
    /// The estimate for a model, given what its provider reported of earlier requests.
    ///
    /// The factors are those with which the reports are explained best, held near the expected ones where little was
    /// seen; an odd report among others changes little.
    ///
    /// ```
    /// use limpid_prompt::count::{Observation, Tally, TokenCounter, WindowEstimate};
    /// let text = "four".repeat(100);
    /// let seen = [Observation { tally: Tally::of(&text), reported: 120 }; 4];
    /// let (before, after) = (WindowEstimate::default(), WindowEstimate::calibrated(seen));
    /// assert!(after.count(&text).abs_diff(120) < before.count(&text).abs_diff(120));
    /// assert_eq!(after.count("1,2,3,4,"), before.count("1,2,3,4,"));
    /// ```
    pub fn calibrated(observations: impl IntoIterator<Item = Observation>) -> Self {
        let expected = TextKind::ALL.map(|kind| f64::from(kind.expected()) / 100.0);
        let rows: Vec<Row> = observations.into_iter().filter_map(|seen| Row::of(&seen, &expected)).collect();
        if rows.is_empty() {
            return Self::default();
        }
        // Each factor relative to the expected one, fitted one after another until nothing moves (coordinate descent on
        // least squares with a pull towards 1).
        let mut scale = [1.0_f64; 8];
        for _ in 0..ROUNDS {
            for kind in 0..8 {
                let (mut above, mut below) = (EXPECTED, EXPECTED);
                for row in &rows {
                    let off = row.ratio - row.predicted(&scale);
                    let weight = (ODD / off.abs()).min(1.0);
                    let rest = off + scale[kind] * row.shares[kind];
                    above += weight * row.shares[kind] * rest;
                    below += weight * row.shares[kind] * row.shares[kind];
                }
                let (least, most) = (FACTORS.0 / expected[kind], FACTORS.1 / expected[kind]);
                scale[kind] = (above / below).clamp(least, most);
            }
        }
        let hundredths = |at: usize| (scale[at] * expected[at] * 100.0).round() as u32;
        let factors = std::array::from_fn(hundredths);
        let error =
            rows.iter().map(|row| (row.predicted(&scale) / row.ratio - 1.0).abs()).sum::<f64>() / rows.len() as f64;
        let (plain, used) = rows
            .iter()
            .fold((0.0, 0.0), |(plain, used), row| (plain + row.plain, used + row.predicted(&scale) * row.expected));
        let name = format!("estimate ×{:.2} ±{:.0} %", used / plain, error * 100.0);
        Self { name, factors, error: Some(error) }
    }

    /// The mean of the estimate's deviations so far, as a share of the reported tokens; none before the first report.
    pub fn error(&self) -> Option<f64> {
        self.error
    }

    /// Whether anything was learned.
    pub fn is_calibrated(&self) -> bool {
        self.error.is_some()
    }
}

impl TokenCounter for WindowEstimate {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> usize {
        usize::try_from(Tally::of(text).weighed(&self.factors)).unwrap_or(usize::MAX)
    }
}

/// A report in relation to what was expected.
struct Row {
    plain: f64,
    expected: f64,
    /// Reported tokens for each expected one.
    ratio: f64,
    /// The share that each kind has of the expected tokens.
    shares: [f64; 8],
}

impl Row {
    fn of(seen: &Observation, expected: &[f64; 8]) -> Option<Self> {
        let quarters = seen.tally.quarters();
        let plain = quarters.iter().map(|quarters| *quarters as f64 / 4.0).sum::<f64>();
        if seen.reported == 0 || plain <= 0.0 {
            return None;
        }
        let tokens: [f64; 8] = std::array::from_fn(|at| quarters[at] as f64 / 4.0 * expected[at]);
        let sum: f64 = tokens.iter().sum();
        let reported = (seen.reported as f64 / plain).clamp(FACTORS.0, FACTORS.1) * plain;
        Some(Self { plain, expected: sum, ratio: reported / sum, shares: tokens.map(|tokens| tokens / sum) })
    }

    fn predicted(&self, scale: &[f64; 8]) -> f64 {
        self.shares.iter().zip(scale).map(|(share, scale)| share * scale).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROSE: &str = "The build is red since Monday and nobody knows why. ";
    const TABLE: &str = "2026-01-05,1204,17.25,0.23,99\n";

    fn seen(text: &str, hundredths: u64) -> Observation {
        let tally = Tally::of(text);
        Observation { tally, reported: tally.tokens().map(|(_, tokens)| tokens).sum::<u64>() * hundredths / 100 }
    }

    /// Tokens of a text by an estimate, in percent of those before anything was reported.
    fn percent(counter: &WindowEstimate, text: &str) -> usize {
        counter.count(&text.repeat(50)) * 100 / WindowEstimate::default().count(&text.repeat(50))
    }

    // PRO-024 OLLM-105
    #[test]
    fn reports_calibrate_the_kind_of_text_that_they_are_about() {
        let prose = PROSE.repeat(20);
        let both = [prose.as_str(), &TABLE.repeat(60)].concat();
        let seen = [seen(&prose, 100), seen(&prose, 104), seen(&both, 260), seen(&both, 250)];
        let counter = WindowEstimate::calibrated(seen);
        assert!((95..=112).contains(&percent(&counter, PROSE)), "{}", percent(&counter, PROSE));
        assert!(percent(&counter, TABLE) > 120, "{}", percent(&counter, TABLE));
        assert!(counter.name().starts_with("estimate ×2.0") && counter.error().is_some(), "{}", counter.name());
        assert_eq!(WindowEstimate::calibrated([]), WindowEstimate::default());
        let nothing = [Observation { tally: Tally::default(), reported: 7 }, Observation { reported: 0, ..seen[0] }];
        assert_eq!(WindowEstimate::calibrated(nothing), WindowEstimate::default());
    }

    // OLLM-105
    #[test]
    fn an_odd_report_changes_little_and_is_forgotten() {
        let prose = PROSE.repeat(20);
        let odd = seen(&prose, 9000);
        let among = |usual: usize| {
            let reports = std::iter::once(odd).chain(std::iter::repeat_n(seen(&prose, 110), usual));
            percent(&WindowEstimate::calibrated(reports), PROSE)
        };
        assert!(among(0) <= 400, "no report makes a text more than four times as large");
        assert!((100..125).contains(&among(3)), "{}", among(3));
        assert!((105..115).contains(&among(19)), "{}", among(19));
    }

    proptest! {
        // OLLM-105
        #[test]
        fn whatever_is_reported_a_factor_is_one_that_a_tokenizer_could_have(
            reports in prop::collection::vec((any::<[u16; 8]>(), any::<u64>()), 0..20),
        ) {
            let observation = |(tokens, reported): ([u16; 8], u64)| Observation {
                tally: Tally::from_tokens(TextKind::ALL.into_iter().zip(tokens.map(u64::from))),
                reported,
            };
            let counter = WindowEstimate::calibrated(reports.into_iter().map(observation));
            prop_assert!(counter.factors.iter().all(|factor| (25..=400).contains(factor)), "{:?}", counter.factors);
        }
    }
}
