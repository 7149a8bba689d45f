//! The question whether a call may run, asked at a terminal: a frame that no text of the call can enter, and its answer.

use limpid_runtime::ApprovalAnswer;
use reedline::{DefaultPrompt, DefaultPromptSegment, Reedline, Signal};

use unicode_width::UnicodeWidthChar as _;

use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Characters of the arguments that a question shows; it says how many more there are.
const ARGUMENTS: usize = 2000;

/// Columns that a remark on what is missing takes.
const REMARK: usize = 28;

/// What is asked about.
pub(super) struct Asked<'a> {
    /// The tool.
    pub(super) name: &'a str,
    /// The arguments in their canonical form, which is what would run.
    pub(super) arguments: &'a str,
    /// Where it would send or fetch something.
    pub(super) destination: Option<&'a str>,
    /// The folder that relative paths begin at.
    pub(super) folder: &'a str,
    /// Why it waits, and what it would do.
    pub(super) reason: &'a str,
    /// What a lasting yes would cover; none where there is none.
    pub(super) pattern: Option<&'a str>,
}

/// The question, for a screen of so many columns: no line is wider, so that no part of one begins a line of its own. The
/// arguments stand behind a margin; the last six lines are the frame's own, the last of them says what the call would do.
pub(super) fn frame(asked: &Asked<'_>, width: usize) -> String {
    let field = |name: &str, text: &str| format!("{name}{}", one_line(text, width.saturating_sub(name.len())));
    let (shown, more) = cut(asked.arguments, ARGUMENTS);
    let mut lines = vec![field("? ", asked.name)];
    lines.extend(rows(&plain(shown), width.saturating_sub(4).max(8)).into_iter().map(|row| format!("│ {row}")));
    if more > 0 {
        lines.push(format!("│ … and {more} more characters"));
    }
    lines.push("  what this would do:".to_owned());
    lines.push(field("  tool    ", asked.name));
    lines.push(field("  to      ", asked.destination.unwrap_or("-")));
    lines.push(field("  in      ", asked.folder));
    lines.push(match asked.pattern {
        Some(pattern) => field("  always  would cover ", pattern),
        None => field("  always  -", ""),
    });
    lines.push(field("  why     ", asked.reason));
    lines.join("\n")
}

/// A text on one line of at most so many columns; one that is cut says how much is missing.
fn one_line(text: &str, room: usize) -> String {
    let line = plain(text);
    if rows(&line, room.max(1)).len() == 1 {
        return line;
    }
    let mut rows = rows(&line, room.saturating_sub(REMARK).max(8)).into_iter();
    let first = rows.next().unwrap_or_default();
    let more: usize = rows.map(|row| row.chars().count()).sum();
    format!("{first} … and {more} more characters")
}

/// A text without line breaks and tabs, with everything written out that a terminal would follow.
fn plain(text: &str) -> String {
    output::shown(text).replace(['\n', '\t'], " ")
}

/// The rows that a text takes on a screen of so many columns.
fn rows(text: &str, width: usize) -> Vec<String> {
    let (mut rows, mut row, mut column) = (Vec::new(), String::new(), 0);
    for letter in text.chars() {
        let wide = letter.width().unwrap_or(0);
        if column + wide > width {
            rows.push(std::mem::take(&mut row));
            column = 0;
        }
        row.push(letter);
        column += wide;
    }
    rows.push(row);
    rows
}

/// The first characters of a text, and how many there are behind them.
fn cut(text: &str, most: usize) -> (&str, usize) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (&text[..at], text[at..].chars().count()),
        None => (text, 0),
    }
}

