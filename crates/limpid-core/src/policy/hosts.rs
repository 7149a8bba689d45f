//! Hosts in texts, and whether one is meant.

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

/// The hosts that a text names, in addresses or as bare words such as `docs.example.com`.
///
/// ```
/// use limpid_core::policy::named_hosts;
/// assert_eq!(named_hosts("Read https://Example.com/a and (docs.rs)."), ["example.com", "docs.rs"]);
/// ```
pub fn named_hosts(text: &str) -> Vec<String> {
    let mut hosts = Vec::new();
    // Most texts and most words name none, and a conversation has many.
    let may_name = |text: &str| text.contains('.') || text.contains("://");
    if !may_name(text) {
        return hosts;
    }
    for word in text.split(ends_a_word) {
        let word = word.trim_end_matches(['.', '!', '?', ':']);
        if !may_name(word) {
            continue;
        }
        let host = if word.contains("://") { host_of(word) } else { host_of(&format!("x://{word}")) };
        // A bare word with an @ is somebody's address, not a place that was named.
        let is_place = word.contains("://") || (is_host(&host) && !word.contains('@'));
        if is_place && !host.is_empty() && !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

fn ends_a_word(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '(' | ')' | '<' | '>' | '"' | '\'' | '`' | ',' | ';' | '|')
}

/// Whether a bare word is a host: names with dots between them, the last one without digits.
fn is_host(word: &str) -> bool {
    let labels: Vec<&str> = word.split('.').collect();
    let is_label =
        |label: &&str| !label.is_empty() && label.chars().all(|letter| letter.is_alphanumeric() || letter == '-');
    let last = labels.last().copied().unwrap_or_default();
    labels.len() > 1 && labels.iter().all(is_label) && last.len() > 1 && last.chars().all(char::is_alphabetic)
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

    // SEC-005
    #[test]
    fn hosts_are_named_by_addresses_and_bare_words_only() {
        assert_eq!(
            named_hosts("see <http://localhost:80/x>, docs.rs/serde; and a.b.example.org!"),
            ["localhost", "docs.rs", "a.b.example.org"]
        );
        assert_eq!(named_hosts("version 1.2.3, e.g. mail ada@example.com, at 3.5 or v1.0 …"), Vec::<String>::new());
    }
}
