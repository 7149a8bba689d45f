//! Text as a terminal may show it: nothing in it moves the cursor, changes a colour, writes to the clipboard, or turns
//! letters around.

mod drawn;
mod exact;
mod joins;
mod opened;
mod unloaded;

use std::borrow::Cow;
use std::fmt;

pub use self::drawn::{Drawn, DrawnPieces};
pub use self::exact::{exact, exact_json, exact_line, exact_line_to_isolate, exact_to_isolate};
use self::joins::{is_joiner, joins};
pub use self::opened::{WhenOpened, sets_editor, unset_editor, when_opened};
use crate::boundary::is_invisible;

/// What a person may be shown: nothing in it steers what shows it. Notices take nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// The text with everything written out that a terminal would follow.
    pub fn new(text: &str) -> Self {
        Self(shown(text).into_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text with everything written out that a terminal would follow or draw as nothing: an escape becomes `\u{1b}`. Line
/// breaks and tabs stay.
pub fn shown(text: &str) -> Cow<'_, str> {
    written_out(text, |letter, out| out.extend(letter.escape_unicode()))
}

/// The text with each letter written out that a terminal would follow or that nobody sees.
fn written_out(text: &str, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(|letter| is_followed(letter) || is_joiner(letter)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let (mut before, mut letters) = (None, text.chars().peekable());
    while let Some(letter) = letters.next() {
        let is_unseen = is_joiner(letter) && !joins(before, letter, letters.peek().copied());
        if is_unseen || is_followed(letter) {
            write(letter, &mut out);
        } else {
            out.push(letter);
        }
        before = Some(letter);
    }
    Cow::Owned(out)
}

/// The same on one line, for names, headings and cells of a table: a line break would begin a line that looks like the program's
/// own.
pub fn shown_line(text: &str) -> String {
    let one = |letter: char| match letter {
        '\n' | '\t' => letter.escape_default().to_string(),
        other => other.to_string(),
    };
    shown(text).chars().map(one).collect()
}

fn is_followed(letter: char) -> bool {
    let stays = matches!(letter, '\n' | '\t');
    !stays && (letter.is_control() || is_invisible(letter) || matches!(letter, '\u{2028}' | '\u{2029}'))
}

/// JSON with the same letters written as it writes letters, so that it stays the same value.
pub fn shown_json(json: &str) -> Cow<'_, str> {
    written_out(json, |letter, out| {
        let mut units = [0; 2];
        out.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
    })
}

/// The text with marks around each run of letters that are written from right to left, so that none turns around what stands
/// beside it: a number, a sign, a word of somebody else's.
pub fn isolated(text: &str) -> Cow<'_, str> {
    if !text.contains(is_turned) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(start) = rest.find(is_turned) {
        out.push_str(&rest[..start]);
        let run = &rest[start..];
        // Signs between two such letters belong to the run; letters of other scripts and line breaks end it.
        let stops = |letter: char| letter == '\n' || (letter.is_alphabetic() && !is_turned(letter));
        let reach = run.find(stops).unwrap_or(run.len());
        let end = run[..reach].char_indices().rfind(|(_, letter)| is_turned(*letter));
        let end = end.map_or(reach, |(at, letter)| at + letter.len_utf8());
        out.push('\u{2068}');
        out.push_str(&run[..end]);
        out.push('\u{2069}');
        rest = &run[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a letter is written from right to left.
fn is_turned(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-089
    #[test]
    fn nothing_that_a_terminal_follows_is_left() {
        let table = [
            (
                "plain words, 日本語, e\u{301}, 👩\u{200d}🚀\n\tnext",
                "plain words, 日本語, e\u{301}, 👩\u{200d}🚀\n\tnext",
            ),
            ("\u{1b}]52;c;ZXZpbA==\u{7}", "\\u{1b}]52;c;ZXZpbA==\\u{7}"),
            ("\u{1b}[2J\u{9b}1A", "\\u{1b}[2J\\u{9b}1A"),
            ("yes\u{202e}on", "yes\\u{202e}on"),
            ("a\rb\u{8}c\u{200b}d\u{2028}e", "a\\u{d}b\\u{8}c\\u{200b}d\\u{2028}e"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected);
        }
        let every: String = (0..=0x10_ffff_u32).filter_map(char::from_u32).collect();
        let left: Vec<char> = shown(&every).chars().filter(|letter| letter.is_control()).collect();
        assert_eq!(left, ['\t', '\n']);
    }

    // SEC-089
    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(shown_line("notes\n1  owner  done\u{1b}[1A\tx"), "notes\\n1  owner  done\\u{1b}[1A\\tx");
    }

    // SEC-089
    #[test]
    fn json_stays_the_same_value() {
        let said =
            serde_json::json!({ "a": "x\u{9b}2K\u{202e}on\u{e0041}\u{7f}\u{1b}[2J", "b\u{200b}": ["\n", "日本"] });
        for text in [said.to_string(), serde_json::to_string_pretty(&said).unwrap()] {
            let shown = shown_json(&text);
            assert!(!shown.contains(is_followed), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), said);
        }
    }

    // SEC-089
    #[test]
    fn letters_from_right_to_left_turn_nothing_around_beside_them() {
        let table = [
            ("plain", "plain"),
            ("pay \u{5d0}\u{5d1} 100 to", "pay \u{2068}\u{5d0}\u{5d1}\u{2069} 100 to"),
            ("\u{5d0} 1 \u{5d1}, x", "\u{2068}\u{5d0} 1 \u{5d1}\u{2069}, x"),
            ("\u{5d0}\n\u{5d1}", "\u{2068}\u{5d0}\u{2069}\n\u{2068}\u{5d1}\u{2069}"),
        ];
        for (text, expected) in table {
            assert_eq!(isolated(text), expected);
        }
    }
}
