//! The one grammar of markers: `docs/spec/ollm.md` has it as EBNF, this file follows it rule by rule.

use super::words::{ArtifactAction, CheckpointStatus, MAX_DESCRIPTION, MAX_PATH};

/// A line by which the model changes the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `[GOAL] text`.
    Goal(String),
    /// `[CHECKPOINT] text`, with how it stands when that is said.
    Checkpoint(String, Option<CheckpointStatus>),
    /// `[DECISION] text`, and whether it is to stand.
    Decision {
        /// What was decided.
        text: String,
        /// Whether it is to stand.
        lock: bool,
    },
    /// `[ARTIFACT] action path`.
    Artifact(ArtifactAction, String),
    /// `[NEXT] text`.
    Next(String),
}

/// A line that begins as a marker and is none: it is reported and changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{line}` changes nothing: {reason}")]
pub struct Rejected {
    /// The line.
    pub line: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keyword {
    Goal,
    Checkpoint,
    Decision,
    Artifact,
    Next,
}

const KEYWORDS: [(&str, Keyword); 5] = [
    ("[GOAL]", Keyword::Goal),
    ("[CHECKPOINT]", Keyword::Checkpoint),
    ("[DECISION]", Keyword::Decision),
    ("[ARTIFACT]", Keyword::Artifact),
    ("[NEXT]", Keyword::Next),
];

const EMPHASIS: [&str; 2] = ["**", "__"];

/// Words that look like a status and are none.
const NO_STATUS: [&str; 3] = ["UNLOCKED", "BLOCKED", "DONE"];

/// Reads one line without its end; none when it is text.
pub fn read(line: &str) -> Option<Result<Marker, Rejected>> {
    let (keyword, rest) = begin(line)?;
    // A link is text.
    if rest.starts_with(['(', '[']) {
        return None;
    }
    let rejected = |reason| Rejected { line: line.trim().to_owned(), reason };
    Some(separated(rest).and_then(|rest| body(keyword, rest)).map_err(rejected))
}

/// Whether a line that is not over yet may still become a marker: what a display holds back.
pub fn may_become(line: &str) -> bool {
    if begin(line).is_some() {
        return true;
    }
    let rest = without_lead(line);
    // White space, digits and emphasis may still be followed by a keyword.
    let open = |c: char| matches!(c, ' ' | '-' | '*' | '+' | '_' | '.' | ')') || c.is_ascii_digit();
    match rest.find('[') {
        None => line.chars().count() <= 12 && line.chars().all(open),
        Some(at) => rest[..at].is_empty() && KEYWORDS.iter().any(|(word, _)| begins(word, rest)),
    }
}

/// Indent, bullet, emphasis and keyword; what follows them.
fn begin(line: &str) -> Option<(Keyword, &str)> {
    let rest = without_lead(line);
    KEYWORDS.iter().find_map(|(word, keyword)| Some((*keyword, strip_word(rest, word)?)))
}

fn without_lead(line: &str) -> &str {
    let rest = line.trim_start_matches(' ');
    if line.len() - rest.len() > 3 {
        return line;
    }
    let rest = without_bullet(rest);
    without_emphasis(rest)
}

fn without_bullet(text: &str) -> &str {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match text.len() - after.len() {
        0 => after.strip_prefix(['-', '*', '+']),
        1..=3 => after.strip_prefix(['.', ')']),
        _ => None,
    };
    rest.and_then(strip_blank).unwrap_or(text)
}

fn without_emphasis(text: &str) -> &str {
    EMPHASIS.iter().find_map(|emphasis| text.strip_prefix(emphasis)).unwrap_or(text)
}

/// `sep`: emphasis, colon, blank.
fn separated(rest: &str) -> Result<&str, &'static str> {
    let rest = without_emphasis(rest);
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    if rest.trim().is_empty() {
        return Err("it has no text");
    }
    strip_blank(rest).ok_or("a space must follow the keyword")
}

fn body(keyword: Keyword, rest: &str) -> Result<Marker, &'static str> {
    let rest = without_end(rest);
    match keyword {
        Keyword::Goal => text(rest).map(Marker::Goal),
        Keyword::Next => text(rest).map(Marker::Next),
        Keyword::Checkpoint => {
            let status = split_status(rest).and_then(|(before, word)| Some((before, checkpoint_status(&word)?)));
            let (rest, status) = status.map_or((rest, None), |(before, status)| (before, Some(status)));
            Ok(Marker::Checkpoint(text(rest)?, status))
        }
        Keyword::Decision => match split_status(rest).filter(|(_, word)| word == "LOCKED") {
            Some((before, _)) => Ok(Marker::Decision { text: text(before)?, lock: true }),
            None => Ok(Marker::Decision { text: text(rest)?, lock: false }),
        },
        Keyword::Artifact => artifact(rest),
    }
}

