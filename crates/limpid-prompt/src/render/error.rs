//! Why a prompt cannot be rendered.

use std::fmt;

use crate::profile::{Unit, UnknownName};
use crate::prompt::Size;

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
