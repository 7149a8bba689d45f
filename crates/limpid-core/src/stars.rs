//! Patterns in which `*` stands for any letters.

/// Whether a text is a pattern's.
///
/// ```
/// use limpid_core::stars::fits;
/// assert!(fits("a/*-x*z", "a/1-x2z") && fits("a/*", "a/"));
/// assert!(!fits("a/*-x*z", "a/1-xz1") && !fits("ab*ba", "aba"));
/// ```
pub fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        // The first place leaves the most for what follows.
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(last)
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
}
