//! Texts of strangers on lines of the frame: nothing in them begins a line of its own, and what is cut says so.

use limpid_prompt::shown::{exact, shown};
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_width::UnicodeWidthChar as _;

/// Columns that a remark on what is missing takes, and on a narrow screen.
const REMARK: usize = 29;
const SHORT_REMARK: usize = 10;

/// Columns below which a screen is narrow.
const NARROW: usize = 60;

/// The size of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its columns.
    pub width: usize,
    /// Its rows.
    pub height: usize,
}

impl Screen {
    /// The rows that a line takes at most: several where the line is wider than the screen.
    pub fn rows(self, line: &str) -> usize {
        rows(line, self.width.max(1)).len()
    }
}

/// A label and its text on one line of so many columns.
pub fn field(label: &str, text: &str, width: usize) -> String {
    format!("{label}{}", one_line(text, width.saturating_sub(columns(label))))
}

/// A label and a text that has to be read: on as many lines as it takes, up to `most`; what is cut says how much is missing.
pub fn wrapped_field(label: &str, text: &str, width: usize, most: usize) -> Vec<String> {
    let room = width.saturating_sub(columns(label)).max(1);
    let mut rows = rows_of_words(&plain(text), room);
    if rows.len() > most {
        let rest = rows.split_off(most.saturating_sub(1)).join(" ");
        rows.push(one_line(&rest, room));
    }
    let indent = " ".repeat(columns(label));
    let lines = rows.into_iter().enumerate();
    lines.map(|(at, row)| format!("{}{row}", if at == 0 { label } else { &indent })).collect()
}

/// A text on rows behind a margin, as many as are wanted at most; what is behind them is counted.
pub fn behind_margin(text: &str, width: usize, most: usize) -> (Vec<String>, usize) {
    let mut rows = rows(&plain(text), width.saturating_sub(4).max(8));
    let more = rows.iter().skip(most).map(|row| row.chars().count()).sum();
    rows.truncate(most);
    (rows.into_iter().map(|row| format!("│ {row}")).collect(), more)
}

/// A text with its line breaks on rows behind a margin, so that nothing of it begins a line of its own on a screen of so many columns.
pub fn lines_behind_margin(text: &str, width: usize) -> String {
    let text = shown(text);
    let rows = text.split('\n').flat_map(|line| rows(line, width.saturating_sub(4).max(8)));
    rows.map(|row| format!("│ {row}")).collect::<Vec<_>>().join("\n")
}

/// The lines of a text behind a margin, each two columns further in. Where a line goes on in another row, that row has a mark there, so
/// that none looks like a line that it is not. Tabs and a blank at a line's end are written out: nobody would see them.
pub fn block(text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(6).max(8);
    // A tab is often written, so it has a short form, which its letters then do not have.
    let text = exact(text).replace("\\t", "\\u{5c}t").replace('\t', "\\t");
    let in_rows = |line: &str| {
        let line = match line.strip_suffix(' ') {
            Some(rest) => format!("{rest}\\u{{20}}"),
            None => line.to_owned(),
        };
        let numbered = rows(&line, room).into_iter().enumerate();
        numbered.map(|(at, row)| format!("│ {}{row}", if at == 0 { "  " } else { "↳ " })).collect::<Vec<_>>()
    };
    text.split('\n').flat_map(in_rows).collect()
}

/// A text on one line of at most so many columns; one that is cut says how much is missing.
fn one_line(text: &str, room: usize) -> String {
    let line = plain(text);
    if rows(&line, room.max(1)).len() == 1 {
        return line;
    }
    let remark = if room < NARROW { SHORT_REMARK } else { REMARK };
    let mut rows = rows(&line, room.saturating_sub(remark).max(1)).into_iter();
    let first = rows.next().unwrap_or_default();
    let more: usize = rows.map(|row| row.chars().count()).sum();
    if room < NARROW { format!("{first} … +{more}") } else { format!("{first} … and {more} more characters") }
}

/// A text without line breaks and tabs, with everything written out that a terminal would follow and that looks like something else.
fn plain(text: &str) -> String {
    exact(text).replace(['\n', '\t'], " ")
}

/// The rows that a text takes on a screen of so many columns.
fn rows(text: &str, width: usize) -> Vec<String> {
    let (mut rows, mut row, mut column) = (Vec::new(), String::new(), 0);
    for letter in text.chars() {
        let wide = columns_of(letter);
        if column + wide > width {
            // A blank at a row's end is not seen: nobody could tell it from a place that was too small for a wide letter.
            let is_hanging = width > 3 && row.ends_with(' ') && !row.trim_start_matches(' ').is_empty();
            if is_hanging {
                row.pop();
            }
            rows.push(std::mem::take(&mut row));
            column = usize::from(is_hanging);
            row.extend(is_hanging.then_some(' '));
        }
        row.push(letter);
        column += wide;
    }
    rows.push(row);
    rows
}

/// The columns of a text, the most that a screen gives it: those of each of its letters. Some screens draw several letters as one picture of
/// two columns, such as a thumb with the colour of its skin, and others each by itself, so nothing measures a text as a whole.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The columns of a letter, the most that a screen gives it: some draw letters of Greek, Russian and others as wide as those of Chinese.
/// A tab reaches up to the next eighth column. A letter of a flag that stands alone is as wide as a flag. Signs of vowels that stand
/// beside their letter, as in Tamil and Bengali, have a column of their own on many screens; only marks above and below have none.
pub fn columns_of(letter: char) -> usize {
    let widest = letter.width().max(letter.width_cjk()).unwrap_or(0);
    match get_general_category(letter) {
        _ if letter == '\t' => 8,
        // It has the letter before it drawn as a picture of two columns.
        _ if letter == '\u{fe0f}' => 1,
        _ if matches!(letter, '\u{1f1e6}'..='\u{1f1ff}' | '\u{302e}' | '\u{302f}') => 2,
        GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark | GeneralCategory::Format => widest,
        _ => widest.max(1),
    }
}

/// The same without a break in a word, where words are short enough.
fn rows_of_words(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(rows(word, width)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077
    #[test]
    fn a_sign_beside_its_letter_has_a_column_of_its_own() {
        for (letters, columns) in
            [("கா", 2), ("বা", 2), ("മാ", 2), ("ಕಾ", 2), ("ශා", 2), ("é", 1), ("क्", 1), ("ｶﾞ", 2), ("❤\u{fe0f}", 2)]
        {
            assert_eq!(super::columns(letters), columns, "{letters}");
            let line = letters.repeat(30);
            let most = Screen { width: 10, height: 24 }.rows(&line);
            assert_eq!(most, (30 * columns).div_ceil(10), "{letters}");
        }
    }

    /// What is one picture on some screens is several on others, such as tmux.
    // SEC-077
    #[test]
    fn a_text_is_as_wide_as_all_its_letters() {
        for (text, wide) in [
            ("👍🏽", 4),
            ("👩\u{200d}🚀", 4),
            ("🇩🇪", 4),
            ("1\u{fe0f}\u{20e3}", 2),
            ("لا", 2),
            ("日本", 4),
            ("tea", 3),
            ("", 0),
        ] {
            assert_eq!(columns(text), wide, "{text}");
        }
    }
}
