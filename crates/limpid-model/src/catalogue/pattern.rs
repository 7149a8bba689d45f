//! Names in which `*` stands for any characters.

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

/// Whether a name fits a pattern in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let tail = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    name.ends_with(tail)
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
    fn stars_stand_for_any_characters() {
        for (pattern, name, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/", true),
            ("a/*-x*z", "a/1-x2z", true),
            ("a/*-x*z", "a/1-xz1", false),
            ("*ab*ab", "xab", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

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
