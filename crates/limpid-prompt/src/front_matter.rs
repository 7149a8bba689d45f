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

/// Reads front matter. It is short, and a few lines of anchors and aliases would grow by powers, so there are none.
///
/// # Errors
/// When it is no YAML, another value, or too long.
pub(crate) fn yaml<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let limits = budget! { max_anchors: 0, max_aliases: 0, max_events: 20_000, flow_nesting_limit: 32 };
    from_str_with_options(text, options! { budget: limits })
}
