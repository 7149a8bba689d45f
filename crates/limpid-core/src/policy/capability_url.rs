//! Addresses that are keys: whoever has one reads what stands there, as a calendar that is shared by a link.
//!
//! The term is the W3C's ("Good Practices for Capability URLs").

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Fewer letters and digits than these are guessed, or are a number that a site gives its pages.
const SHORTEST: usize = 15;

/// A key changes between kinds of characters at least once in so many; words and dates do more seldom.
const CHARACTERS_A_CHANGE: usize = 5;

/// A single word with so many changes between letters and digits is a key, also a longer one.
const CHANGES: usize = 4;

/// What the names of parameters end with whose value is a key, however short.
const KEYS: [&str; 10] = ["auth", "key", "pass", "password", "passwd", "pwd", "secret", "sig", "signature", "token"];

/// Parameters by which advertisers know who came from where. They open nothing.
const TRACKING: [&str; 7] = ["fbclid", "gclid", "gbraid", "wbraid", "igshid", "mc_eid", "msclkid"];

/// Fewer letters and digits of a value that is called a key open nothing.
const SHORTEST_VALUE: usize = 6;

/// Whether an address holds what only somebody to whom it was given can know, as far as its form says: a password, a parameter that is
/// called a key, or a long run of mixed letters and digits. What stands behind `#` is told to no server and does not count.
///
/// ```
/// use limpid_core::policy::is_capability_url;
/// assert!(is_capability_url("https://calendar.test/ical/ada/private-8f14e45fceea167a5a36dedd4bea2543/basic.ics"));
/// assert!(!is_capability_url("https://news.test/2026/11/29/a-house-for-24-cats"));
/// ```
pub fn is_capability_url(address: &str) -> bool {
    !keys_of(address.split('#').next().unwrap_or_default()).is_empty()
}

/// The keys in a text, be it in addresses, without their scheme or behind their `#`, or by themselves: letters and digits alone, all small.
pub fn keys_in(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().flat_map(keys_of)
}

/// A text without anything but its letters and digits, all small, as keys are looked for in it.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The parts of a word that are keys, as it is written and without its encoding: a server takes both for the same.
fn keys_of(word: &str) -> Vec<String> {
    let rest = word.split_once("://").map(|(_, rest)| rest);
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let password =
        authority.and_then(|authority| authority.rsplit_once('@')?.0.split_once(':')).map(|(_, word)| word.to_owned());
    let (path, query) = word.split_once('?').unwrap_or((word, ""));
    let parameters = query.split(['&', '#']);
    let decoded = |text| percent_decode_str(text).decode_utf8_lossy();
    let drawn = [Cow::Borrowed(path), decoded(path)].into_iter().flat_map(|path| drawn_in(&path).collect::<Vec<_>>());
    let called = parameters.flat_map(|parameter| key_of(parameter).into_iter().chain(key_of(&decoded(parameter))));
    let keys = password.into_iter().chain(drawn).chain(called).map(|key| plain(&key));
    keys.filter(|key| key.len() >= SHORTEST_VALUE).collect()
}

/// The key in a parameter of a query.
fn key_of(parameter: &str) -> Option<String> {
    let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
    let name = name.to_ascii_lowercase();
    if TRACKING.contains(&name.as_str()) || name.starts_with("utm_") {
        return None;
    }
    // One alphabet of keys has `+` and `/` in it.
    let whole: String = value.chars().filter(|sign| !"+/.~".contains(*sign)).collect();
    let is_called_so = KEYS.iter().any(|key| name.ends_with(key));
    if is_called_so { Some(value.to_owned()) } else { drawn_in(&whole).next().or_else(|| drawn_in(value).next()) }
}

/// The parts of a text that look drawn, each without words that stand before or behind it. Hyphens and underscores are letters of some.
fn drawn_in(text: &str) -> impl Iterator<Item = String> {
    let pieces = text.split(|sign: char| !sign.is_ascii_alphanumeric() && !"-_".contains(sign));
    pieces.flat_map(|piece| {
        let words = || piece.split(['-', '_']);
        let joined: String = words().collect();
        let drawn: Vec<String> = words().filter(|word| is_drawn_word(word)).map(str::to_owned).collect();
        // Between two words the kind changes in any text.
        let is_whole = drawn.is_empty() && is_drawn(&joined, words().map(changes).sum());
        if is_whole { vec![joined] } else { drawn }
    })
}

fn is_drawn_word(word: &str) -> bool {
    let of_digits: Vec<bool> = word.chars().map(|sign| sign.is_ascii_digit()).collect();
    let many = of_digits.array_windows().filter(|[before, this]| before != this).count() >= CHANGES;
    is_drawn(word, if many { word.len() } else { changes(word) })
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
    use std::collections::BTreeSet;
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
            "https://www.dropbox.com/scl/fi/x/plan.txt?rlkey=ab12cd&dl=0",
            "https://files.example.com/550e8400-e29b-41d4-a716-446655440000",
            "https://ada:secret@example.com/",
            "https://example.com/feed?Token=abcdef",
            "https://example.com?f7Gh2kL9qW3xZ8vB",
            "https://example.com/feed?ical_token=abcdef",
            "https://8f14e45fceea167a5a36dedd4bea2543.home.test/calendar.ics",
            "https://calendar.test/private-8%6614e45fceea167a5%6136dedd4bea2543/basic.ics",
            "https://cloud.example.com/s/g3RkLm8QtW5xZ2b",
            "https://example.com/mfrggzdfmztwq2lknnwg23tpoa",
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
            "https://shop.example.com/tea?key=1&monkey=e",
            "https://ada@dav.example.com/",
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

    // SEC-100
    #[test]
    fn a_key_is_found_wherever_it_was_typed_and_without_what_stands_beside_it() {
        let hex = "8f14e45fceea167a5a36dedd4bea2543";
        for typed in [
            format!("webcal://calendar.test/private-{hex}/basic.ics"),
            format!("Https://calendar.test/private-{hex}/basic.ics,"),
            format!("(calendar.test/private-{hex}/basic.ics)"),
            format!("https://mega.test/folder#{hex}"),
            format!("https://a.test/?u={hex}"),
            format!("the key is {hex}."),
        ] {
            assert_eq!(keys_in(&typed).collect::<BTreeSet<_>>(), [hex.to_owned()].into(), "{typed}");
        }
        let password: Vec<String> = keys_in("https://ada:hunter-22x@a.test/").collect();
        assert_eq!(password, ["hunter22x"]);
        assert_eq!(keys_in("mail ada@example.com about the 24 cats, 1:2, https://a.test/?key=1").count(), 0);
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
