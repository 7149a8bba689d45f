//! Words of commands that a person may paste into a shell.

use limpid_prompt::shown::shown_line;

/// A name as one word of a shell and on one line, whoever gave it.
///
/// A plain one stays as it is, every other one stands in quotes. What a terminal would follow or nobody would see is
/// written as a shell reads it.
pub fn as_word(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain) {
        return name.to_owned();
    }
    if shown_line(name) == name {
        // Some shells take a backslash for an order within quotes, so both stand outside of them.
        let quoted: String = name.chars().map(outside_of_quotes).collect();
        return format!("'{quoted}'");
    }
    format!("$'{}'", name.chars().map(written_out).collect::<String>())
}

fn outside_of_quotes(letter: char) -> String {
    match letter {
        '\'' | '\\' => format!("'\\{letter}'"),
        _ => letter.to_string(),
    }
}

/// A letter as it is written between `$'` and `'`. A shell that does not know these signs takes the whole for one wrong word, since no
/// quote and no backslash stands in it by itself.
fn written_out(letter: char) -> String {
    match letter {
        // Never more digits than these are read, so what comes next is none of them.
        '\0'..='\x1f' | '\x7f' | '\'' | '\\' => format!(r"\{:03o}", u32::from(letter)),
        ' '..='~' => letter.to_string(),
        '\u{80}'..='\u{ffff}' => format!(r"\u{:04x}", u32::from(letter)),
        _ => format!(r"\U{:08x}", u32::from(letter)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077 SEC-089
    #[test]
    fn a_strangers_name_is_one_word_of_a_command() {
        assert_eq!(as_word("outside/notes.md"), "outside/notes.md");
        assert_eq!(as_word("outside/$(touch pwn).md"), "'outside/$(touch pwn).md'");
        assert_eq!(as_word("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(as_word(r"a\'; rm"), r"'a'\\''\''; rm'");
        assert_eq!(as_word("--hash"), "'--hash'");
        assert_eq!(as_word(""), "''");
        assert_eq!(as_word("Köln.md"), "'Köln.md'");
    }

    // SEC-089
    #[test]
    fn a_name_with_hidden_letters_is_one_line_that_a_shell_reads_as_that_name() {
        let name = "a\n\u{1b}9it's\\\u{202e}\u{e0041}.md";
        assert_eq!(as_word(name), r"$'a\012\0339it\047s\134\u202e\U000e0041.md'");
    }
}