fn artifact(rest: &str) -> Result<Marker, &'static str> {
    let actions = [
        ("Created", ArtifactAction::Created),
        ("Modified", ArtifactAction::Modified),
        ("Deleted", ArtifactAction::Deleted),
    ];
    let wrong = "it says neither Created, Modified nor Deleted and a path";
    for (word, action) in actions {
        let Some(rest) = strip_word(rest, word) else { continue };
        let path = strip_blank(rest.strip_prefix(':').unwrap_or(rest)).ok_or(wrong)?;
        let path = path.replace('`', "").trim().to_owned();
        return match path.chars().count() {
            0 => Err(wrong),
            1..=MAX_PATH => Ok(Marker::Artifact(action, path)),
            _ => Err("the path is longer than 400 characters"),
        };
    }
    Err(wrong)
}

fn text(rest: &str) -> Result<String, &'static str> {
    let text = rest.trim();
    if let Some((_, word)) = split_status(text)
        && NO_STATUS.contains(&word.as_str())
    {
        return Err("a step is COMPLETED, PENDING or IN PROGRESS, a decision LOCKED; nothing else is a status");
    }
    match text.chars().count() {
        0 => Err("it has no text"),
        1..=MAX_DESCRIPTION => Ok(text.to_owned()),
        _ => Err("the text is longer than 300 characters"),
    }
}

/// What stands before the last dash and, in capitals with single blanks, what stands after it.
fn split_status(text: &str) -> Option<(&str, String)> {
    let dashes = text.char_indices().filter(|(_, c)| matches!(c, '-' | '–' | '—'));
    let parts = |(at, dash): (usize, char)| {
        let (before, after) = (&text[..at], &text[at + dash.len_utf8()..]);
        let apart = before.ends_with(is_blank) && after.starts_with(is_blank) && !before.trim().is_empty();
        let word = after.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase();
        apart.then_some((before.trim_end(), word))
    };
    dashes.filter_map(parts).next_back()
}

fn checkpoint_status(word: &str) -> Option<CheckpointStatus> {
    match word {
        "COMPLETED" => Some(CheckpointStatus::Completed),
        "PENDING" => Some(CheckpointStatus::Pending),
        "IN PROGRESS" | "IN-PROGRESS" => Some(CheckpointStatus::InProgress),
        _ => None,
    }
}

/// A body without the emphasis and punctuation that follow it. Emphasis that was opened inside the text belongs to it.
fn without_end(rest: &str) -> &str {
    let mut rest = rest.trim_end();
    loop {
        let closes_the_line = |emphasis| {
            let before: &str = rest.strip_suffix(emphasis)?;
            (before.matches(emphasis).count() % 2 == 0).then_some(before)
        };
        let before = rest.strip_suffix(['.', '!']).or_else(|| EMPHASIS.into_iter().find_map(closes_the_line));
        match before {
            Some(before) => rest = before,
            None => return rest.trim_end(),
        }
    }
}

/// What follows a word, in any case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

/// Whether a text is the beginning of a word, in any case.
fn begins(word: &str, text: &str) -> bool {
    word.get(..text.len()).is_some_and(|head| head.eq_ignore_ascii_case(text))
}

