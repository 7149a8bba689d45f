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

/// The host of an address such as `https://user@example.com:8080/path`; what is no address comes back as it is.
pub fn host_of(destination: &str) -> String {
    let Some((_, rest)) = destination.split_once("://") else { return plain(destination) };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let without_port = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    plain(without_port)
}

fn plain(text: &str) -> String {
    text.trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-005
    #[test]
    fn an_address_is_its_host_whatever_stands_around_it() {
        let table = [
            ("https://example.com/a?b", "example.com"),
            ("http://good.com@evil.test/", "evil.test"),
            ("https://evil.test\\@good.com/", "evil.test"),
            ("https://evil.test#@good.com", "evil.test"),
            ("https://EXAMPLE.com.:8443", "example.com"),
            ("http://[::1]:80/", "::1"),
            ("ada@example.com", "ada@example.com"),
        ];
        for (address, host) in table {
            assert_eq!(host_of(address), host, "{address}");
        }
    }
}
