//! Whole addresses in texts, as rights to fetch.

use std::collections::BTreeSet;

/// The addresses that stand in a text with their scheme, as they were written and without what closes a sentence behind
/// them. A bare word with a dot is none: it may be the name of a file.
///
/// ```
/// use limpid_core::policy::written_addresses;
/// assert_eq!(written_addresses("Read https://example.com/a?b=1, not README.md."), ["https://example.com/a?b=1"]);
/// ```
pub fn written_addresses(text: &str) -> Vec<&str> {
    beginning_with(&SCHEMES, text).into_iter().map(|(_, address)| address).collect()
}

/// The addresses in what the owner typed that are rights to fetch beside a stranger's text. Whatever stands right behind one up to the next
/// blank would go to its server with it, so one counts only where it begins as `links_among_private` says and where nothing but the marks
/// that close a sentence stand behind what is surely a part of it.
///
/// ```
/// use limpid_core::policy::rights_to_fetch;
/// assert_eq!(rights_to_fetch("Read (https://example.com/tea?a=1&b=2)."), ["https://example.com/tea?a=1&b=2"]);
/// assert_eq!(rights_to_fetch("Tea,https://example.com/tea,ada,4711").len(), 0);
/// ```
pub fn rights_to_fetch(text: &str) -> Vec<&str> {
    let found = beginning_with(&SCHEMES, text).into_iter();
    let found = found.filter(|(at, _)| text[..*at].chars().next_back().is_none_or(may_open));
    found
        .filter_map(|(_, address)| {
            let part = without_adjacent_text(address)?;
            (address[part.len()..].chars().all(closes) && !has_words_behind(part)).then_some(part)
        })
        .collect()
}

/// The links in a text that a stranger may have written, each once: whole addresses, and what begins with `www.`, which people
/// write without a scheme.
///
/// ```
/// use limpid_core::policy::links_in;
/// assert_eq!(links_in("See www.example.com/tea, or README.md."), ["https://www.example.com/tea"]);
/// ```
pub fn links_in(text: &str) -> Vec<String> {
    links(text, |_, address| Some(address))
}

/// The links in a text that holds something private. Whatever stands right behind one would go to its server with it, so one counts
/// only where it begins as links in sentences, lists and tables do, and ends where something else may begin: a field of a table or of a
/// form, the mark of bold words, a word of a language without blanks. One with a name or a password in it is none.
///
/// ```
/// use limpid_core::policy::links_among_private;
/// assert_eq!(links_among_private("Tea,https://example.com/tea,ada,4711"), ["https://example.com/tea"]);
/// assert_eq!(links_among_private("site=https://example.com/tea&pin=4711").len(), 0);
/// ```
pub fn links_among_private(text: &str) -> Vec<String> {
    links(text, |before, address| without_adjacent_text(address).filter(|_| before.is_none_or(may_open)))
}

fn links<'t>(text: &'t str, part: impl Fn(Option<char>, &'t str) -> Option<&'t str>) -> Vec<String> {
    let mut known = BTreeSet::new();
    let found = beginning_with(&[SCHEMES[0], SCHEMES[1], "www."], text);
    let links = found.into_iter().filter_map(|(at, link)| part(text[..at].chars().next_back(), link));
    let links = links.map(|link| if link.starts_with("www.") { format!("https://{link}") } else { link.to_owned() });
    links.filter(|link| known.insert(link.clone())).collect()
}

/// Whether an address behind this letter ends by what `without_adjacent_text` knows. Behind a mark of bold words or the name of a field, it
/// may end at a mark that may also stand in an address.
fn may_open(letter: char) -> bool {
    letter.is_whitespace() || r#"<>()[]{}"'`|,;:‹›«»“”„‘’（［｛「『【《〈，；：、。"#.contains(letter)
}

/// Whether a letter only closes what was written before it.
fn closes(letter: char) -> bool {
    r#".,;:!?'")]}‹›«»“”„‘’…）］｝」』】》〉，；：、。．！？।"#.contains(letter)
}

/// Whether somebody may have written on behind an address without a blank: brackets right behind a word.
fn has_words_behind(address: &str) -> bool {
    let host = SCHEMES.iter().find_map(|scheme| address.strip_prefix(scheme)).unwrap_or(address);
    let path = host.find(['/', '?', '#']).map_or("", |at| &host[at..]);
    let opens = |(at, letter): (usize, char)| {
        "([{".contains(letter) && path[..at].chars().next_back().is_some_and(char::is_alphanumeric)
    };
    path.char_indices().any(opens)
}