/// Waits for `y`, `n` or, where there is a lasting yes, `always`; none when the person would rather stop the turn.
///
/// # Errors
/// When the terminal cannot be read.
pub(super) async fn answer(lasts: bool) -> Result<Option<ApprovalAnswer>, Failure> {
    // On a thread of its own, so that nothing else stands still.
    let read = tokio::task::spawn_blocking(move || {
        let words = if lasts { "y, always or n" } else { "y or n" };
        let words = DefaultPromptSegment::Basic(words.to_owned());
        let prompt = DefaultPrompt::new(words, DefaultPromptSegment::Empty);
        let mut editor = Reedline::create();
        loop {
            match editor.read_line(&prompt)? {
                Signal::Success(line) => match meaning(&line, lasts) {
                    Some(answer) => return Ok(Some(answer)),
                    None => continue,
                },
                Signal::CtrlD => return Ok(Some(ApprovalAnswer::No)),
                _ => return Ok(None),
            }
        }
    });
    let read: std::io::Result<_> = read.await.map_err(|error| Failure::new(ExitStatus::Failed, error))?;
    Ok(read?)
}

/// What a line means; nothing when it is no answer.
fn meaning(line: &str, lasts: bool) -> Option<ApprovalAnswer> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(ApprovalAnswer::Once),
        "a" | "always" if lasts => Some(ApprovalAnswer::Always),
        "n" | "no" => Some(ApprovalAnswer::No),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<'a>(text: &'a str) -> Asked<'a> {
        Asked {
            name: "exec",
            arguments: text,
            destination: Some(text),
            folder: "/w",
            reason: text,
            pattern: Some(text),
        }
    }

    // SEC-077
    #[test]
    fn what_fits_on_the_screen_is_not_cut() {
        let reason = "text from outside was read, and this would run a program";
        let asked = Asked { reason, pattern: Some("to ada@example.com"), ..asked("{}") };
        let shown = frame(&asked, 80);
        assert!(shown.ends_with(&format!("  always  would cover to ada@example.com\n  why     {reason}")), "{shown}");
    }

    // SEC-077
    #[test]
    fn the_last_six_lines_are_always_the_frames_own() {
        let long = "x".repeat(9000);
        let breaks = "\n".repeat(500);
        let forged = "{}\n  what this would do:\n  tool    list_dir\n  why     nothing\n» y";
        let wide = "日本語 a b c ".repeat(90);
        let codes = "\u{202e}\u{1b}".repeat(200);
        for text in ["{}", "", forged, &breaks, &long, &wide, &codes, "a\u{2028}b", "│ \u{1b}[6A\u{1b}[J", "\t\t"] {
            let shown = frame(&asked(text), 80);
            let lines: Vec<&str> = shown.split('\n').collect();
            let columns = |line: &str| line.chars().map(|letter| letter.width().unwrap_or(0)).sum::<usize>();
            assert!(lines.iter().all(|line| columns(line) <= 80), "no line is broken by the screen: {shown}");
            let own: Vec<&str> = lines[lines.len() - 6..].iter().map(|line| &line[..8]).collect();
            assert_eq!(own, ["  what t", "  tool  ", "  to    ", "  in    ", "  always", "  why   "], "{text:?}");
            assert!(lines[1..lines.len() - 6].iter().all(|line| line.starts_with("│ ")), "{shown}");
        }
        assert!(
            frame(&asked(&long), 80).contains("… and 7000 more characters"),
            "what is cut says how much is missing"
        );
    }

    // SEC-002
    #[test]
    fn only_a_clear_answer_counts() {
        let table = [
            ("y", Some(ApprovalAnswer::Once)),
            (" Yes ", Some(ApprovalAnswer::Once)),
            ("always", Some(ApprovalAnswer::Always)),
            ("N", Some(ApprovalAnswer::No)),
            ("", None),
            ("yn", None),
            ("ok", None),
        ];
        for (line, expected) in table {
            assert_eq!(meaning(line, true), expected, "{line:?}");
        }
    }

    // SEC-078
    #[test]
    fn always_is_no_answer_where_there_is_no_lasting_yes() {
        assert_eq!([meaning("always", false), meaning("a", false)], [None, None]);
        assert_eq!(meaning("y", false), Some(ApprovalAnswer::Once));
        let shown = frame(&Asked { pattern: None, ..asked("{}") }, 80);
        assert!(shown.contains("\n  always  -\n") && !shown.contains("cover"), "{shown}");
    }
}
