//! Secret links: whoever has such an address can read what is there, as with a calendar that is shared by its link. The part of it that
//! nobody can guess is called its key.
//!
//! The standard term is capability URL, the W3C's ("Good Practices for Capability URLs").

mod random;

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use self::random::{is_mixed, random_parts_of};

/// What parameters are called whose value is a key, also behind other words: `access_token`, `resourceKey`.
const KEYS: [&str; 14] = [
    "apikey",
    "auth",
    "authkey",
    "key",
    "pass",
    "passwd",
    "password",
    "pwd",
    "resourcekey",
    "rlkey",
    "secret",
    "sig",
    "signature",
    "token",
];

/// Those of them whose value may be words.
const PASSWORDS: [&str; 4] = ["pass", "passwd", "password", "pwd"];

/// Parameters by which advertisers know who came from where. They open nothing.
const TRACKING: [&str; 18] = [
    "_ga",
    "_gl",
    "dclid",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "igsh",
    "igshid",
    "mc_eid",
    "mibextid",
    "msclkid",
    "si",
    "srsltid",
    "ttclid",
    "twclid",
    "wbraid",
    "yclid",
];

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

/// The keys in the addresses of a text, with a scheme of any kind or without, also behind their `#`: letters and digits alone, all small.
pub fn keys_in(text: &str) -> impl Iterator<Item = String> {
    let addresses = text.split_whitespace().filter(|word| word.contains('/'));
    addresses.flat_map(keys_of).filter(|key| key.len() >= SHORTEST_VALUE)
}

/// A text without anything but its letters and digits, all small, as keys are looked for in it.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A text without its encoding.
fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// The parts of an address that are keys, as it is written and without its encoding: a server takes both for the same.
fn keys_of(address: &str) -> Vec<String> {
    let rest = address.split_once("://").map(|(_, rest)| rest);
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let password = authority.and_then(|authority| authority.rsplit_once('@')?.0.split_once(':'));
    let password = password.map(|(_, password)| decoded(password).into_owned());
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let drawn =
        [Cow::Borrowed(path), decoded(path)].into_iter().flat_map(|path| random_parts_of(&path).collect::<Vec<_>>());
    let within = parameters_in(path).into_iter().chain(parameters_in(&decoded(path)));
    let parameters = parameters_of(query).map(str::to_owned).chain(within);
    let called = parameters.flat_map(|parameter| key_of(&parameter).into_iter().chain(key_of(&decoded(&parameter))));
    let keys = password.into_iter().chain(drawn).chain(called).map(|key| plain(&key));
    keys.filter(|key| !key.is_empty()).collect()
}

/// The parameters of a query. Some servers part them by semicolons, for others these are a part of a value.
fn parameters_of(query: &str) -> impl Iterator<Item = &str> {
    query.split(['&', '#']).flat_map(|whole| {
        let parts = whole.split(';').filter(move |part| part.len() < whole.len());
        std::iter::once(whole).chain(parts)
    })
}

/// The parameters within a path, each behind a semicolon.
fn parameters_in(path: &str) -> Vec<String> {
    path.split(['/', '#']).flat_map(|step| step.split(';').skip(1)).map(str::to_owned).collect()
}

/// The key in a parameter.
fn key_of(parameter: &str) -> Option<String> {
    let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
    let small = name.to_ascii_lowercase();
    if TRACKING.contains(&small.as_str()) || small.starts_with("utm_") {
        return None;
    }
    let is_called = |keys: &[&str]| keys.iter().any(|key| ends_with_word(name, &small, key));
    let is_key = plain(value).len() >= SHORTEST_VALUE && (is_called(&PASSWORDS) || is_mixed(value) && is_called(&KEYS));
    // One alphabet of keys has `+` and `/` in it.
    let joined: String = value.chars().filter(|sign| !"+/.~".contains(*sign)).collect();
    if is_key {
        Some(value.to_owned())
    } else {
        random_parts_of(&joined).next().or_else(|| random_parts_of(value).next())
    }
}

