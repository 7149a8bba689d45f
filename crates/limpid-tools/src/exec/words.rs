//! A command as words, without a shell.

/// Splits a command into words as a shell would: blanks separate, quotes and backslashes keep together. What only a
/// shell can carry out is refused, so that nothing is taken for an argument which was meant as an instruction.
///
/// # Errors
/// When a quote is open, or when the command pipes, chains, redirects or expands. In quotes all of this is plain text.
///
/// ```
/// use limpid_tools::exec::words::split;
/// assert_eq!(split(r#"grep -n "a b" 'c|d' e\ f"#).unwrap(), ["grep", "-n", "a b", "c|d", "e f"]);
/// assert!(split("ls | wc").unwrap_err().contains("`|`"));
/// ```
pub fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    // None between words: an empty pair of quotes is a word, a blank is none.
    let mut word: Option<String> = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => quoted(&mut letters, word.get_or_insert_default())?,
            '"' => double_quoted(&mut letters, word.get_or_insert_default())?,
            '\\' => match letters.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("the command ends in a backslash".to_owned()),
            },
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '$' | '\n' | '\r' => return Err(needs_a_shell(letter)),
            '~' | '#' if word.is_none() => return Err(needs_a_shell(letter)),
            '\0' => return Err("the command holds a zero byte".to_owned()),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(letters: &mut impl Iterator<Item = char>, word: &mut String) -> Result<(), String> {
    for letter in letters {
        if letter == '\'' {
            return Ok(());
        }
        word.push(letter);
    }
    Err("a ' is not closed".to_owned())
}

fn double_quoted(
    letters: &mut std::iter::Peekable<impl Iterator<Item = char>>,
    word: &mut String,
) -> Result<(), String> {
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Ok(()),
            '$' | '`' => return Err(needs_a_shell(letter)),
            '\\' => match letters.next_if(|next| matches!(next, '"' | '\\' | '$' | '`')) {
                Some(next) => word.push(next),
                None => word.push('\\'),
            },
            plain => word.push(plain),
        }
    }
    Err("a \" is not closed".to_owned())
}

fn needs_a_shell(letter: char) -> String {
    let shown = if letter.is_control() { "a line break".to_owned() } else { format!("`{letter}`") };
    format!("{shown} needs a shell, and none is granted: run one program with its arguments, or quote it with '…'")
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-088 LES-136
    #[test]
    fn words_are_split_and_what_needs_a_shell_is_refused() {
        let commands = [
            "ls -la",
            "  ls\t notes ",
            "",
            "grep 'a  b' \"it's\" x\"y\"'z'",
            "echo '' \"\"",
            r#"echo "a \"b\" \n" \' "#,
            "echo 'a | b; c && d > e $HOME `x` ~'",
            "find . -name *.md",
            "echo a~b a#b",
            "echo 'open",
            "echo \"open",
            "echo open\\",
            "ls | wc",
            "ls && rm x",
            "ls; rm x",
            "ls > out",
            "cat < in",
            "ls &",
            "echo $HOME",
            "echo \"$HOME\"",
            "echo `id`",
            "echo \"`id`\"",
            "echo $(id)",
            "(ls)",
            "ls ~/.ssh",
            "ls\nrm x",
            "ls # note",
        ];
        let told = commands.map(|command| format!("{command:?}\n    {:?}", split(command)));
        insta::assert_snapshot!(told.join("\n"));
    }
}
