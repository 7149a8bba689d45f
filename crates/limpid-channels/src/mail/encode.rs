//! Text in the ASCII of mail: encoded words in headers (RFC 2047), Base64 in bodies, folded lines.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Columns of a line that is not folded.
const WIDTH: usize = 76;

/// Bytes of text in one encoded word, so that with its frame it stays below 75 columns.
const WORD: usize = 42;

/// The longest line that a server has to take.
const LONGEST: usize = 998;

/// Whether a text may stand in a letter as it is.
pub(super) fn is_plain(text: &str) -> bool {
    text.is_ascii() && text.split("\r\n").all(|line| line.len() <= LONGEST && !line.contains(['\r', '\0']))
}

/// A text of a header: as it is when it is short and ASCII, else as encoded words, folded between them.
pub(super) fn words(text: &str) -> String {
    if text.is_ascii() && text.len() <= WIDTH && !text.contains("=?") {
        return text.to_owned();
    }
    let mut pieces: Vec<String> = vec![String::new()];
    for letter in text.chars() {
        match pieces.last_mut() {
            Some(piece) if piece.len() + letter.len_utf8() <= WORD => piece.push(letter),
            _ => pieces.push(letter.to_string()),
        }
    }
    let word = |piece: &String| format!("=?utf-8?B?{}?=", BASE64_STANDARD.encode(piece));
    pieces.iter().map(word).collect::<Vec<_>>().join("\r\n ")
}

/// The name before an address.
pub(super) fn phrase(name: &str) -> String {
    let is_atom =
        |letter: char| letter.is_ascii_alphanumeric() || letter == ' ' || "!#$%&'*+-/^_`{|}~".contains(letter);
    if name.len() > WIDTH || !name.is_ascii() || name.contains("=?") {
        words(name)
    } else if name.chars().all(is_atom) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// A header of several values, a new line before each that would be too long.
pub(super) fn folded(name: &str, values: &[String], between: &str) -> String {
    let mut text = name.to_owned();
    let mut column = text.len();
    for (at, value) in values.iter().enumerate() {
        let value = if at + 1 < values.len() { format!("{value}{between}") } else { value.clone() };
        let new_line = at > 0 && column + 1 + value.len() > WIDTH;
        text.push_str(if new_line { "\r\n " } else { " " });
        column = if new_line { 1 } else { column + 1 } + value.len();
        text.push_str(&value);
    }
    text
}

/// Base64 in lines.
pub(super) fn base64_lines(bytes: &[u8]) -> String {
    // 57 bytes are the 76 columns of a line.
    bytes.chunks(57).map(|line| BASE64_STANDARD.encode(line)).collect::<Vec<_>>().join("\r\n")
}

#[cfg(test)]
mod tests {
    use mail_parser::MessageParser;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_subject_is_read_as_it_was_written(text in "[^\\p{C}\\p{Z}]([^\\p{C}\\p{Z}]| [^\\p{C}\\p{Z}]){0,120}") {
            let header = format!("Subject: {}\r\n\r\n", words(&text));
            prop_assert!(header.is_ascii());
            prop_assert!(header.lines().all(|line| line.len() <= 90), "{header}");
            let message = MessageParser::default().parse(header.as_bytes()).unwrap();
            prop_assert_eq!(message.subject().unwrap_or_default(), text);
        }
    }

    #[test]
    fn long_lists_are_folded_between_values() {
        let values: Vec<String> = (0..9).map(|n| format!("person{n}@example.com")).collect();
        let line = folded("To:", &values, ",");
        assert!(line.split("\r\n").count() == 3 && line.split("\r\n").all(|line| line.len() <= WIDTH), "{line}");
        assert_eq!(line.replace("\r\n", ""), format!("To: {}", values.join(", ")));
    }
}
