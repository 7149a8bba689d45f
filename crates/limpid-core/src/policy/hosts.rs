//! Hosts, and whether one is meant.

/// Whether a destination is the one that is meant, or lies below `*.name`. Case and a last dot do not count.
///
/// ```
/// use limpid_core::policy::host_matches;
/// assert!(host_matches("*.example.com", "docs.Example.com"));
/// assert!(!host_matches("*.example.com", "example.com") && !host_matches("example.com", "evil-example.com"));
/// ```
pub fn host_matches(wanted: &str, destination: &str) -> bool {
    let (wanted, destination) = (plain(wanted), plain(destination));
    match wanted.strip_prefix("*.") {
        Some(parent) => destination.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        None => wanted == destination,
    }
}

fn plain(text: &str) -> String {
    text.trim_end_matches('.').to_lowercase()
}
