//! The body of a notification: a reply without its markup, short enough for the screen of a phone.

use std::collections::HashMap;

use crate::Labelled;

/// Characters of a body, with the sign that something follows.
pub const BODY_CHARS: usize = 240;

/// The sign that something follows.
const MORE: char = '…';

/// Bytes of a line, of a word, and of all lines together, that are looked at: far more than a body holds.
const LOOKED_AT: usize = 4096;

/// Blocks of code under this name are the screen's, not the reader's.
const SCREEN: &str = "kai-ui";

/// The body of a notification about a text: without markup and user-interface blocks, cut between words. None when
/// nothing is left to read.
///
/// ```
/// let body = limpid_core::notice::body("## Mail\n**Eve** wrote: [the plan](https://example.com).");
/// assert_eq!(body.as_deref(), Some("Mail Eve wrote: the plan."));
/// ```
pub fn body(text: &str) -> Option<String> {
    told(&plain(text))
}

/// The body and the title of a notification, by who wrote them: what is foreign has no address in it ([`without_addresses`]).
pub fn of(title: Labelled<String>, text: &Labelled<String>) -> Option<(String, String)> {
    let plain = plain(text.value());
    let body = told(&if text.trust().is_foreign() { without_addresses(&plain) } else { plain })?;
    let (title, trust) = title.into_parts();
    Some((if trust.is_foreign() { without_addresses(&title) } else { title }, body))
}

fn told(plain: &str) -> Option<String> {
    (!plain.is_empty()).then(|| cut(plain))
}

/// A line with the host alone in the place of each address: `evil.example (link)`. A messenger that is told of something may ask for the
/// address at once, to show what stands there, and with it goes what the address says. An address is a word with `://` or `www.` in it,
/// or with `http:` or `https:`, and a word with a host's name before a path, a query or a port: messengers make links of these without a
/// scheme. Signs of full width count as what they stand for. The name of a host by itself stays, though some messengers make a link of
/// that as well.
///
/// ```
/// let line = limpid_core::notice::without_addresses("It waits (https://ada@evil.example:8080/p?x=4711).");
/// assert_eq!(line, "It waits (evil.example (link)).");
/// assert_eq!(limpid_core::notice::without_addresses("evil.example/p/4711"), "evil.example (link)");
/// ```
pub fn without_addresses(line: &str) -> String {
    let words = line.split(' ').map(start).map(|word| linked(word).unwrap_or_else(|| word.to_owned()));
    words.collect::<Vec<_>>().join(" ")
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

/// The host in a word without a scheme; none where nothing more is said behind a name with a dot.
fn bare_host(word: &str) -> Option<String> {
    let mut rest = word;
    loop {
        rest = rest.trim_start_matches(|letter| !is_of_name(letter));
        let end = rest.find(|letter| !is_of_name(letter))?;
        let (name, behind) = rest.split_at(end);
        let more = behind
            .find(ENDS)
            .is_some_and(|at| behind[at..].contains(|letter| !ENDS.contains(&letter) && is_of_name(letter)));
        if is_host(name) && more && !behind.starts_with('@') {
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

/// The text on one line without markup.
fn plain(text: &str) -> String {
    let mut words = String::new();
    let mut fence: Option<(String, bool)> = None;
    for line in text.lines().map(start) {
        let marks = fence_of(line);
        match (&fence, marks) {
            (Some((open, _)), Some((marks, ""))) if marks.starts_with(open.as_str()) => fence = None,
            (None, Some((marks, name))) => fence = Some((marks.to_owned(), is_screen(name))),
            (Some((_, screen)), _) => add(&mut words, if *screen { "" } else { line }),
            (None, None) => add(&mut words, &inline(unprefixed(line))),
        }
        if words.len() > LOOKED_AT {
            break;
        }
    }
    words
}

/// As much of a text as is looked at.
fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

/// The marks that open or close a block of code, and the name behind them.
fn fence_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let marks = &line[..line.len() - rest.len()];
    (marks.len() >= 3 && !rest.contains('`')).then(|| (marks, rest.trim()))
}

fn is_screen(name: &str) -> bool {
    name.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case(SCREEN))
}

/// Adds a line, every stretch of white space one space.
fn add(words: &mut String, line: &str) {
    for word in line.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
}

/// A line without what makes it a heading, a quote, an entry of a list, a rule or the border of a table.
fn unprefixed(line: &str) -> &str {
    let mut line = line.trim();
    if line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | '|' | ':' | ' ')) {
        return "";
    }
    loop {
        let heading = line.trim_start_matches('#');
        let rest = [
            line.strip_prefix('>'),
            Some(heading).filter(|rest| rest.len() < line.len() && (rest.is_empty() || rest.starts_with(' '))),
        ];
        let entries = ["- ", "* ", "+ ", "[ ] ", "[x] "].map(|entry| line.strip_prefix(entry));
        match rest.into_iter().chain(entries).flatten().next() {
            Some(rest) => line = rest.trim_start(),
            None => return line,
        }
    }
}

