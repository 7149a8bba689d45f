//! Where the front matter of a file ends.

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
