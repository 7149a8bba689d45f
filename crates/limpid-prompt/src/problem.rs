//! What is wrong with a profile: where, and what to do about it.

use std::fmt;
use std::ops::Range;

use crate::boundary::is_invisible;
use crate::source::{Layer, SourceRef};

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The file cannot be used as it stands.
    Error,
    /// The file works, but hardly as it was meant.
    Warning,
}

/// One thing that is wrong with a file of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Which file.
    pub layer: Layer,
    /// Its path inside the folder of profiles.
    pub path: String,
    /// Where in the file, when it is about a place in it.
    pub place: Option<Place>,
    /// What to do.
    pub fix: String,
    /// What stands in for the file, when the file was set aside.
    pub kept: Option<String>,
}

/// A place in a file, with its line as an excerpt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// How many characters are meant; at least 1.
    pub width: u32,
    /// The line's text.
    pub excerpt: String,
}

impl Place {
    /// The place of a range of bytes in a text; beyond its end, the last line.
    pub(crate) fn in_text(text: &str, range: Range<usize>) -> Self {
        let start = floor(text, range.start);
        let head = &text[..start];
        let line_start = head.rfind('\n').map_or(0, |at| at + 1);
        let excerpt = text[line_start..].lines().next().unwrap_or_default();
        let end = floor(text, range.end.max(start)).min(line_start + excerpt.len());
        Self {
            line: count(head.matches('\n').count()) + 1,
            column: count(text[line_start..start].chars().count()) + 1,
            width: count(text.get(start..end).unwrap_or_default().chars().count()).max(1),
            // What cannot be seen, or turns the line around, would hide the very thing that is shown.
            excerpt: excerpt.chars().map(|c| if is_invisible(c) { char::REPLACEMENT_CHARACTER } else { c }).collect(),
        }
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.severity, self.message)?;
        write!(f, " --> {}:profiles/{}", self.layer, self.path)?;
        if let Some(place) = &self.place {
            let margin = " ".repeat(place.line.to_string().len());
            let space = " ".repeat(place.column as usize - 1);
            writeln!(f, ":{}:{}", place.line, place.column)?;
            writeln!(f, "{margin} |")?;
            writeln!(f, "{} | {}", place.line, place.excerpt)?;
            write!(f, "{margin} | {space}{}", "^".repeat(place.width as usize))?;
        }
        write!(f, "\n help: {}", self.fix)?;
        if let Some(kept) = &self.kept {
            write!(f, "\n note: {kept}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// A file of a profile that is text, with what problems in it need to say where they are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) layer: Layer,
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// An error in the file.
    pub(crate) fn error(&self, fault: Fault) -> Problem {
        self.problem(Severity::Error, fault)
    }

    /// Something in the file that works, but hardly as it was meant.
    pub(crate) fn warning(&self, fault: Fault) -> Problem {
        self.problem(Severity::Warning, fault)
    }

    fn problem(&self, severity: Severity, fault: Fault) -> Problem {
        Problem {
            severity,
            message: fault.message,
            layer: self.layer,
            path: self.path.clone(),
            place: Some(Place::in_text(&self.text, fault.at)),
            fix: fault.fix,
            kept: None,
        }
    }

    /// The lines of a range of bytes.
    pub(crate) fn lines(&self, range: Range<usize>) -> SourceRef {
        let line = |at: usize| count(self.text.get(..at).unwrap_or_default().matches('\n').count()) + 1;
        SourceRef { layer: self.layer, path: self.path.clone(), first: line(range.start), last: line(range.end) }
    }
}

/// Something wrong in a text that is part of a file; whoever knows the file makes a [`Problem`] of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
    pub(crate) fix: String,
}

impl Fault {
    pub(crate) fn new(at: Range<usize>, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { at, message: message.into(), fix: fix.into() }
    }
}

/// The known name that is most like an unknown one, when one is like it at all.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let measured = known.into_iter().map(|candidate| (distance(name, candidate), candidate));
    measured.filter(|(far, _)| *far <= limit).min_by_key(|(far, _)| *far).map(|(_, candidate)| candidate)
}

/// Letters to insert, remove or replace to turn one word into the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, other) in right.iter().enumerate() {
            let change = diagonal + usize::from(letter != *other);
            diagonal = row[place + 1];
            row[place + 1] = change.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[right.len()]
}
