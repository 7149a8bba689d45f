//! A section: one named piece of prompt text.

pub(crate) mod build;
pub(crate) mod front;
mod subject;

use std::sync::Arc;

pub use subject::Subject;

use limpid_core::Tier;

use crate::profile::GroupBudget;
use crate::prompt::Stability;
use crate::scope::{Record, Scope, View};
use crate::source::SourceRef;
use crate::template::{Filter, Gate, Name, Template};

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

impl EntryList {
    /// The items that are taken, and how many there were in all.
    pub fn items<'a>(&self, scope: &Scope<'a>) -> (Vec<Record<'a>>, usize) {
        let View::List(mut items) = scope.lookup(&self.of.path) else { return (Vec::new(), 0) };
        let all = items.len();
        match self.take {
            Take::All => {}
            Take::First(count) => items.truncate(count),
            Take::Last(count) => drop(items.drain(..all.saturating_sub(count))),
        }
        (items.into_iter().map(Record::from).collect(), all)
    }
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

/// The texts of a section by tier.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    pub(crate) tiers: [Option<Form>; 5],
    pub(crate) body: Option<Form>,
}

impl Forms {
    /// The text for a tier: its own, else the body, else the nearest lower tier's, else the nearest higher one's.
    pub fn get(&self, tier: Tier) -> Option<&Form> {
        self.tiers[tier.index()].as_ref().or(self.body.as_ref()).or_else(|| nearest(&self.tiers, tier))
    }
}

/// The form of the nearest lower tier, else of the nearest higher one.
fn nearest(tiers: &[Option<Form>; 5], tier: Tier) -> Option<&Form> {
    let (lower, higher) = tiers.split_at(tier.index());
    lower.iter().rev().chain(higher).flatten().next()
}

/// One text of a section: a template and the lines that it stands on.
#[derive(Clone, Debug)]
pub struct Form {
    /// Where it stands.
    pub source: SourceRef,
    /// The compiled text.
    pub template: Template,
}
