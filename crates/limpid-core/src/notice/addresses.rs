//! A line without addresses: the host alone in the place of each, so written that nothing makes a link of it.

use super::start;

/// A line with the host alone in the place of each address, and a dot in brackets in each host's name: `evil[.]example (link)`. A
/// messenger that is told of something may ask for an address at once, to show what stands there, and with it goes what the address
/// says; so it may for a name that could be a host's, and look that up. An address is a word with `://` or `www.` in it, or with `http:`
/// or `https:`, and a word with a host's name before a path, a query or a port: messengers make links of these without a scheme. Signs of
/// full width count as what they stand for.
///
/// ```
/// let line = limpid_core::notice::without_addresses("It waits (https://ada@evil.example:8080/p?x=4711).");
/// assert_eq!(line, "It waits (evil[.]example (link)).");
/// assert_eq!(limpid_core::notice::without_addresses("4711.evil.example, at 10.30"), "4711[.]evil[.]example, at 10.30");
/// ```
pub fn without_addresses(line: &str) -> String {
    let words = line.split(' ').map(start).map(|word| broken(&linked(word).unwrap_or_else(|| word.to_owned())));
    words.collect::<Vec<_>>().join(" ")
}

/// A text with brackets around the dots of names that could be a host's: those with a part of letters behind the first, as the name of a country is.
/// The name of a mailbox stays whole: what is asked there is no web server.
fn broken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = is_of_name(first) || is_dot(first);
        let end = rest.find(|letter| (is_of_name(letter) || is_dot(letter)) != is_name).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        let is_mailbox = out.strip_suffix('@').is_some_and(|before| before.ends_with(is_of_name));
        if is_name && !is_mailbox && could_be_host(piece) {
            let (begin, name) = piece.split_at(piece.len() - piece.trim_start_matches(is_dot).len());
            let (name, closing) = name.split_at(name.trim_end_matches(is_dot).len());
            out.push_str(begin);
            out.push_str(&name.split(is_dot).filter(|label| !label.is_empty()).collect::<Vec<_>>().join("[.]"));
            out.push_str(closing);
        } else {
            out.push_str(piece);
        }
        rest = behind;
    }
    out
}

/// Whether a letter parts the name of a host. The full stop of Chinese ends sentences, so a name with it is left as it is.
fn is_dot(letter: char) -> bool {
    matches!(letter, '.' | '\u{FF0E}' | '\u{2024}' | '\u{FE52}')
}

/// Whether a part of a name could be the name of a country or the like, whatever sign follows it.
fn could_be_host(name: &str) -> bool {
    let labels: Vec<&str> = name.split(is_dot).filter(|label| !label.is_empty()).collect();
    let is_letters = |label: &&&str| label.chars().take(2).filter(|letter| letter.is_alphabetic()).count() == 2;
    labels.iter().skip(1).any(|label| is_letters(&label))
}

/// What begins an address; the host stands behind it.
const BEGINNINGS: [&str; 4] = ["://", "http:", "https:", "www."];

/// Signs that end a host's name in an address.
const ENDS: [char; 5] = ['/', '\\', '?', '#', ':'];

/// A word that has an address in it, with its host alone and the signs around it.
fn linked(word: &str) -> Option<String> {
    let small: String = word.to_lowercase().chars().filter_map(as_typed).collect();
    let ends = BEGINNINGS.iter().filter_map(|beginning| Some(small.find(beginning)? + beginning.len()));
    let host = match ends.min() {
        Some(end) => host_behind(&small[end..]),
        None => bare_host(&small)?,
    };
    let before: String = word.chars().take_while(|sign| "([{<\"'".contains(*sign)).collect();
    let behind: String = word.chars().rev().take_while(|sign| ")]}>\"'.,;:!?".contains(*sign)).collect();
    let behind: String = behind.chars().rev().collect();
    let host = host.trim_matches('.');
    Some(format!("{before}{host}{}(link){behind}", if host.is_empty() { "" } else { " " }))
}

