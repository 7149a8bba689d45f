//! Text as a terminal may show it: nothing in it moves the cursor, changes a colour, writes to the clipboard, or turns
//! letters around.

use std::borrow::Cow;

use limpid_prompt::boundary::is_invisible;

/// The text with everything written out that a terminal would follow or draw as nothing: an escape becomes `\u{1b}`. Line
/// breaks and tabs stay.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_followed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_followed(letter) {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

fn is_followed(letter: char) -> bool {
    let stays = matches!(letter, '\n' | '\t');
    !stays && (letter.is_control() || is_invisible(letter) || matches!(letter, '\u{2028}' | '\u{2029}'))
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
}
