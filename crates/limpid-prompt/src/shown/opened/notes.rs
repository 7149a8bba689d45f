//! Notes, which may be drawn as Markdown by a program with extensions of its own.

use std::borrow::Cow;
use std::cell::LazyCell;

use super::super::shown;
use super::super::unloaded::Unloaded;

/// What an address begins with, or what leads to one, in a text without escapes. A browser needs no slashes behind a scheme.
const ADDRESSES: [&str; 6] = ["//", "www.", "http:", "https:", "url(", "image-set("];

/// Commands of formulas that load something, or say what others do.
const COMMANDS: [&str; 14] = [
    "catcode",
    "class",
    "css",
    "declare",
    "def",
    "href",
    "html",
    "include",
    "input",
    "newcommand",
    "newenv",
    "renew",
    "require",
    "style",
];

/// Signs that stand in no address between angle brackets.
const NONE_IN_ADDRESS: &str = "<\"'`=!";

/// What begins a line that some programs take for an order of theirs, or for a part of its own.
const ORDERS: [&str; 8] = ["@", ":::", ";;;", "%%", "!", "+++", "{", ".. "];

/// Whether nothing in a text is fetched, nor run, by what draws it as Markdown. What is judged are the letters of the file: one that a
/// terminal would follow ends a line to some programs and not to others.
pub(super) fn fetches_nothing(text: &str) -> bool {
    let text = text.replace("\r\n", "\n");
    if shown(&text) != text || begins_program(&text) || sets_editor(&text) || !draws_nothing(&text) {
        return false;
    }
    !holds_address(&text) || is_plain(&text)
}

/// Whether a text may lead somewhere, by an address in letters, in escapes or in entities, or by a command of a formula.
pub(super) fn holds_address(text: &str) -> bool {
    let bare = text.replace(['\\', '\t'], "").to_lowercase();
    ADDRESSES.iter().any(|address| bare.contains(address))
        || text.contains("\\\\")
        || may_spell_address(text)
        || has_entity(text)
        || has_command(text)
}

/// Whether a text has escapes that stand for other letters, in the ways of CSS, JSON, YAML or JavaScript, or a line that goes on with the
/// next one within a word.
pub(super) fn may_spell_address(text: &str) -> bool {
    let hex = |rest: &str, count: usize| {
        rest.len() >= count && rest.bytes().take(count).all(|letter| letter.is_ascii_hexdigit())
    };
    text.split('\\').skip(1).any(|rest| {
        let mut letters = rest.chars();
        let first = letters.next();
        let rest = letters.as_str();
        match first {
            Some('\n') => true,
            Some('x') => hex(rest, 2),
            Some('u' | 'U') => hex(rest, 4) || rest.starts_with('{'),
            Some(letter) => letter.is_ascii_digit(),
            None => false,
        }
    })
}

/// Whether something in a text may be an entity of HTML, or one of Mermaid.
fn has_entity(text: &str) -> bool {
    text.split(['&', '#']).skip(1).any(|rest| {
        let name = rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        name.len() < rest.len() && name.starts_with(';')
    })
}

/// Whether a text has a command of a formula that loads something, or code within a line that a program of notes runs.
fn has_command(text: &str) -> bool {
    let commands = || text.split('\\').skip(1);
    let is_let = |rest: &str| rest.strip_prefix("let").is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    text.contains("`$=")
        || commands().any(|rest| is_let(rest) || COMMANDS.iter().any(|name| rest.to_lowercase().starts_with(name)))
}

/// Whether a text begins with metadata that names its language, which may be a program.
fn begins_program(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    first.starts_with("---") && !first.trim_end().trim_start_matches('-').is_empty()
}