/// Cuts an address where private text may begin; none if its host is ambiguous.
fn without_adjacent_text(address: &str) -> Option<&str> {
    let host = SCHEMES.iter().find_map(|scheme| address.strip_prefix(scheme)).unwrap_or(address);
    let path = address.len() - host.len() + host.find(['/', '?', '#']).unwrap_or(host.len());
    if address[..path].contains(|letter: char| letter == '@' || !letter.is_ascii()) {
        return None;
    }
    let (mut open, mut is_query) = (0_u32, false);
    let mut ends = |(at, letter): (usize, char)| match letter {
        ',' | ';' | '\'' | '*' | '!' | '$' => true,
        '~' | '_' => address[at + 1..].starts_with(letter) || address.ends_with(letter),
        // Of a form that an address is a field of.
        '&' | '=' => !is_query,
        '?' | '#' => {
            is_query = true;
            false
        }
        ':' if at >= path => true,
        // In the number of a host.
        ':' if open > 0 => false,
        ':' => !address[at + 1..].starts_with(|next: char| next == '/' || next.is_ascii_digit()),
        '(' | '[' | '{' => {
            open += 1;
            false
        }
        ')' | ']' | '}' => {
            let is_of_none = open == 0;
            open = open.saturating_sub(1);
            is_of_none
        }
        letter => !letter.is_ascii(),
    };
    let end = address.char_indices().find(|place| ends(*place)).map_or(address.len(), |(at, _)| at);
    Some(whole(&address[..end]))
}

const SCHEMES: [&str; 2] = ["https://", "http://"];

/// The addresses and where they begin. Each letter is looked at once, however many beginnings stand in one address.
fn beginning_with<'t>(beginnings: &[&str], text: &'t str) -> Vec<(usize, &'t str)> {
    let mut places: Vec<usize> =
        beginnings.iter().flat_map(|beginning| text.match_indices(beginning).map(|(at, _)| at)).collect();
    places.sort_unstable();
    let (mut found, mut end) = (Vec::new(), 0);
    for at in places {
        // `xhttps://` is another scheme, and one that lies within another address is a part of that.
        let follows_a_word = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        if !follows_a_word && at >= end {
            let address = whole(&text[at..]);
            end = at + address.len();
            found.push((at, address));
        }
    }
    found
}

/// The address at the beginning of a text: up to what cannot stand in one, without marks that close a sentence or a bracket
/// which was opened before it.
fn whole(text: &str) -> &str {
    let ends = |c: char| {
        c.is_whitespace() || c.is_control() || ends_address(c) || matches!(c, '<' | '>' | '"' | '`' | '|' | '\\' | '^')
    };
    let address = &text[..text.find(ends).unwrap_or(text.len())];
    let mut address = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        let count = |c: char| address.chars().filter(|letter| *letter == c).count();
        if address.ends_with(close) && count(close) > count(open) {
            address =
                address[..address.len() - close.len_utf8()].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
        }
    }
    address
}

