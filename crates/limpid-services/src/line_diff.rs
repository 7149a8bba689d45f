//! What differs between two texts, line by line, in a time that no text makes longer.

use std::time::Duration;

use similar::TextDiff;

/// How long the smallest difference is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// Bytes up to which a text takes less than that, so that its difference is the same however busy the machine is.
const SHORT: usize = 4 * 1024;

/// The difference of two texts, line by line.
///
/// Where the smallest one is not found in time, this one is larger and as right: it has lines go and come again that
/// are in both.
#[expect(clippy::disallowed_methods, reason = "short texts are compared at once")]
pub fn line_diff<'a>(was: &'a str, is_now: &'a str) -> TextDiff<'a, 'a, str> {
    if was.len().max(is_now.len()) <= SHORT { TextDiff::from_lines(was, is_now) } else { within(PATIENCE, was, is_now) }
}

fn within<'a>(patience: Duration, was: &'a str, is_now: &'a str) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(patience).diff_lines(was, is_now)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use similar::ChangeTag;

    use super::*;

    /// So many bytes of lines of one letter, with no order in them.
    fn letters(mut seed: u64, bytes: usize) -> String {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if seed >> 63 == 0 { "a\n" } else { "b\n" }
        };
        (0..bytes / 2).map(|_| next()).collect()
    }

    /// The text that a difference leads to, without the lines of a kind.
    fn without(kind: ChangeTag, diff: &TextDiff<'_, '_, str>) -> String {
        diff.iter_all_changes().filter(|change| change.tag() != kind).map(|change| change.value().to_owned()).collect()
    }

    // SEC-093
    #[test]
    fn a_difference_that_is_not_found_in_time_is_larger_and_right() {
        let (was, is_now) = (letters(1, 2000), letters(2, 2000));
        let (smallest, coarse) = (line_diff(&was, &is_now), within(Duration::ZERO, &was, &is_now));
        for diff in [&smallest, &coarse] {
            assert_eq!(without(ChangeTag::Insert, diff), was);
            assert_eq!(without(ChangeTag::Delete, diff), is_now);
        }
        let changed = |diff: &TextDiff<'_, '_, str>| {
            diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal).count()
        };
        assert!(changed(&coarse) > changed(&smallest));
    }

    // SEC-093 SEC-042
    #[test]
    fn long_texts_that_differ_everywhere_are_compared_in_time() {
        let (was, is_now) = (letters(1, 256 * 1024), letters(2, 256 * 1024));
        let begun = Instant::now();
        let diff = line_diff(&was, &is_now);
        assert!(begun.elapsed() < Duration::from_secs(2), "it took {} ms", begun.elapsed().as_millis());
        assert_eq!(without(ChangeTag::Delete, &diff), is_now);
    }
}
