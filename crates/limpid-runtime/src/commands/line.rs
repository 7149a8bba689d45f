//! How a line that a person wrote is read, and what is proposed for a command that does not exist.

use crate::commands::slash_command::SlashCommand;
use crate::commands::table::{SlashInfo, Table};

/// How a line that a person wrote reads.
pub(super) enum Line<'a> {
    Message(&'a str),
    Command(&'static dyn SlashCommand, &'a str),
    /// A name that is no command's; a skill may have it.
    Unknown(&'a str),
}

pub(super) fn parse(table: Table, text: &str) -> Line<'_> {
    let line = text.trim();
    let Some(rest) = line.strip_prefix('/') else { return Line::Message(text) };
    if let Some(escaped) = rest.strip_prefix('/') {
        // Only what would be taken for a command needs a second slash; `// a comment` keeps both of its own.
        return Line::Message(if is_name(first_word(escaped)) { rest } else { text });
    }
    let name = first_word(rest);
    match table.find(name) {
        Some(command) => Line::Command(command, rest[name.len()..].trim()),
        None if is_name(name) => Line::Unknown(name),
        None => Line::Message(text),
    }
}

fn first_word(text: &str) -> &str {
    text.split(char::is_whitespace).next().unwrap_or_default()
}

/// Whether a word after a slash can only be meant as a command's name. `etc/hosts`, `.bashrc` and `5` cannot.
fn is_name(word: &str) -> bool {
    word.starts_with(char::is_alphabetic) && word.chars().all(|c| c.is_alphanumeric() || c == '-')
}

/// How many commands are proposed for one that does not exist.
const PROPOSED: usize = 3;

pub(super) fn unknown(table: Table, name: &str, skills: &[(String, String)]) -> String {
    let own: Vec<&str> = table.list().flat_map(SlashInfo::names).collect();
    let near = nearest(&name.to_lowercase(), own.into_iter().chain(skills.iter().map(|(name, _)| name.as_str())));
    let near: Vec<String> = near.into_iter().map(|near| format!("/{near}")).collect();
    let proposed = match near.split_last() {
        None => String::new(),
        Some((last, [])) => format!(" Did you mean {last}?"),
        Some((last, before)) => format!(" Did you mean {} or {last}?", before.join(", ")),
    };
    format!(
        "unknown command \"/{name}\".{proposed} /help lists the commands; to send this as a message, write //{name}"
    )
}

/// The names that are most like a word, the most alike first: those that begin with it, and those that a few slips of the
/// finger make of it.
fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let slips = 1 + typed.chars().count() / 4;
    let distance = |name: &str| match typed.len() > 1 && name.starts_with(typed) {
        true => 0,
        false => slips_between(typed, &name.to_lowercase()),
    };
    let mut near: Vec<(usize, &str)> =
        names.map(|name| (distance(name), name)).filter(|(distance, _)| *distance <= slips).collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, name)| name).take(PROPOSED).collect()
}

/// Letters that are too many, too few, wrong or swapped with their neighbour between two words.
fn slips_between(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let wrong = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + wrong);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::TABLE;

    fn reads(text: &str) -> String {
        match parse(TABLE, text) {
            Line::Message(text) => format!("says {text:?}"),
            Line::Command(command, arguments) => format!("does {} {arguments:?}", command.name()),
            Line::Unknown(name) => format!("refuses {name:?}: {}", unknown(TABLE, name, &[])),
        }
    }

    // SUR-015 TERM-004
    #[test]
    fn a_line_is_a_command_or_a_message_or_is_refused() {
        let lines = [
            "hi /help",
            "/help",
            "  /HELP  me ",
            "/mode\tdeveloper",
            "//mode developer",
            "/mdoe developer",
            "/hlep",
            "/costs",
            "/modl",
            "/comp",
            "/exti",
            "/quit",
            "/clear",
            "/poem about rain",
            "/über mich",
            "/etc/hosts is what?",
            "/etc\nis what?",
            "/.bashrc",
            "/5 of them",
            "and/or",
            "/* a comment */",
            "// a comment",
            "//etc/hosts is what?",
            "//poem about rain",
            "/",
            "/ help",
            "",
        ];
        let read: Vec<String> = lines.iter().map(|line| format!("{line:?} {}", reads(line))).collect();
        insta::assert_snapshot!(read.join("\n"));
    }
}