/// Whether a name ends with a word: `accessToken` and `access_token` do, `monkey` does not.
fn ends_with_word(name: &str, small: &str, word: &str) -> bool {
    let Some(before) = small.strip_suffix(word) else { return false };
    let begins_large = name.as_bytes().get(before.len()).is_some_and(u8::is_ascii_uppercase);
    !before.ends_with(|letter: char| letter.is_ascii_alphabetic()) || begins_large
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
            "https://www.dropbox.com/scl/fi/x/plan.txt?rlkey=ab12cd34&dl=0",
            "https://files.example.com/550e8400-e29b-41d4-a716-446655440000",
            "https://www.example.com/family-calendar-of-ada-550e8400-e29b-41d4-a716-446655440000",
            "https://ada:1234@dav.example.com/",
            "https://drive.example.com/file/d/1aB-9xK2_mQ7-vT4sZ/view",
            "https://ada:secret@example.com/",
            "https://example.com/feed?Token=abcde7",
            "https://example.com?f7Gh2kL9qW3xZ8vB",
            "https://example.com/feed?ical_token=abcde7",
            "https://8f14e45fceea167a5a36dedd4bea2543.home.test/calendar.ics",
            "https://calendar.test/private-8%6614e45fceea167a5%6136dedd4bea2543/basic.ics",
            "https://cloud.example.com/s/g3RkLm8QtW5xZ2b",
            "https://example.com/mfrggzdfmztwq2lknnwg23tpoa",
            "https://share.example.com/s/3f9a-77c2-b10e-4d5a-9c66-12ef-a0b1-77dd",
            "https://share.example.com/s/shared-3f9a77c2b10e-4d5a9c6612ef",
            "https://share.example.com/s/k7q4m-9xz2p-lm3rt-8wq5v",
            "https://share.example.com/s/K7Q4M-9XZ2P-LM3RT-8WQ5V",
            "https://share.example.com/s/plans-k7q4_9xz2_lm3r_8wq5",
            "https://example.com/feed;token=abcde7",
            "https://example.com/feed;v=1;token=abcde7/basic.ics?a=1",
            "https://example.com/feed%3Btoken=abcde7",
            "https://example.com/feed?v=1;token=abcde7",
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
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ&si=f7Gh2kL9qW3xZ8vB",
            "https://shop.example.com/ps5-slim-1tb-cfi2000a?sort_key=created_at&srsltid=AfmBOoq1x2c3v4b5n6m7",
            "https://news.example.com/The-24-Best-Phones-Of-2026-From-A15-To-S24-Ultra",
            "https://news.example.com/2026-11-29/top-10-things-2026",
            "https://news.example.com/2026-11-29-2026-11-30-2026-12-01-2026-12-02",
            "https://docs.example.com/tool-v1-20-3-rc2-to-v1-21-0-rc1",
            "https://docs.example.com/part1-part2-part3-part4-part5",
            "https://shop.example.com/16gb-32gb-64gb-96gb",
            "https://shop.example.com/1080p-1440p-2160p-4320p",
            "https://shop.example.com/tea;page=2;color=green?sort=price;order=asc",
            "https://news.example.com/7800x3d-vs-i9-14900ks?monkey=bananas22&keyword=tea4two",
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
        ] {
            assert_eq!(keys_in(&typed).collect::<BTreeSet<_>>(), [hex.to_owned()].into(), "{typed}");
        }
        let password: Vec<String> = keys_in("https://ada:hunter-22x@a.test/").collect();
        assert_eq!(password, ["hunter22x"]);
        let groups: BTreeSet<String> = keys_in("https://a.test/share-k7q4m-9xz2p-lm3rt-8wq5v-of-ada").collect();
        assert_eq!(groups, ["k7q4m9xz2plm3rt8wq5v".to_owned()].into());
        assert_eq!(keys_in(&format!("what did commit {hex} change, and who is DE89370400440532013000?")).count(), 0);
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
        fn one_of_sixty_letters_is_a_key_nearly_always(number in any::<u64>()) {
            let signs: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
            let key = |from: u64| -> String {
                let draws = (0..22).map(|at| drawn(from.wrapping_add(at)) % signs.len() as u128);
                draws.map(|at| signs[usize::try_from(at).unwrap()]).collect()
            };
            let keys = (0..64).map(|at| key(number.wrapping_add(at * 22)));
            let missed = keys.filter(|key| !is_capability_url(&format!("https://a.test/{key}"))).count();
            prop_assert!(missed <= 12, "{missed} of 64");
        }

        // SEC-100
        #[test]
        fn one_in_groups_is_a_key_nearly_always(number in any::<u64>(), before in "[g-z]{1,9}") {
            let grouped = |key: &str, length: usize| {
                let signs: Vec<char> = key.chars().collect();
                signs.chunks(length).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
            };
            let missed = |length: usize| {
                let keys = (0..64).map(|at| grouped(&format!("{:032x}", drawn(number.wrapping_add(at))), length));
                keys.filter(|key| !is_capability_url(&format!("https://a.test/{before}-{key}"))).count()
            };
            for length in [4, 8] {
                prop_assert!(missed(length) <= 6, "{} of 64", missed(length));
            }
        }

        // SEC-100
        #[test]
        fn an_address_of_words_and_years_is_none(words in "[A-Za-z][a-z]{0,9}([-_/]([A-Za-z][a-z]{0,9}|[a-z][0-9]{1,3}|[0-9]{1,4})){0,12}") {
            let address = format!("https://a.test/{words}");
            prop_assert!(!is_capability_url(&address), "{address}");
        }
    }
}
