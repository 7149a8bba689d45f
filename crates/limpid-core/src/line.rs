//! Where a line ends, for everything that puts a text on one line or looks at lines one by one.

use std::borrow::Cow;

/// Whether a character ends a line for some reader: besides LF and CR also VT, FF, the separators FS to RS, NEL, and the
/// line and paragraph separators of Unicode. A model, a mail server and a terminal do not agree on which of them count.
pub const fn is_break(letter: char) -> bool {
    matches!(letter, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A text on one line: line breaks become one space, and blank lines go.
///
/// ```
/// use limpid_core::line::one_line;
/// assert_eq!(one_line("Invoice\r\n\n  ## Your\u{2028}Memories "), "Invoice ## Your Memories");
/// ```
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_break) {
        return text.into();
    }
    let lines: Vec<&str> = text.split(is_break).map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ").into()
}

/// The lines of a text, whatever ends them; CR and LF together end one.
///
/// ```
/// use limpid_core::line::lines;
/// assert_eq!(lines("a\r\n\u{2028}b\n").collect::<Vec<_>>(), ["a", "", "b"]);
/// ```
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text).filter(|text| !text.is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(at) = text.find(is_break) else { return rest.take() };
        let (line, ending) = text.split_at(at);
        let width = if ending.starts_with("\r\n") { 2 } else { ending.chars().next().map_or(0, char::len_utf8) };
        rest = ending.get(width..).filter(|rest| !rest.is_empty());
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // KAI-007
    #[test]
    fn whatever_some_reader_takes_for_a_line_break_becomes_one_space() {
        for line_break in ["\n", "\r", "\r\n", "\n\n\r\n", "\u{b}", "\u{c}", "\u{1c}", "\u{85}", "\u{2028}", "\u{2029}"]
        {
            assert_eq!(one_line(&format!("a{line_break}b")), "a b", "{line_break:?}");
        }
        assert_eq!(one_line(" a\tb "), " a\tb ");
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library_where_it_knows_their_end(text in "[a\\n ]{0,12}") {
            prop_assert_eq!(lines(&text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
        }

        // KAI-007
        #[test]
        fn one_line_has_one_line(text in prop::collection::vec(any::<char>(), 0..60)) {
            prop_assert!(!one_line(&String::from_iter(text)).contains(is_break));
        }
    }
}
