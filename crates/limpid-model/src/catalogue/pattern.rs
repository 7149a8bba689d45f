//! Names in which `*` stands for any characters.

use limpid_core::stars::fits;

/// How many characters of a pattern are not `*` when a name fits it; patterns and names are in small letters.
pub(super) fn fit(pattern: &str, name: &str) -> Option<usize> {
    fits(pattern, name).then(|| pattern.chars().filter(|c| *c != '*').count())
}

/// What the last star of a pattern that ends with it stands for in a name.
pub(super) fn starred<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    let (start, rest) = pattern.rsplit_once('*')?;
    let (before, literal) = start.rsplit_once('*').unwrap_or(("", start));
    let at = if before.is_empty() && !start.contains('*') { 0 } else { name.find(literal)? };
    let after = name.get(at + literal.len()..)?;
    after.strip_suffix(rest)
}

/// Whether a name is a dated one of another: `gpt-5.4-2026-03-05` of `gpt-5.4`, `claude-opus-5@20260601`.
pub(super) fn dates(base: &str, name: &str) -> bool {
    let Some(suffix) = name.strip_prefix(base).and_then(|rest| rest.strip_prefix(['-', '@'])) else { return false };
    let digits = suffix.bytes().filter(u8::is_ascii_digit).count();
    digits >= 4 && suffix.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_star_is_what_it_stands_for() {
        assert_eq!(starred("openrouter/anthropic/*", "openrouter/anthropic/claude-opus-5.5"), Some("claude-opus-5.5"));
        assert_eq!(starred("bedrock/*anthropic.*", "bedrock/us.anthropic.claude-opus-5-5"), Some("claude-opus-5-5"));
    }

    #[test]
    fn a_date_behind_a_name_names_the_same_model() {
        assert!(dates("openai/gpt-5.4", "openai/gpt-5.4-2026-03-05"));
        assert!(dates("anthropic/claude-opus-5", "anthropic/claude-opus-5-20260601"));
        assert!(!dates("openai/gpt-5.4", "openai/gpt-5.4-mini-2026-03-17"));
        assert!(!dates("anthropic/claude-opus-5", "anthropic/claude-opus-5-5"));
    }
}
