//! The arguments of a call as rows behind a margin. A text of several lines, or a long one, stands below the others by itself, a
//! row for each of its lines.

use serde_json::{Map, Value};

use super::lines::{behind_margin, block};

/// Bytes from which a text of one line stands by itself too.
const LONG: usize = 400;

/// Letters of the longest name above a text: it fits on the narrowest screen.
const NAME: usize = 20;

/// What stands in the place of a text that stands below: it is no JSON, so no text looks like it.
const BELOW: &str = "↓";

/// The rows of a call's arguments that have so many characters together at most, and how many characters are behind them.
pub(super) fn rows(arguments: &str, width: usize, most: usize) -> (Vec<String>, usize) {
    let Some(fields) = laid_out(arguments) else {
        let (shown, more) = cut(arguments, most);
        return (behind_margin(shown, width, usize::MAX).0, more);
    };
    let mut rows = block(&in_one_line(&fields), width);
    for (name, text) in fields.iter().filter_map(|(name, value)| Some((name, apart(name, value)?))) {
        let lines = match text.split('\n').count() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        rows.extend(behind_margin(&format!("\"{name}\": {lines}"), width, usize::MAX).0);
        rows.extend(block(text, width));
    }
    let mut letters = 0_usize;
    let fits = |row: &&String| {
        letters += row.chars().count();
        letters <= most
    };
    let shown = rows.iter().take_while(fits).count();
    let more = rows.split_off(shown).iter().map(|row| row.chars().count()).sum();
    (rows, more)
}

/// The arguments by their names, where a text among them stands by itself, and they are the very ones of the canonical form.
fn laid_out(arguments: &str) -> Option<Map<String, Value>> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    let canonical = value.to_string();
    let is_canonical = canonical == arguments;
    let Value::Object(fields) = value else { return None };
    (is_canonical && fields.iter().any(|(name, value)| apart(name, value).is_some())).then_some(fields)
}

/// A text that stands by itself. One under a name that strangers could have chosen to look like something else stays with the others.
fn apart<'a>(name: &str, value: &'a Value) -> Option<&'a str> {
    let is_plain = name.len() <= NAME && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    value.as_str().filter(|text| is_plain && (text.len() > LONG || text.contains('\n')))
}

/// The arguments as JSON, with a mark in the place of each text that stands below.
fn in_one_line(fields: &Map<String, Value>) -> String {
    let field = |(name, value): (&String, &Value)| {
        let value = if apart(name, value).is_some() { BELOW.to_owned() } else { value.to_string() };
        format!("{}:{value}", Value::from(name.as_str()))
    };
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
}

/// The first characters of a text, and how many there are behind them.
fn cut(text: &str, most: usize) -> (&str, usize) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (&text[..at], text[at..].chars().count()),
        None => (text, 0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::columns;

    // SEC-077
    #[test]
    fn a_text_of_several_lines_has_a_row_for_each() {
        let arguments = json!({ "content": "a\n\tb\n\\tb\n\nc \n", "path": "note.md" }).to_string();
        let (rows, more) = rows(&arguments, 80, usize::MAX);
        let wanted = [
            r#"│   {"content":↓,"path":"note.md"}"#,
            r#"│ "content": 6 lines"#,
            "│   a",
            r"│   \tb",
            r"│   \u{5c}tb",
            "│   ",
            r"│   c\u{20}",
            "│   ",
        ];
        assert_eq!((rows, more), (wanted.map(str::to_owned).to_vec(), 0));
    }

    // SEC-077
    #[test]
    fn arguments_of_short_texts_are_as_they_were() {
        let arguments = json!({ "path": "note.md", "texts": ["a\nb"] }).to_string();
        assert_eq!(rows(&arguments, 80, usize::MAX), behind_margin(&arguments, 80, usize::MAX));
    }

    // SEC-077
    #[test]
    fn no_line_of_a_text_looks_like_a_name_or_like_another_line() {
        let forged = format!("# {}\n\"path\": 1 line\n  x\n│ \"path\": 1 line\r\u{1b}[9A", "x".repeat(200));
        let wide = format!("日本語 {}\n", "…→ ".repeat(90));
        for text in [forged, wide, "\n".repeat(9), format!("\n{}", " ".repeat(300))] {
            let arguments = json!({ "content": text, "path": "x\" \"content\": 1 line" }).to_string();
            for width in [40, 80, 120] {
                let (rows, _) = rows(&arguments, width, usize::MAX);
                assert!(rows.iter().all(|row| columns(row) <= width), "{rows:?}");
                let names = rows.iter().filter(|row| !row.starts_with("│   ") && !row.starts_with("│ ↳ "));
                let lines = text.split('\n').count();
                assert_eq!(names.collect::<Vec<_>>(), [&format!("│ \"content\": {lines} lines")], "{rows:?}");
                // Each line begins one row, and so do the arguments in one line.
                assert_eq!(rows.iter().filter(|row| row.starts_with("│   ")).count(), lines + 1, "{rows:?}");
            }
        }
    }

    // SEC-077
    #[test]
    fn what_is_cut_is_counted() {
        let arguments = json!({ "content": "x\n".repeat(5000) }).to_string();
        let (shown, more) = rows(&arguments, 80, 2000);
        let (all, none) = rows(&arguments, 80, usize::MAX);
        let letters = |rows: &[String]| rows.iter().map(|row| row.chars().count()).sum::<usize>();
        assert_eq!((letters(&shown) + more, none), (letters(&all), 0));
        assert!(letters(&shown) <= 2000 && more > 0);
    }
}