/// The host of an address from which its scheme is taken.
fn host_behind(rest: &str) -> String {
    let rest = rest.trim_start_matches(['/', '\\', ':']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let mut host: String = host.chars().take_while(|letter| is_of_name(*letter)).collect();
    while host.contains("www.") {
        host = host.replace("www.", "");
    }
    host
}

/// The host in a word without a scheme; none where nothing more is said behind a name with a dot. What stands before an `@` is no host.
fn bare_host(word: &str) -> Option<String> {
    let mut rest = word;
    loop {
        rest = rest.trim_start_matches(|letter| !is_of_name(letter));
        let end = rest.find(|letter| !is_of_name(letter))?;
        let (name, behind) = rest.split_at(end);
        let (authority, path) = behind.split_at(behind.find(ENDS).unwrap_or(behind.len()));
        let more = path.contains(|letter| !ENDS.contains(&letter) && is_of_name(letter));
        if is_host(name) && more && !authority.contains('@') {
            return Some(name.to_owned());
        }
        rest = behind;
    }
}

/// Whether a name has a dot with something on both sides, and is no number or date.
fn is_host(name: &str) -> bool {
    let labels: Vec<&str> = name.split('.').filter(|label| !label.is_empty()).collect();
    let is_number = labels.iter().all(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    labels.len() > 1 && (!is_number || labels.len() == 4)
}

/// Whether a host's name may have a letter. Signs that are no letters are names of hosts in some places; punctuation is not.
fn is_of_name(letter: char) -> bool {
    let is_foreign =
        !letter.is_ascii() && !matches!(letter, '\u{2000}'..='\u{206F}' | '\u{3000}'..='\u{3004}' | '«' | '»');
    letter.is_alphanumeric() || matches!(letter, '-' | '.' | '_') || is_foreign
}

/// A letter as an address has it, for one of full width or one that looks like a sign of an address. None for what is not seen.
fn as_typed(letter: char) -> Option<char> {
    match letter {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(letter) - 0xFEE0),
        '\u{3002}' | '\u{FF61}' | '\u{2024}' | '\u{FE52}' => Some('.'),
        '\u{2044}' | '\u{2215}' | '\u{29F8}' => Some('/'),
        '\u{2236}' | '\u{A789}' | '\u{FE55}' | '\u{FE13}' => Some(':'),
        '\u{FE56}' => Some('?'),
        '\u{FE5F}' => Some('#'),
        '\u{FE68}' | '\u{2216}' | '\u{29F5}' => Some('\\'),
        '\u{FE6B}' => Some('@'),
        '\u{AD}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' => None,
        _ => Some(letter),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::notice::of;
    use crate::{Labelled, Trust};

    // SEC-005
    #[test]
    fn an_address_of_a_strangers_is_its_host_alone() {
        let cases = [
            ("Your parcel waits: http://evil.example/p/4711", "Your parcel waits: evil[.]example (link)"),
            ("HTTPS://4711@Evil.example:81?x=4711#4711, now", "evil[.]example (link), now"),
            ("\"www.evil.example/4711\"!", "\"evil[.]example (link)\"!"),
            ("http:evil.example/4711 http:\\\\evil.example\\4711", "evil[.]example (link) evil[.]example (link)"),
            ("ftp://evil.example/4711 tg://x?4711", "evil[.]example (link) x (link)"),
            ("a=http://a.example/?u=http://b.example/4711", "a[.]example (link)"),
            ("http:// http://[::1]/4711 wwww.", "(link) (link) (link)."),
            ("evil.example/p/4711 evil.example/?x=4711,", "evil[.]example (link) evil[.]example (link),"),
            (
                "(evil.example:81) Evil.example#4711. 4711:evil.example?4711",
                "(evil[.]example (link)) evil[.]example (link). evil[.]example (link)",
            ),
            ("a.b@evil.example/4711 evil。example／4711", "evil[.]example (link) evil[.]example (link)"),
            ("HTTP：//evil.example/4711 evil.\u{200b}example/4711", "evil[.]example (link) evil[.]example (link)"),
            (
                "💩.example/4711 1.2.3.4/4711 x,y.example,z/4711",
                "💩[.]example (link) 1.2.3.4 (link) y[.]example (link)",
            ),
            ("At 10:30, a/b, ada@example.com: 1:2", "At 10:30, a/b, ada@example.com: 1:2"),
            (
                "3.5/10 on 28.11.2026/10:30, notes/plan.md: evil.example. (a.b)?",
                "3.5/10 on 28.11.2026/10:30, notes/plan[.]md: evil[.]example. (a.b)?",
            ),
            ("4711.evil.example, 4711．evil．example", "4711[.]evil[.]example, 4711[.]evil[.]example"),
            ("xn--e1.xn--p1ai .evil..example. ada@evil.example", "xn--e1[.]xn--p1ai .evil[.]example. ada@evil.example"),
            (
                "p4711.evil.example，「4711.evil.example」 4711.evil.example💩",
                "p4711[.]evil[.]example，「4711[.]evil[.]example」 4711[.]evil[.]example💩",
            ),
            ("@4711.evil.example", "@4711[.]evil[.]example"),
            ("a。a.http@：http a。a[.]http@：http", "a。a[.]http@：http a。a[.]http@：http"),
            ("At 3.5 or 10.30 p.m., e.g. 你好。再见", "At 3.5 or 10.30 p.m., e.g. 你好。再见"),
        ];
        for (line, expected) in cases {
            assert_eq!(without_addresses(line), expected);
        }
        let said = |trust| {
            of(
                Labelled::new("http://t.example/1".to_owned(), trust),
                &Labelled::new("**See** http\\://a.example/1".to_owned(), trust),
            )
        };
        assert_eq!(said(Trust::Outside), Some(("t[.]example (link)".to_owned(), "See a[.]example (link)".to_owned())));
        assert_eq!(said(Trust::Owner), Some(("http://t.example/1".to_owned(), "See http://a.example/1".to_owned())));
    }

    // SEC-093
    #[test]
    fn a_word_without_end_is_looked_at_in_part() {
        for one in ["a.", ":", "a.b/", "/"] {
            assert!(without_addresses(&one.repeat(200_000)).len() < 10_000, "{one}");
        }
    }

    proptest! {
        // SEC-005
        #[test]
        fn no_line_of_a_strangers_keeps_an_address(
            parts in prop::collection::vec(prop::sample::select(
                &["http", "s", ":", "/", "//", "www", ".", "a", "4711", "@", " ", "(", "?", "\\", "W", "é", "w", "：", "／", "。", "#"][..]), 0..24),
        ) {
            let line = without_addresses(&parts.concat()).to_lowercase();
            for beginning in BEGINNINGS {
                prop_assert!(!line.contains(beginning), "{line}");
            }
            prop_assert_eq!(without_addresses(&line), line);
        }
    }
}
