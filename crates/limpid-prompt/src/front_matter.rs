//! Where the front matter of a file ends, and how it is read.

use serde::Deserialize;
use serde_saphyr::{Error, budget, from_str_with_options, options};

/// The front matter of a file, without its fences, and what follows it; no front matter without a closing fence.
///
/// A byte order mark and Windows line endings are taken.
pub fn split_front_matter(text: &str) -> (Option<&str>, &str) {
    let whole = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = strip_fence(whole) else { return (None, whole) };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let body = rest.get(at + line.len()..).unwrap_or_default();
            return (rest.get(..at), body.trim_start_matches(['\r', '\n']));
        }
        at += line.len();
    }
    (None, whole)
}

fn strip_fence(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    (first.trim_end() == "---").then_some(rest)
}

/// Whether the owner says at the top of a file that anybody may read it: `public: true`.
pub(crate) fn says_public(text: &str) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Said {
        public: bool,
    }

    split_front_matter(text).0.is_some_and(|front| yaml::<Said>(front).is_ok_and(|said| said.public))
}

/// Bytes of the longest front matter: a text of some megabytes takes a second, whatever stands in it.
pub(crate) const LONGEST: usize = 64 * 1024;

/// Reads front matter. It is short, and a few lines of anchors and aliases would grow by powers, so there are none.
///
/// # Errors
/// When it is no YAML, another value, or too long.
pub(crate) fn yaml<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    if text.len() > LONGEST {
        return Err(serde::de::Error::custom(format!("it has more than {LONGEST} bytes")));
    }
    let limits = budget! { max_anchors: 0, max_aliases: 0, max_events: 20_000, flow_nesting_limit: 32 };
    from_str_with_options(text, options! { budget: limits })
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-093
    #[test]
    fn front_matter_is_short() {
        let list = |lines: usize| format!("triggers:\n{}", "- tea\n".repeat(lines));
        assert!(yaml::<serde_json::Value>(&list(1000)).is_ok());
        let refused = yaml::<serde_json::Value>(&list(100_000)).unwrap_err();
        assert!(refused.to_string().contains("more than 65536 bytes"), "{refused}");
    }

    // SEC-101
    #[test]
    fn a_file_is_public_where_it_says_so() {
        assert!(says_public("---\nwhy: it helps\npublic: true\n---\nHello\n"));
        for text in ["public: true\n", "---\npublic: false\n---\n", "---\npublic: [\n---\n", "---\n---\npublic: true\n"]
        {
            assert!(!says_public(text), "{text}");
        }
    }
}
