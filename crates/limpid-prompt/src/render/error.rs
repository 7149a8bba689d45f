//! Why a prompt cannot be rendered.

use std::fmt;

use super::draft::Draft;
use crate::profile::{Unit, UnknownName};
use crate::source::SourceRef;

/// Why a prompt cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// No profile defines the path.
    #[error("{0}")]
    UnknownPath(UnknownName),
    /// The profile has no such mode.
    #[error("{0}")]
    UnknownMode(UnknownName),
    /// What may not be cut is over a budget by itself.
    #[error(transparent)]
    Overfull(Box<Overfull>),
}

/// A budget that what must stay does not fit into.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Overfull {
    /// What is over its budget: `path chat-local`, `message 0 (system) of path chat-local`, `budget memories`.
    pub what: String,
    /// How much is allowed.
    pub limit: usize,
    /// What is counted.
    pub unit: Unit,
    /// How much what must stay takes.
    pub needed: usize,
    /// What must stay, and how much each takes; the largest first.
    pub sizes: Vec<Size>,
}

/// How much one thing takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The section, `history` or `tools`.
    pub section: String,
    /// Its size in the budget's unit.
    pub size: usize,
    /// The file that its text stands in, when that is one.
    pub source: Option<SourceRef>,
}

impl Size {
    pub(crate) fn new(section: &str, size: usize) -> Self {
        Self { section: section.to_owned(), size, source: None }
    }

    pub(super) fn of_draft(draft: &Draft<'_>, size: usize) -> Self {
        Self { source: draft.source().cloned(), ..Self::new(&draft.section.id, size) }
    }
}

impl fmt::Display for Overfull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit.as_str();
        write!(f, "{}: what must stay takes {} of {} {unit}: ", self.what, self.needed, self.limit)?;
        for (n, size) in self.sizes.iter().enumerate() {
            write!(f, "{}{} {}", if n > 0 { ", " } else { "" }, size.section, size.size)?;
        }
        f.write_str(
            "; shorten one of them, move parts of it into a skill, take a lower tier's text, or give a section a \
                     `drop` number",
        )
    }
}
