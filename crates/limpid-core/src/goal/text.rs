//! Texts of goals: made to one clean line, and compared by what they say.

use unicode_normalization::UnicodeNormalization;

use super::MAX_DESCRIPTION;
use super::error::GoalError;

/// A text on one line: white space is one space, and characters that nobody sees are gone.
///
/// ```
/// assert_eq!(limpid_core::goal::text::one_line(" Move\n  hou\u{200b}se "), "Move house");
/// ```
pub fn one_line(text: &str) -> String {
    let seen: String = text.chars().filter(|c| c.is_whitespace() || !is_cleaned_away(*c)).collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What two texts are compared by: case, spaces, numbering, emphasis and a last full stop do not count.
///
/// ```
/// use limpid_core::goal::text::folded;
/// assert_eq!(folded("2. **Add**  Login."), folded("add login"));
/// ```
pub fn folded(text: &str) -> String {
    let line = one_line(&text.nfkc().collect::<String>()).to_lowercase();
    let plain: String = line.replace("**", "").replace("__", "").chars().filter(|c| !matches!(c, '`' | '*')).collect();
    let rest = without_numbering(plain.trim());
    one_line(rest.trim_end_matches(['.', '!', ' ']))
}

/// A description on one line; blank ones and those that are too long are refused.
pub(super) fn described(what: &'static str, text: &str) -> Result<String, GoalError> {
    let text = one_line(text);
    if text.is_empty() { Err(GoalError::Blank { what }) } else { limited(what, text, MAX_DESCRIPTION) }
}

/// A text that is not too long.
pub(super) fn limited(what: &'static str, text: String, limit: usize) -> Result<String, GoalError> {
    let chars = text.chars().count();
    if chars <= limit { Ok(text) } else { Err(GoalError::TooLong { what, chars, limit }) }
}

/// A text without the number or bullet that it begins with: `2. x`, `3) x`, `- x`.
fn without_numbering(text: &str) -> &str {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - after.len();
    let rest = match digits {
        0 => after.strip_prefix(['-', '+']),
        1..=3 => after.strip_prefix(['.', ')']),
        _ => None,
    };
    match rest {
        Some(rest) if rest.starts_with(' ') && !rest.trim().is_empty() => rest.trim_start(),
        _ => text,
    }
}

/// Control characters, and those that are invisible or turn the direction of writing.
fn is_cleaned_away(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The place of the one entry that a text means: the equal one, else the only one that begins with it.
pub(super) fn find<'a>(text: &str, entries: impl Iterator<Item = &'a str>) -> Found {
    let wanted = folded(text);
    let entries: Vec<String> = entries.map(folded).collect();
    if let Some(at) = entries.iter().position(|entry| *entry == wanted) {
        return Found::At(at);
    }
    let mut begin = entries.iter().enumerate().filter(|(_, entry)| !wanted.is_empty() && entry.starts_with(&wanted));
    match (begin.next(), begin.next()) {
        (None, _) => Found::None,
        (Some((at, _)), None) => Found::At(at),
        (Some(_), Some(_)) => Found::Several,
    }
}

/// What a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// This entry.
    At(usize),
    /// No entry.
    None,
    /// More than one.
    Several,
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-081
    #[test]
    fn case_spaces_numbering_and_emphasis_do_not_count() {
        for text in [
            "Add login",
            "add  LOGIN",
            "2. Add login",
            "12) **Add** login",
            "- Add `login`.",
            "__Add login__!",
            "Ａｄｄ login",
        ] {
            assert_eq!(folded(text), "add login", "{text}");
        }
        assert_eq!(folded("2024 report"), "2024 report");
        assert_eq!(folded("1.5 litres"), "1.5 litres");
        assert_eq!(folded("7."), "7");
    }

    // OLLM-081
    #[test]
    fn a_text_means_the_equal_entry_or_the_only_one_that_begins_with_it() {
        let find = |text| find(text, ["Add login", "Add login form", "Write tests"].into_iter());
        assert_eq!(
            [find("ADD LOGIN"), find("add"), find("1. write"), find("deploy"), find("")],
            [Found::At(0), Found::Several, Found::At(2), Found::None, Found::None]
        );
    }
}