/// A line without marks of emphasis and code; of a link or picture its text stays.
fn inline(line: &str) -> String {
    let brackets = Brackets::of(line);
    let mut out = String::with_capacity(line.len());
    // The links around this place: a stranger may nest any number of them.
    let mut around: Vec<Link> = Vec::new();
    let mut at = 0;
    loop {
        let (limit, begun) = around.last().map_or((line.len(), 0), |link| (link.end, link.begun));
        let rest = &line[at..limit];
        let Some(c) = rest.chars().next() else {
            let Some(link) = around.pop() else { return out };
            at = link.behind;
            continue;
        };
        let after = &rest[c.len_utf8()..];
        at += c.len_utf8();
        match c {
            '\\' if after.starts_with(|next: char| next.is_ascii_punctuation()) => {
                out.push_str(&after[..1]);
                at += 1;
            }
            '!' if brackets.link(at, limit, 0).is_some() => {}
            '[' => match brackets.link(at - 1, limit, out.len()) {
                Some(link) => around.push(link),
                None => out.push(c),
            },
            '`' => {}
            '|' => out.push(' '),
            '*' | '_' | '~' => {
                let behind = rest.trim_start_matches(c);
                let marks = &rest[..rest.len() - behind.len()];
                if !is_mark(c, marks.len(), out[begun..].chars().next_back(), behind.chars().next()) {
                    out.push_str(marks);
                }
                at += marks.len() - 1;
            }
            _ => out.push(c),
        }
    }
}

/// Whether a run of `*`, `_` or `~` marks emphasis: it touches a word, and `_` stands at its edge.
fn is_mark(mark: char, length: usize, before: Option<char>, behind: Option<char>) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
    let touches = is_word(before) || is_word(behind);
    let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    match mark {
        '*' => touches,
        '~' => touches && length == 2,
        _ => touches && !(inside(before) && inside(behind)),
    }
}

/// A link whose text is gone through.
struct Link {
    /// Where its text ends in the line.
    end: usize,
    /// Where what follows the link begins.
    behind: usize,
    /// How much was written before its text.
    begun: usize,
}

/// Where each bracket of a line is closed, for square and for round ones.
struct Brackets {
    square: HashMap<usize, usize>,
    round: HashMap<usize, usize>,
}

impl Brackets {
    fn of(line: &str) -> Self {
        let pairs = |open: char, close: char| {
            let (mut opened, mut pairs) = (Vec::new(), HashMap::new());
            for (at, c) in line.char_indices() {
                if c == open {
                    opened.push(at);
                } else if c == close
                    && let Some(open) = opened.pop()
                {
                    pairs.insert(open, at);
                }
            }
            pairs
        };
        Self { square: pairs('[', ']'), round: pairs('(', ')') }
    }

    /// The link that begins with the bracket at this place and ends before `limit`.
    fn link(&self, at: usize, limit: usize, begun: usize) -> Option<Link> {
        let end = *self.square.get(&at)?;
        let close = *self.round.get(&(end + 1)).filter(|close| **close < limit)?;
        Some(Link { end, behind: close + 1, begun })
    }
}

