//! What a draft would do, on one line of a list.

use std::path::Path;

use limpid_prompt::shown::exact_line;
use serde_json::Value;

use crate::output;

/// Letters of a cell of a list. A row that is wider than the screen would go on at its border.
const CELL: usize = 60;

/// Letters of where a call leads, so that its arguments are seen as well.
const DESTINATION: usize = 40;

/// Arguments by which calls of one tool are told apart, the most telling first.
const TELLING: [&str; 6] = ["command", "path", "url", "key", "id", "name"];

/// A text of anybody's as a cell of a list.
pub(super) fn cell(text: &str) -> String {
    output::one_line(&exact_line(text), CELL)
}

/// A call as a cell of a list: where it leads, the most telling one of its arguments, then the others as JSON. A path is no place that a
/// call leads to: it is that of a program, which the command names.
pub(super) fn line(arguments: &str, destination: Option<&str>) -> String {
    let Ok(Value::Object(mut others)) = serde_json::from_str(arguments) else { return cell(arguments) };
    let telling = TELLING.iter().find_map(|name| others.remove(*name)).map(|argument| match argument {
        Value::String(text) => text,
        other => other.to_string(),
    });
    let is_told = |to: &str| telling.as_deref().is_some_and(|telling| telling.contains(to));
    let to = destination.filter(|to| !Path::new(to).is_absolute() && !is_told(to));
    let to = to.map(|to| output::one_line(to, DESTINATION));
    let others = (!others.is_empty()).then(|| Value::Object(others).to_string());
    cell(&[to, telling, others].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-010
    #[test]
    fn a_line_tells_calls_of_one_tool_apart() {
        let run = |command: &str| line(&format!("{{\"command\":{command:?}}}"), Some("/usr/bin/git"));
        assert_eq!([run("git status"), run("git push")], ["git status", "git push"]);
        let arguments = r#"{"command":"make","working_dir":"sub"}"#;
        assert_eq!(line(arguments, Some("/usr/bin/make")), r#"make {"working_dir":"sub"}"#);
        let long = format!("{{\"content\":\"{}\",\"path\":\"tea.md\"}}", "x".repeat(200));
        let written = line(&long, None);
        assert!(written.starts_with("tea.md {\"content\":\"xxx") && written.ends_with('…'), "{written}");
        assert_eq!(written.chars().count(), CELL + 1);
        let mail = line(r#"{"subject":"Tea","text":"At four?"}"#, Some("me@example.com to ada@example.com"));
        assert!(mail.starts_with("me@example.com to ada@example.com {\"subject\":\"Tea\""), "{mail}");
        let many = line(r#"{"subject":"Tea"}"#, Some(&"ada@example.com, ".repeat(9)));
        assert!(many.contains("… {\"subject\":\"Tea\""), "{many}");
        assert_eq!(line(r#"{"url":"https://tea.example/x"}"#, Some("tea.example")), "https://tea.example/x");
        assert_eq!(line("{\"key\":", None), "{\"key\":");
    }

    // SEC-089
    #[test]
    fn no_call_draws_more_than_its_line() {
        let command = r#"{"command":"ls\nwhy    you asked for it\t\u001b[2J"}"#;
        assert_eq!(line(command, None), r"ls\u{a}why you asked for it\u{9}\u{1b}[2J");
    }
}
