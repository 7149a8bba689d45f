//! Lists that sections print entry by entry.

use crate::template::{Name, Template};

/// A list that a section prints entry by entry.
#[derive(Clone, Debug)]
pub struct EntryList {
    /// The name that stands for it in the body: `entries`, or its own.
    pub name: String,
    /// Where its items come from.
    pub of: Name,
    /// How an item is written.
    pub entry: Template,
    /// What stands between two entries.
    pub join: String,
    /// Which items are taken at all.
    pub take: Take,
}

/// Which items of a list are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Every one.
    All,
    /// The first so many.
    First(usize),
    /// The last so many.
    Last(usize),
}