/// Whether a letter is left out where a text is shown, so that nobody means it as a part of an address. Joiners and forms of glyphs are
/// parts of words and of emoji.
fn ends_address(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-070 SEC-100
    #[test]
    fn a_letter_without_width_ends_an_address_and_parts_its_beginning() {
        let address = "http://evil.test/q?a=";
        for unseen in ["\u{ad}", "\u{200b}", "\u{200c}", "\u{2060}", "\u{2065}", "\u{feff}", "\u{e0041}", "\0"] {
            for at in 0..=address.len() {
                let (begin, end) = address.split_at(at);
                let text = format!("{begin}{unseen}{end}");
                let links = links_among_private(&format!("{text}{unseen}4711"));
                assert!(!links.iter().any(|link| link.contains("4711")), "{text:?} {links:?}");
            }
        }
        assert_eq!(links_in("http://a.test/x\u{200b}y www\u{2060}.b.test"), ["http://a.test/x"]);
        assert_eq!(written_addresses("http://a.test/x\u{ad}y"), ["http://a.test/x"]);
        assert_eq!(links_in("http://a.test/می\u{200c}خواهم"), ["http://a.test/می\u{200c}خواهم"]);
    }

    // SEC-067
    #[test]
    fn only_whole_addresses_with_a_scheme_count() {
        let table: [(&str, &[&str]); 8] = [
            ("README.md, main.rs, e.g. v1.0 and docs.rs/serde", &[]),
            (
                "see (https://a.test/x) and <http://b.test:8080/y?q=1#z>.",
                &["https://a.test/x", "http://b.test:8080/y?q=1#z"],
            ),
            ("https://a.test/wiki/Tea_(drink)", &["https://a.test/wiki/Tea_(drink)"]),
            ("[tea](https://a.test/t), then", &["https://a.test/t"]),
            ("xhttps://a.test ahttp://b.test", &[]),
            ("'https://a.test/it\u{7}s'", &["https://a.test/it"]),
            ("ftp://a.test HTTP://a.test", &[]),
            ("https://a.test/http://b.test", &["https://a.test/http://b.test"]),
        ];
        for (text, addresses) in table {
            assert_eq!(written_addresses(text), addresses, "{text}");
        }
    }

    // SEC-067
    #[test]
    fn what_is_typed_right_behind_an_address_is_no_part_of_a_right() {
        let rights: [(&str, &[&str]); 10] = [
            ("https://a.test/x?q=1&b=2", &["https://a.test/x?q=1&b=2"]),
            (
                "(https://a.test/x?q=1&b=2), <http://b.test:80/y?q=1#z>.",
                &["https://a.test/x?q=1&b=2", "http://b.test:80/y?q=1#z"],
            ),
            (
                "\"https://a.test/x?q=1&b=2\", 'http://b.test/y?q=1'.",
                &["https://a.test/x?q=1&b=2", "http://b.test/y?q=1"],
            ),
            ("„https://a.test/x“, «http://b.test/y».", &["https://a.test/x", "http://b.test/y"]),
            ("read https://a.test/x?q=1. Then http://b.test/y, please", &["https://a.test/x?q=1", "http://b.test/y"]),
            (
                "https://a.test/wiki/Tea_(drink) [t](http://b.test/~ada/x_y)",
                &["https://a.test/wiki/Tea_(drink)", "http://b.test/~ada/x_y"],
            ),
            (
                "http://a.test/x。 http://b.test/y！ 见：http://c.test/z",
                &["http://a.test/x", "http://b.test/y", "http://c.test/z"],
            ),
            ("（http://a.test/x） 「http://b.test/y」。", &["http://a.test/x", "http://b.test/y"]),
            ("http://a.test/x...", &["http://a.test/x"]),
            ("http://[::1]:80/x http://a.test", &["http://[::1]:80/x", "http://a.test"]),
        ];
        for (text, addresses) in rights {
            assert_eq!(rights_to_fetch(text), addresses, "{text}");
        }
        let mixed = [
            "http://a.test/xは後で読みます。暗証番号は4711です。",
            "http://a.test/x这个链接以后再看。密码是4711",
            "http://a.test/xไว้อ่านทีหลังรหัสประตูคือ4711",
            "http://a.test/x。密码是4711",
            "http://a.test密码是4711",
            "（http://a.test/x）暗証番号は4711です。",
            "tea,http://a.test/x,ada,4711",
            "site=http://a.test/x&pin=4711",
            "site=http://a.test/x?q=1&pin=4711",
            "(http://a.test/x&pin=4711)",
            "(http://a.test/x)4711",
            "http://a.test/x(4711) http://a.test/x[4711] http://a.test/x{4711}",
            "http://a.test/x;ada http://a.test/x'ada http://a.test/x!4711 http://a.test/x$4711 http://a.test/x:4711",
            "**http://a.test/x**4711 http://a.test/x**4711** http://ada:4711@a.test",
        ];
        for text in mixed {
            assert_eq!(rights_to_fetch(text).len(), 0, "{text}");
        }
    }

    // SEC-093
    #[test]
    fn addresses_in_a_row_are_one_and_are_gone_through_once() {
        for row in ["http://a.b,", "http://", "www.a,", "https://("] {
            let text = row.repeat(400_000);
            assert_eq!((written_addresses(&text).len() <= 1, links_in(&text).len()), (true, 1), "{row}");
        }
    }

    // SEC-070
    #[test]
    fn a_link_has_a_scheme_or_begins_with_www_and_counts_once() {
        let table: [(&str, &[&str]); 4] = [
            ("(website: www.a.test).", &["https://www.a.test"]),
            ("https://www.a.test/x www.a.test/x HTTPS", &["https://www.a.test/x"]),
            ("www.b.test then http://a.test", &["https://www.b.test", "http://a.test"]),
            ("a.test, awww.a.test, README.md", &[]),
        ];
        for (text, links) in table {
            assert_eq!(links_in(text), links, "{text}");
        }
    }

    // SEC-070 SEC-100
    #[test]
    fn what_stands_right_behind_a_link_is_no_part_of_it_among_private_words() {
        let table: [(&str, &[&str]); 10] = [
            ("(website: www.a.test). https://www.a.test", &["https://www.a.test"]),
            (
                "https://a.test:8080/t?q=1#z:ada:4711 http://a.test:ada",
                &["https://a.test:8080/t?q=1#z", "http://a.test"],
            ),
            (
                "http://a.test/t;ada http://b.test,ada 'http://c.test'ada",
                &["http://a.test/t", "http://b.test", "http://c.test"],
            ),
            ("http://a.test/t密码4711 http://b.test密码 www.c.test。密码", &["http://a.test/t"]),
            ("[t](http://a.test/t_(x))4711 http://[::1]:80/{x}]4711", &["http://a.test/t_(x)", "http://[::1]:80/{x}"]),
            ("https://key:x@a.test http://ada:4711,x@b.test/t http://@c.test", &[]),
            ("http://ada,x@a.test:80 http://4711;x:y@b.test mail@c.test", &[]),
            (
                "site=http://a.test/s&name=Ada url=http://b.test/t?x=1&pin=4711 **http://c.test/v**4711 _http://d.test/_x",
                &[],
            ),
            (
                "(http://a.test/s&name=Ada) http://b.test/v**4711** http://c.test/~~no~~ http://d.test/u_by_ada_",
                &["http://a.test/s", "http://b.test/v", "http://c.test/", "http://d.test/u"],
            ),
            (
                "http://a.test/~ada/x_y?a=1&b=2 \u{201e}http://b.test/a\u{201c}",
                &["http://a.test/~ada/x_y?a=1&b=2", "http://b.test/a"],
            ),
        ];
        for (text, links) in table {
            assert_eq!(links_among_private(text), links, "{text}");
        }
    }
}
