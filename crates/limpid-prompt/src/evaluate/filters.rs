//! What the filters do, each total: any value in, a value out.

use std::borrow::Cow;

use limpid_core::line::{is_break, lines, one_line};

use crate::scope::View;
use crate::template::Filter;

impl Filter {
    /// Applies the filter. Lists are filtered item by item, except by those that make something else of a list.
    pub(crate) fn apply<'a>(&'a self, value: View<'a>) -> View<'a> {
        match (self, value) {
            (Self::Commas, View::List(items)) => View::joined(items, ", ", ""),
            (Self::Bullets, View::List(items)) => View::joined(items, "\n", "- "),
            (Self::Sort, View::List(mut items)) => {
                items.sort_by(View::order);
                View::List(items)
            }
            (Self::Default(text), value) if !value.is_true() => View::file(text),
            (Self::Default(_) | Self::Sort, value) => value,
            (Self::Count, View::List(items)) => View::int(items.len()),
            (Self::Count, value) => View::int(usize::from(value != View::Absent)),
            (filter, View::List(items)) => View::List(items.into_iter().map(|item| filter.apply(item)).collect()),
            (filter, value) => value.map_text(|text| filter.text(text)),
        }
    }

    /// What a text becomes; foreign text goes through here too and stays foreign.
    fn text<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        match self {
            Self::OneLine => of(text, one_line),
            Self::Plain => plain(of(text, one_line)),
            Self::Trim => slice(text, str::trim),
            Self::TrimEnd => slice(text, str::trim_end),
            Self::Title => capitals(&text).into(),
            Self::Upper => text.to_uppercase().into(),
            Self::Lower => text.to_lowercase().into(),
            Self::Xml => escape_xml(text),
            Self::Code => code(&text).into(),
            Self::Bullets => format!("- {text}").into(),
            Self::Indent(width) => indent(text, *width),
            Self::Quote => quote(&text).into(),
            Self::Cut(length) => cut(text, *length),
            Self::Guard(line) => guard(text, line),
            Self::Commas | Self::Sort | Self::Default(_) | Self::Count => text,
        }
    }
}

/// One line that may begin a line of Markdown without being a heading, a fence or a rule.
fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    let start = text.trim_start();
    let marks = ["#", "=", "--", "```", "~~~"];
    if marks.iter().any(|mark| start.starts_with(mark)) { format!("\\{start}").into() } else { text }
}

fn of<'a>(text: Cow<'a, str>, change: impl for<'t> Fn(&'t str) -> Cow<'t, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => change(text),
        Cow::Owned(text) => change(&text).into_owned().into(),
    }
}

fn slice<'a>(text: Cow<'a, str>, part: for<'t> fn(&'t str) -> &'t str) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => part(text).into(),
        Cow::Owned(text) => part(&text).to_owned().into(),
    }
}

/// Lines that read like `line` get a space before them; white space at their end does not hide them.
fn guard<'a>(text: Cow<'a, str>, line: &str) -> Cow<'a, str> {
    if line.is_empty() || !text.contains(line) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 1);
    for piece in text.split_inclusive(is_break) {
        if piece.trim_end() == line {
            out.push(' ');
        }
        out.push_str(piece);
    }
    out.into()
}

/// Words with a capital: `in-progress` becomes `In-Progress`.
fn capitals(text: &str) -> String {
    let mut start = true;
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if start {
            out.extend(letter.to_uppercase());
        } else {
            out.extend(letter.to_lowercase());
        }
        start = !letter.is_alphanumeric() && letter != '\'';
    }
    out
}

fn escape_xml(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>']) {
        return text;
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").into()
}

/// A code span that the text cannot close early: a longer fence when it holds backticks.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    if longest == 0 {
        return format!("`{text}`");
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

fn indent(text: Cow<'_, str>, width: usize) -> Cow<'_, str> {
    if !text.contains(is_break) {
        return text;
    }
    let space = " ".repeat(width);
    let lines: Vec<Cow<'_, str>> = lines(&text)
        .enumerate()
        .map(|(at, line)| if at == 0 || line.is_empty() { line.into() } else { format!("{space}{line}").into() })
        .collect();
    let end = if text.ends_with(is_break) { "\n" } else { "" };
    (lines.join("\n") + end).into()
}

fn quote(text: &str) -> String {
    let lines: Vec<String> = lines(text).map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

fn cut(text: Cow<'_, str>, length: usize) -> Cow<'_, str> {
    match text.char_indices().nth(length) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]).into(),
    }
}
