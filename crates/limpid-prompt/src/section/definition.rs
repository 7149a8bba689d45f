//! One section, checked and compiled.

use std::sync::Arc;

use super::form::Forms;
use super::list::EntryList;
use super::stability::Stability;
use super::subject::Subject;
use crate::profile::GroupBudget;
use crate::source::SourceRef;
use crate::template::{Filter, Gate, Name};

/// One named piece of prompt text, checked and compiled.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name: that of its file.
    pub id: String,
    /// Its title for people.
    pub title: String,
    /// What it is for.
    pub why: String,
    /// The condition under which it is there; none: always.
    pub when: Option<Gate>,
    /// How often its text changes.
    pub stability: Stability,
    /// The lists that its body prints, in the order in which templates number them.
    pub lists: Vec<EntryList>,
    /// Whether the section is absent when no entry is left (`entries` of the front matter, not `lists`).
    pub needs_entries: bool,
    /// The group whose budget its entries share.
    pub budget: Option<Arc<GroupBudget>>,
    /// When it is dropped from a message or prompt over its budget.
    pub drop: DropOrder,
    /// How it is shortened before it is dropped.
    pub trim: Option<Trim>,
    /// Entries or paragraphs that trimming leaves at least.
    pub keep: usize,
    /// The input whose text stands in place of the body: absent input, the body; empty, no section.
    pub from: Option<Name>,
    /// The filters that the text of that input goes through.
    pub(crate) from_filters: Vec<Filter>,
    /// Its text, by tier.
    pub forms: Forms,
    /// What it shows.
    pub subject: Subject,
    /// The shipped file that a file of the owner's hides.
    pub shadows: Option<SourceRef>,
}

impl Section {
    /// Whether this is the reserved section of the mode's template.
    pub fn is_mode(&self) -> bool {
        self.id == "mode"
    }
}

/// When a section is dropped from what is over its budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropOrder {
    /// It stays.
    #[default]
    Never,
    /// In this order, 1 to 9; the highest goes first.
    At(u8),
}

/// How a section is shortened, from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// Entry by entry.
    Entries,
    /// Paragraph by paragraph.
    Paragraphs,
}