/// At most [`BODY_CHARS`] characters, cut between words; a first word that is longer is cut hard.
fn cut(text: &str) -> String {
    if text.chars().count() <= BODY_CHARS {
        return text.to_owned();
    }
    let head: String = text.chars().take(BODY_CHARS - 1).collect();
    let ends_a_word = text[head.len()..].starts_with(' ');
    let whole = if ends_a_word { Some(head.as_str()) } else { head.rsplit_once(' ').map(|(words, _)| words) };
    let mut body = whole.unwrap_or(&head).to_owned();
    body.push(MORE);
    body
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Trust;

    // KAI-069
    #[test]
    fn markup_goes_and_words_stay() {
        let cases = [
            ("## Mail\n\n> **Eve** wrote *twice*", "Mail Eve wrote twice"),
            ("- [x] done\n* next\n+ last\n1. first", "done next last 1. first"),
            ("![a plan](x.png) and [the [old] one](https://e.org/a_(b)), see [1]", "a plan and the [old] one, see [1]"),
            ("`cargo test` in `snake_case_name`, __bold__, ~~gone~~", "cargo test in snake_case_name, bold, gone"),
            ("2 * 3 ~ 6, a_b_c, \\*not\\*", "2 * 3 ~ 6, a_b_c, *not*"),
            ("| a | b |\n|---|:-:|\n| 1 | 2 |\n---", "a b 1 2"),
            ("Before\n```kai-ui\n{\"a\": 1}\n```\nafter\n```rust\nlet a = *b;\n```", "Before after let a = *b;"),
            ("~~~kai-ui\n{}\n```\n~~~~\nend", "end"),
            ("#hashtag stays, #1 too", "#hashtag stays, #1 too"),
        ];
        for (text, expected) in cases {
            assert_eq!(body(text).as_deref(), Some(expected), "{text}");
        }
    }

    // SEC-042
    #[test]
    fn links_in_links_without_end_are_one_line() {
        let nested = |levels: usize| format!("{}word{}", "[".repeat(levels), "](x)".repeat(levels));
        assert_eq!(body(&nested(500)).as_deref(), Some("word"));
        // Where a line is too long for that, what is left of it is a body like any other.
        assert_eq!(body(&nested(100_000)).map(|body| body.chars().count()), Some(BODY_CHARS));
        assert_eq!(body("a[_b_](x) [c\\](y) ![d [e](f)](g) [h](i").as_deref(), Some("ab c\\ d e [h](i"));
    }

    // KAI-069
    #[test]
    fn nothing_to_read_is_no_notification() {
        for text in ["", " \n\t", "***", "```kai-ui\n{}", "```kai-ui\n{}\n```\n---", "> \n#  "] {
            assert_eq!(body(text), None, "{text:?}");
        }
    }

    // KAI-069
    #[test]
    fn a_long_text_is_cut_between_words() {
        let words = "abcd ".repeat(60);
        let cut = body(&words).unwrap();
        assert_eq!(cut, format!("{}…", "abcd ".repeat(47) + "abcd"));
        assert_eq!(cut.chars().count(), 240);
        assert_eq!(body(&"x".repeat(240)).unwrap(), "x".repeat(240));
        assert_eq!(body(&"ä".repeat(241)).unwrap(), format!("{}…", "ä".repeat(239)), "a long first word is cut hard");
        assert_eq!(body(&format!("a {}", "b".repeat(300))).unwrap(), "a…");
    }

    // SEC-005
    #[test]
    fn an_address_of_a_strangers_is_its_host_alone() {
        let cases = [
            ("Your parcel waits: http://evil.example/p/4711", "Your parcel waits: evil.example (link)"),
            ("HTTPS://4711@Evil.example:81?x=4711#4711, now", "evil.example (link), now"),
            ("\"www.evil.example/4711\"!", "\"evil.example (link)\"!"),
            ("http:evil.example/4711 http:\\\\evil.example\\4711", "evil.example (link) evil.example (link)"),
            ("ftp://evil.example/4711 tg://x?4711", "evil.example (link) x (link)"),
            ("a=http://a.example/?u=http://b.example/4711", "a.example (link)"),
            ("http:// http://[::1]/4711 wwww.", "(link) (link) (link)."),
            ("evil.example/p/4711 evil.example/?x=4711,", "evil.example (link) evil.example (link),"),
            (
                "(evil.example:81) Evil.example#4711. 4711:evil.example?4711",
                "(evil.example (link)) evil.example (link). evil.example (link)",
            ),
            ("a.b@evil.example/4711 evil。example／4711", "evil.example (link) evil.example (link)"),
            ("HTTP：//evil.example/4711 evil.\u{200b}example/4711", "evil.example (link) evil.example (link)"),
            ("💩.example/4711 1.2.3.4/4711 x,y.example,z/4711", "💩.example (link) 1.2.3.4 (link) y.example (link)"),
            ("At 10:30, a/b, ada@example.com: 1:2", "At 10:30, a/b, ada@example.com: 1:2"),
            (
                "3.5/10 on 28.11.2026/10:30, notes/plan.md: evil.example. (a.b)?",
                "3.5/10 on 28.11.2026/10:30, notes/plan.md: evil.example. (a.b)?",
            ),
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
        assert_eq!(said(Trust::Outside), Some(("t.example (link)".to_owned(), "See a.example (link)".to_owned())));
        assert_eq!(said(Trust::Owner), Some(("http://t.example/1".to_owned(), "See http://a.example/1".to_owned())));
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

        // KAI-069
        #[test]
        fn no_text_makes_a_body_too_long(text in prop::collection::vec(any::<char>(), 0..600)) {
            let text = String::from_iter(text);
            if let Some(body) = body(&text) {
                prop_assert!(!body.trim().is_empty() && body.chars().count() <= BODY_CHARS);
                prop_assert!(!body.contains('\n'));
            }
        }
    }
}