/// Whether a text sets variables of the editor that opens it, such as another language with orders of its own, in the ways of Emacs and Vim.
pub fn sets_editor(text: &str) -> bool {
    let sets = |line: &str| {
        let line = margin_off(line).to_lowercase();
        // Once a line, however many words of it may be an order.
        let has_set = LazyCell::new(|| has_set(&line));
        let words = line.split_whitespace().enumerate();
        let is_mode = |(at, word): (usize, &str)| {
            let Some((name, rest)) = word.split_once(':') else { return false };
            let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || "<>=".contains(letter));
            let mode = ["vi", "vim", "ex"].contains(&name) && (rest.contains(['=', '\\']) || *has_set);
            mode || name == "kate" && at == 0
        };
        words.into_iter().any(is_mode)
    };
    text.contains("-*-") || text.to_lowercase().contains("local variables:") || text.lines().any(sets)
}

/// Whether a line sets something as Vim's own lines do.
fn has_set(line: &str) -> bool {
    line.split([' ', ':', '\t']).any(|word| matches!(word, "set" | "se")) || line.contains(['=', '\\'])
}

/// A text in which no line sets variables of the editor that opens it: signs of such a line stand apart.
pub fn unset_editor(text: &str) -> Cow<'_, str> {
    if !sets_editor(text) {
        return Cow::Borrowed(text);
    }
    let apart = |line: &str| match sets_editor(line) {
        true => line.replace(':', " :").replace("-*-", "- * -"),
        false => line.to_owned(),
    };
    Cow::Owned(text.split('\n').map(apart).collect::<Vec<_>>().join("\n"))
}

/// Whether a text has neither pictures nor elements, but for such as stand in a block of code that every program takes for one.
fn draws_nothing(text: &str) -> bool {
    let text = without_links(text);
    let stays = |unloaded: Unloaded| unloaded.whole(&text) == text;
    stays(Unloaded::without_blocks()) || (!text.lines().any(may_fence) && stays(Unloaded::default()))
}

/// Whether a text with an address is words and links, to every program: nothing in it may be taken for metadata, for attributes, for a
/// formula with commands or for an order, not even in a block of code.
fn is_plain(text: &str) -> bool {
    let links = without_links(text);
    let first = text.trim_start().lines().next().unwrap_or_default();
    let is_order = |line: &str| {
        let line = margin_off(line);
        ORDERS.iter().any(|order| line.starts_with(order))
    };
    !text.contains(['{', '}', '\\'])
        && !["![", "<%", "`$="].iter().any(|sign| text.contains(sign))
        && !first.starts_with("---")
        && !text.lines().any(is_order)
        && Unloaded::without_blocks().whole(&links) == links
}

/// Whether a line begins what some programs take for a part of its own, such as metadata: a block of code in it is none to them.
fn may_fence(line: &str) -> bool {
    let line = margin_off(line);
    ["---", "+++", "%%", ":::", ";;;"].iter().any(|fence| line.starts_with(fence))
}

fn margin_off(line: &str) -> &str {
    line.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '>')
}

/// The text with each address in angle brackets in round ones: it is a link, and to a program that knows no such links an element that
/// does nothing, since it has no value.
fn without_links(text: &str) -> Cow<'_, str> {
    if !text.contains("<http") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<http") {
        let (before, link) = rest.split_at(at);
        out.push_str(before);
        // It ends before the next sign that stands in none, so each letter is looked at once.
        let ends = |letter: char| letter == '>' || NONE_IN_ADDRESS.contains(letter) || letter.is_whitespace();
        let end = link[1..].find(ends).map(|end| end + 1);
        let end = end.filter(|end| link[*end..].starts_with('>') && is_address(&link[1..*end]));
        let Some(end) = end else {
            out.push('<');
            rest = &link[1..];
            continue;
        };
        out.extend(["(", &link[1..end], ")"]);
        rest = &link[end + 1..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_address(link: &str) -> bool {
    let has_scheme = ["http://", "https://"].iter().any(|scheme| link.starts_with(scheme));
    has_scheme && !link.contains(|letter: char| letter.is_whitespace() || NONE_IN_ADDRESS.contains(letter))
}
