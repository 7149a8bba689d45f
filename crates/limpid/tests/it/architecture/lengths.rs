//! How long functions are.
//!
//! A function is seen by its first line and by the closing brace with the same indentation, as rustfmt writes them.

use super::sources::{files, folders, root};

/// Lines that a function may have.
const LONGEST: usize = 80;

#[test]
fn no_function_has_more_than_eighty_lines() {
    let files: Vec<(String, String)> = folders(&root().join("crates")).iter().flat_map(|krate| files(krate)).collect();
    let functions: Vec<(String, usize)> = files.iter().flat_map(|(file, text)| functions(file, text)).collect();
    assert!(functions.len() > 5000, "only {} functions are seen", functions.len());
    let long: Vec<&(String, usize)> = functions.iter().filter(|(_, lines)| *lines > LONGEST).collect();
    assert!(long.is_empty(), "cut these where one thought ends: {long:?}");
}

/// The functions of a file by place and name, with the number of lines of each.
fn functions(file: &str, text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let Some(name) = name(code) else { continue };
        let ends = |line: &&str| {
            line.strip_prefix(indent).is_some_and(|rest| rest == "}" || (rest.starts_with(')') && rest.ends_with(';')))
        };
        let is_short = line.ends_with(['}', ';']);
        let rest = if is_short { Some(0) } else { lines[at..].iter().position(ends) };
        let rest = rest.unwrap_or_else(|| panic!("{file}:{}: the end of `{name}` is not seen", at + 1));
        found.push((format!("{file}:{} {name}", at + 1), rest + 1));
    }
    found
}

/// The name of the function that begins on a line.
fn name(code: &str) -> Option<&str> {
    let mut words = code.split(' ');
    let before =
        |word: &&str| matches!(*word, "async" | "const" | "default" | "pub" | "unsafe") || word.starts_with("pub(");
    let word = words.find(|word| !before(word))?;
    let rest = (word == "fn").then(|| words.next()).flatten()?;
    // A macro's `fn $name` is no function yet.
    rest.split(['(', '<']).next().filter(|name| !name.starts_with('$'))
}
