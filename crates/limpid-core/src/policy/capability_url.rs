//! Addresses that are keys: whoever has one reads what stands there, as a calendar that is shared by a link.
//!
//! The term is the W3C's ("Good Practices for Capability URLs").

/// Fewer letters and digits than these are guessed, or are a number that a site gives its pages.
const SHORTEST: usize = 16;

/// A key changes between kinds of characters at least once in so many; words and dates do more seldom.
const CHARACTERS_A_CHANGE: usize = 5;

/// Names of parameters whose value is a key, however short.
const KEYS: [&str; 16] = [
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "authkey",
    "key",
    "pass",
    "password",
    "pwd",
    "resourcekey",
    "rlkey",
    "secret",
    "sig",
    "signature",
    "token",
    "x-amz-signature",
];

/// Parameters by which advertisers know who came from where. They open nothing.
const TRACKING: [&str; 7] = ["fbclid", "gclid", "gbraid", "wbraid", "igshid", "mc_eid", "msclkid"];

/// Whether an address holds what only somebody to whom it was given can know, as far as its form says: a name and a password, a
/// parameter that is called a key, or a long run of mixed letters and digits.
///
/// ```
/// use limpid_core::policy::is_capability_url;
/// assert!(is_capability_url("https://calendar.test/ical/ada/private-8f14e45fceea167a5a36dedd4bea2543/basic.ics"));
/// assert!(!is_capability_url("https://news.test/2026/11/29/a-house-for-24-cats"));
/// ```
pub fn is_capability_url(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return false };
    // What stands behind `#` is told to no server.
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    authority.contains('@') || pieces(path).any(is_random) || query.split('&').any(is_key)
}

fn is_key(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
    let name = name.to_ascii_lowercase();
    if TRACKING.contains(&name.as_str()) || name.starts_with("utm_") {
        return false;
    }
    !value.is_empty() && KEYS.contains(&name.as_str()) || pieces(value).any(is_random)
}

/// The parts of a text that a random one could be: hyphens and underscores are letters of some.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_ascii_alphanumeric() && !"-_".contains(sign))
}

/// Whether a piece looks drawn, be it the whole or what stands between two of its hyphens.
fn is_random(piece: &str) -> bool {
    let words = || piece.split(['-', '_']);
    let joined: String = words().collect();
    // Between two words the kind changes in any text.
    is_drawn(&joined, words().map(changes).sum()) || words().any(|word| is_drawn(word, changes(word)))
}

fn is_drawn(signs: &str, changes: usize) -> bool {
    let is_mixed = signs.contains(|sign: char| sign.is_ascii_digit()) && signs.contains(char::is_alphabetic);
    let is_hex = signs.chars().all(|sign| sign.is_ascii_hexdigit());
    signs.len() >= SHORTEST && is_mixed && (is_hex || changes * CHARACTERS_A_CHANGE >= signs.len())
}

/// How often letters and digits of a word change from one kind to another. A capital at its beginning is none.
fn changes(word: &str) -> usize {
    let kinds: Vec<Kind> = word.chars().filter_map(Kind::of).collect();
    let is_change = |at: &usize| match (kinds[at - 1], kinds[*at]) {
        (Kind::Upper, Kind::Lower) => *at > 1 && kinds[at - 2] == Kind::Upper,
        (before, this) => before != this,
    };
    (1..kinds.len()).filter(is_change).count()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Upper,
    Lower,
    Digit,
}

impl Kind {
    fn of(sign: char) -> Option<Self> {
        match sign {
            'A'..='Z' => Some(Self::Upper),
            'a'..='z' => Some(Self::Lower),
            '0'..='9' => Some(Self::Digit),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};

    use proptest::prelude::*;

    use super::*;

    // SEC-100
    #[test]
    fn shared_calendars_and_documents_are_keys() {
        for address in [
            "https://calendar.google.com/calendar/ical/ada%40example.com/private-0f3e1d2c4b5a69788796a5b4c3d2e1f0/basic.ics",
            "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
            "https://outlook.office365.com/owa/calendar/9d2f7c1e0b3a4f5c8d6e7a9b0c1d2e3f@example.com/reachcalendar.ics",
            "https://www.dropbox.com/scl/fi/x/plan.txt?rlkey=ab12&dl=0",
            "https://files.example.com/550e8400-e29b-41d4-a716-446655440000",
            "https://ada:secret@example.com/",
            "https://example.com/feed?Token=abc",
            "https://example.com?f7Gh2kL9qW3xZ8vB",
        ] {
            assert!(is_capability_url(address), "{address}");
        }
    }

    // SEC-100
    #[test]
    fn pages_that_everybody_reads_are_none() {
        for address in [
            "https://en.wikipedia.org/wiki/Tea_(drink)",
            "https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/util/concurrent/ConcurrentHashMap.html",
            "https://example.com/2026/11/29/the-24-best-phones-of-2026-from-a15-to-s24-ultra",
            "https://example.com/20261129T074512Z/report",
            "https://github.com/ada/tool/releases/download/v0.3.1/tool-0.3.1-x86_64-unknown-linux-gnu.tar.gz",
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https://doi.org/10.1016/S0092867426000123",
            "https://shop.example.com/tea?fbclid=IwAR2f7Gh2kL9qW3xZ8vB1nM5&utm_id=f7Gh2kL9qW3xZ8vBaa",
            "https://example.com/page#f7Gh2kL9qW3xZ8vBf7Gh",
            "https://example.com/?key=",
            "example.com/f7Gh2kL9qW3xZ8vB",
        ] {
            assert!(!is_capability_url(address), "{address}");
        }
    }

    /// A number of 128 bits that nobody chose, by the number of the draw.
    fn drawn(number: u64) -> u128 {
        let half = |of: u64| {
            let mut hasher = DefaultHasher::new();
            (number, of).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }

    proptest! {
        // SEC-100
        #[test]
        fn a_drawn_number_is_a_key_wherever_it_stands(number in any::<u64>(), before in "[a-z/-]{0,20}") {
            let key = format!("{:032x}", drawn(number));
            for address in [
                format!("https://a.test/{before}/{key}"),
                format!("https://a.test/{before}/shared-{key}.ics?a=1"),
                format!("https://a.test/?a={key}"),
            ] {
                prop_assert!(is_capability_url(&address), "{address}");
            }
        }

        // SEC-100
        #[test]
        fn an_address_of_words_is_none(words in "[a-z]{0,12}([-_/][A-Za-z][a-z]{0,12}){0,12}(/[0-9]{1,20})?") {
            let address = format!("https://a.test/{words}");
            prop_assert!(!is_capability_url(&address), "{address}");
        }
    }
}