/// What follows one or more blanks.
fn strip_blank(text: &str) -> Option<&str> {
    text.starts_with(is_blank).then(|| text.trim_start_matches(is_blank))
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use ArtifactAction::{Created, Deleted, Modified};
    use CheckpointStatus::{Completed, InProgress, Pending};

    fn goal(text: &str) -> Option<Result<Marker, ()>> {
        Some(Ok(Marker::Goal(text.to_owned())))
    }

    fn step(text: &str, status: Option<CheckpointStatus>) -> Option<Result<Marker, ()>> {
        Some(Ok(Marker::Checkpoint(text.to_owned(), status)))
    }

    fn decision(text: &str, lock: bool) -> Option<Result<Marker, ()>> {
        Some(Ok(Marker::Decision { text: text.to_owned(), lock }))
    }

    fn artifact(action: ArtifactAction, path: &str) -> Option<Result<Marker, ()>> {
        Some(Ok(Marker::Artifact(action, path.to_owned())))
    }

    fn next(text: &str) -> Option<Result<Marker, ()>> {
        Some(Ok(Marker::Next(text.to_owned())))
    }

    fn check(cases: &[(&str, Option<Result<Marker, ()>>)]) {
        for (line, wanted) in cases {
            assert_eq!(&read(line).map(|read| read.map_err(|_| ())), wanted, "{line}");
        }
    }

    // OLLM-080
    #[test]
    fn what_the_grammar_accepts() {
        check(&[
            ("[GOAL] Implement user authentication system", goal("Implement user authentication system")),
            (
                "[CHECKPOINT] Design authentication flow - COMPLETED",
                step("Design authentication flow", Some(Completed)),
            ),
            ("[DECISION] Use JWT for authentication - LOCKED", decision("Use JWT for authentication", true)),
            ("[ARTIFACT] Created src/auth/login.ts", artifact(Created, "src/auth/login.ts")),
            ("[NEXT] Implement JWT token generation", next("Implement JWT token generation")),
            ("[CHECKPOINT] Draw the flow - COMPLETED", step("Draw the flow", Some(Completed))),
            ("- **[checkpoint]** 2. Add login – in progress.", step("2. Add login", Some(InProgress))),
            ("[DECISION] Use X - it is fast - LOCKED", decision("Use X - it is fast", true)),
            ("[ARTIFACT] Created: src/a b.rs", artifact(Created, "src/a b.rs")),
            ("1) [NEXT] Write tests", next("Write tests")),
            ("   __[Goal]__:\tX!  ", goal("X")),
            ("**[GOAL] X**", goal("X")),
            ("* [checkpoint] Y — Pending**.", step("Y", Some(Pending))),
            ("[CHECKPOINT] Y - in-progress", step("Y", Some(InProgress))),
            ("[CHECKPOINT] Y", step("Y", None)),
            ("[CHECKPOINT] Y - LOCKED", step("Y - LOCKED", None)),
            ("[CHECKPOINT] Y -COMPLETED", step("Y -COMPLETED", None)),
            ("[DECISION] Y - COMPLETED", decision("Y - COMPLETED", false)),
            ("[artifact] modified `a.rs`.", artifact(Modified, "a.rs")),
            ("[ARTIFACT] DELETED src/__init__", artifact(Deleted, "src/__init__")),
            ("[NEXT] Make it **bold**.", next("Make it **bold**")),
            ("123. [GOAL] X", goal("X")),
        ]);
    }

    // OLLM-080 OLLM-130
    #[test]
    fn what_the_grammar_rejects() {
        let lines = [
            "[CHECKPOINT]",
            "[DECISION] Use X - UNLOCKED",
            "[decision] Use X – unlocked.",
            "[CHECKPOINT] X - BLOCKED",
            "[CHECKPOINT] X - DONE",
            "[CHECKPOINT] X - DONE - COMPLETED",
            "[NEXT] X - DONE",
            "[ARTIFACT] Touched a.rs",
            "[ARTIFACT] Created",
            "[ARTIFACT] Created ``",
            "[GOAL]   ",
            "[GOAL] ...",
            "[GOAL]X",
        ];
        check(&lines.map(|line| (line, Some(Err(())))));
        let (long, longest) = ("x".repeat(301), "x".repeat(300));
        check(&[(&format!("[GOAL] {long}"), Some(Err(()))), (&format!("[GOAL] {longest}"), goal(&longest))]);
        let (long, longest) = ("p".repeat(401), "p".repeat(400));
        check(&[
            (&format!("[ARTIFACT] Created {long}"), Some(Err(()))),
            (&format!("[ARTIFACT] Created {longest}"), artifact(Created, &longest)),
        ]);
    }

    // OLLM-080
    #[test]
    fn what_is_only_text() {
        let lines = [
            "> [GOAL] x",
            "see [GOAL] x",
            "[GOALS] x",
            "[GOAL](url)",
            "[GOAL][1]",
            "    [GOAL] x",
            "\t[GOAL] x",
            "`[GOAL] x`",
            "1234. [GOAL] x",
            "-[GOAL] x",
            "[ GOAL ] x",
            "",
            "[é",
        ];
        check(&lines.map(|line| (line, None)));
    }

    // OLLM-085
    #[test]
    fn every_beginning_of_a_marker_may_become_one() {
        for line in ["[GOAL] X", "  - **[checkpoint]** Y", "12) __[Next]__ Z", "[ARTIFACT] Created a"] {
            for at in (0..line.len()).filter(|at| line.is_char_boundary(*at)) {
                assert!(may_become(&line[..at]), "{:?}", &line[..at]);
            }
        }
        for line in ["Hello", "> [GOAL]", "see [GOAL]", "[GOALS", "[link](x)", "1. First", "    [GOAL]"] {
            assert!(!may_become(line), "{line:?}");
        }
    }
}
