//! The digest that needs no model: first lines, decisions, paths.

use limpid_core::{Entry, Message, Role};

use super::Count;
use super::shown::shorten;
use super::turns::turns;

/// Characters of a turn's first line.
const LINE: usize = 160;

/// Paths that are listed.
const PATHS: usize = 12;

/// What messages say at first sight, within so many tokens.
pub fn digest(earlier: Option<&str>, entries: &[Entry], tokens: usize, count: Count<'_>) -> String {
    let mut lines: Vec<String> = earlier.into_iter().map(str::to_owned).collect();
    for turn in turns(entries) {
        let turn = &entries[turn];
        lines.extend(turn.first().and_then(|first| opening(&first.message)).map(|line| format!("- {line}")));
        let said = turn.iter().filter(|entry| entry.message.role == Role::Assistant);
        let answer = said.clone().rev().find_map(|entry| opening(&entry.message));
        lines.extend(answer.map(|line| format!("  {line}")));
        let decided = said.flat_map(|entry| entry.message.text.lines()).filter(|line| is_decision(line));
        lines.extend(decided.map(|line| format!("  {}", start(line.trim(), LINE))));
    }
    let paths = paths(entries);
    if !paths.is_empty() {
        lines.push(paths.join(" "));
    }
    shorten(&lines.join("\n"), tokens, count)
}

/// The old summary, then of each message a tenth, at least 200 characters.
pub fn tenth(earlier: Option<&str>, entries: &[Entry], tokens: usize, count: Count<'_>) -> String {
    let earlier = earlier.unwrap_or_default().trim();
    let part = |message: &Message| {
        let text = message.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = text.chars().count();
        let kept = (length / 10).max(200);
        (length > 0).then(|| format!("{}: {}", message.role, start(&text, kept)))
    };
    let parts: Vec<String> = entries.iter().filter_map(|entry| part(&entry.message)).collect();
    let room = tokens.saturating_sub(count(earlier));
    let rest = shorten(&parts.join("\n"), room, count);
    if earlier.is_empty() { rest } else { format!("{earlier}\n{rest}") }
}

fn opening(message: &Message) -> Option<String> {
    let line = message.text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(start(line, LINE))
}

fn start(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn is_decision(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    line.starts_with("[decision]") || line.starts_with("decision:") || line.starts_with("decided")
}

fn paths(entries: &[Entry]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for word in entries.iter().flat_map(|entry| entry.message.text.split_whitespace()) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !"/~.".contains(c)).trim_end_matches('.');
        let is_path = word.contains('/') && !word.contains("://") && (4..=120).contains(&word.len());
        if is_path && !paths.iter().any(|known| known == word) {
            paths.push(word.to_owned());
            if paths.len() == PATHS {
                break;
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use limpid_core::{MessageId, Trust};

    use super::*;

    // OLLM-096
    #[test]
    fn it_keeps_first_lines_decisions_and_paths_within_its_cap() {
        let say = |n, role, text: &str| Entry { id: MessageId(n), message: Message::new(role, text, Trust::Owner) };
        let entries = [
            say(1, Role::User, "Move the port to 8080.\nIt is in /etc/app/site.toml, I think."),
            say(2, Role::Assistant, "Done.\n[DECISION] The port is 8080 everywhere\nSee src/config.rs."),
            say(3, Role::User, "Thanks! Then the tests."),
        ];
        let count = |text: &str| text.chars().count().div_ceil(4);
        insta::assert_snapshot!(digest(None, &entries, 500, &count));
        for tokens in 30..80 {
            assert!(count(&digest(None, &entries, tokens, &count)) <= tokens);
        }
    }

    // PICO-048
    #[test]
    fn the_fallback_begins_with_the_old_summary_and_keeps_a_tenth_of_each_message() {
        let entry = |n, text: String| Entry { id: MessageId(n), message: Message::new(Role::User, text, Trust::Owner) };
        let entries = [entry(1, "a".repeat(5000)), entry(2, "b".repeat(100))];
        let count = |text: &str| text.chars().count().div_ceil(4);
        let text = tenth(Some("Ada likes tea."), &entries, 10_000, &count);
        let expected = format!("Ada likes tea.\nuser: {}…\nuser: {}", "a".repeat(500), "b".repeat(100));
        assert_eq!(text, expected);
        assert!(count(&tenth(Some("Ada likes tea."), &entries, 60, &count)) <= 61);
    }
}
