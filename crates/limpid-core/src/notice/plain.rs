//! A text on one line without its markup.

use std::collections::HashMap;

use super::{LOOKED_AT, start};

/// Blocks of code under this name are the screen's, not the reader's.
const SCREEN: &str = "kai-ui";

/// The text on one line without markup.
pub(super) fn plain(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use crate::notice::{BODY_CHARS, body};

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
}
