//! How long a text is that counts as typed: what is longer was copied from somewhere, and may be anybody's.

/// Lines of a paste that counts as typed.
pub const SHORT: usize = 3;

/// Characters of a line: a longer one counts as several, as it does on a screen.
pub const LINE: usize = 80;

/// Lines that a text fills.
///
/// ```
/// assert_eq!(limpid_core::pasted::rows("one\ntwo"), 2);
/// assert_eq!(limpid_core::pasted::rows(&"a".repeat(81)), 2);
/// ```
pub fn rows(text: &str) -> usize {
    text.lines().map(|line| line.chars().count().div_ceil(LINE).max(1)).sum()
}

/// Whether a text is longer than what counts as typed.
pub fn is_long(text: &str) -> bool {
    rows(text) > SHORT
}
