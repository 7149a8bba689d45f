//! How long a text is that counts as typed: what is longer was copied from somewhere, and may be anybody's.

/// Lines of a paste that counts as typed.
pub const SHORT: usize = 3;

/// Columns of a line: a longer one counts as several, as it does on a screen.
pub const LINE: usize = 80;

/// What ends a line, besides a carriage return with a line feed behind it.
const ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Letters that take two columns, as those of Chinese, Japanese and Korean do: the first and the last of each range.
const WIDE: [(char, char); 10] = [
    ('\u{1100}', '\u{115f}'),
    ('\u{2e80}', '\u{a4cf}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1f64f}'),
    ('\u{1f900}', '\u{1f9ff}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// Lines that a text fills.
///
/// ```
/// assert_eq!(limpid_core::pasted::rows("one\ntwo"), 2);
/// assert_eq!(limpid_core::pasted::rows(&"a".repeat(81)), 2);
/// ```
pub fn rows(text: &str) -> usize {
    lines(text).map(|line| columns(line).div_ceil(LINE).max(1)).sum()
}

/// Whether a text is longer than what counts as typed.
pub fn is_long(text: &str) -> bool {
    rows(text) > SHORT
}

/// The lines of a text, whatever ends them; an end of the last one begins none.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix("\r\n").or_else(|| text.strip_suffix(ENDS)).unwrap_or(text);
    // The line feed behind a carriage return ends no line of its own.
    let mut after_return = false;
    text.split_inclusive(ENDS).filter_map(move |line| {
        let is_second_half = after_return && line == "\n";
        after_return = line.ends_with('\r');
        (!is_second_half).then(|| line.trim_end_matches(ENDS))
    })
}

fn columns(line: &str) -> usize {
    let wide = |letter: char| WIDE.iter().any(|(first, last)| (*first..=*last).contains(&letter));
    line.chars().map(|letter| if wide(letter) { 2 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-053
    #[test]
    fn a_line_ends_where_any_program_may_end_it() {
        for end in ["\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
            assert_eq!(rows(&["a", "b", "c", "d"].join(end)), 4, "{end:?}");
            assert_eq!(rows(&format!("a{end}b{end}")), 2, "{end:?}");
            assert_eq!(rows(&format!("a{end}{end}b")), 3, "{end:?}");
        }
        assert_eq!((rows(""), rows("\n"), rows("a")), (0, 0, 1));
    }
}
