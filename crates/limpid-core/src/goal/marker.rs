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

/// A line that begins as a marker and is none: it is reported and changes nothing. Its words are not repeated: a model may have
/// them from a stranger, and the report is in Limpid's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a `{keyword}` line changes nothing: {reason}")]
pub struct Rejected {
    /// Its keyword, with the brackets.
    pub keyword: &'static str,
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

/// Bytes of a line that can be a marker: the longest path in the largest letters, with room for what stands around it. Longer lines
/// are not taken apart.
const LONGEST: usize = 8 * MAX_PATH;

const EMPHASIS: [&str; 2] = ["**", "__"];

/// Bytes of the end of a line.
const LINE_END: usize = 2;

/// Words that look like a status and are none.
const NO_STATUS: [&str; 3] = ["UNLOCKED", "BLOCKED", "DONE"];

/// Reads one line without its end; none when it is text.
pub fn read(line: &str) -> Option<Result<Marker, Rejected>> {
    let (word, keyword, rest) = begin(line)?;
    // A link is text.
    if rest.starts_with(['(', '[']) {
        return None;
    }
    let rejected = |reason| Rejected { keyword: word, reason };
    if line.len() > LONGEST {
        return Some(Err(rejected("the line is far too long for one")));
    }
    Some(separated(rest).and_then(|rest| body(keyword, rest)).map_err(rejected))
}

/// Whether a line that is not over yet may still become a marker: what a display holds back.
pub fn may_become(line: &str) -> bool {
    // It is asked again with each piece that comes, so what is too long for a marker is looked through no more.
    if line.len() > LONGEST + LINE_END {
        return false;
    }
    if begin(line).is_some() {
        return true;
    }
    let rest = without_lead(line);
    // White space, however much, digits and emphasis may still be followed by a keyword.
    let open = |c: char| matches!(c, '-' | '*' | '+' | '_' | '.' | ')') || c.is_ascii_digit();
    let marks = || line.chars().filter(|c| !is_blank(*c));
    match rest.find('[') {
        None => marks().count() <= 12 && marks().all(open),
        Some(at) => rest[..at].is_empty() && KEYWORDS.iter().any(|(word, _)| begins(word, rest)),
    }
}

/// Indent, bullet, emphasis and keyword; what follows them.
fn begin(line: &str) -> Option<(&'static str, Keyword, &str)> {
    let rest = without_lead(line);
    KEYWORDS.iter().find_map(|(word, keyword)| Some((*word, *keyword, strip_word(rest, word)?)))
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
    let dashes = text.char_indices().rev().filter(|(_, c)| matches!(c, '-' | '–' | '—'));
    let mut parts = dashes.map(|(at, dash)| (&text[..at], &text[at + dash.len_utf8()..]));
    let (before, after) = parts.find(|(before, after)| before.ends_with(is_blank) && after.starts_with(is_blank))?;
    // What is blank before the last such dash is so before each.
    let before = Some(before.trim_end()).filter(|before| !before.trim_start().is_empty())?;
    Some((before, after.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase()))
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
    // Counted once: each that is taken away is one less.
    let mut left = EMPHASIS.map(|emphasis| rest.matches(emphasis).count());
    loop {
        if let Some(before) = rest.strip_suffix(['.', '!']) {
            rest = before;
            continue;
        }
        let closes_the_line = |at: &usize| rest.ends_with(EMPHASIS[*at]) && left[*at] % 2 == 1;
        let Some(at) = (0..EMPHASIS.len()).find(closes_the_line) else { return rest.trim_end() };
        left[at] -= 1;
        rest = &rest[..rest.len() - EMPHASIS[at].len()];
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
mod tests;
