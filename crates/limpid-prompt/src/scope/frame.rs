//! The names of a prompt as one text sees them.

use crate::scope::data::Scope;
use crate::scope::record::Record;
use crate::scope::view::View;
use crate::template::Slot;

/// A scope as one text sees it: with the item of an entry, and with what became of the section's lists.
#[derive(Clone, Debug)]
pub struct Frame<'s, 'a> {
    scope: &'s Scope<'a>,
    item: Option<(Record<'a>, usize)>,
    filled: &'s [bool],
}

impl<'s, 'a> Frame<'s, 'a> {
    /// For a gate, or for a body without lists.
    pub fn new(scope: &'s Scope<'a>) -> Self {
        Self { scope, item: None, filled: &[] }
    }

    /// For a body: `filled` says of each list of the section whether an entry of it is left.
    pub fn of_body(scope: &'s Scope<'a>, filled: &'s [bool]) -> Self {
        Self { scope, item: None, filled }
    }

    /// For the entry of an item; `n` counts from 1.
    pub fn of_item(scope: &'s Scope<'a>, item: Record<'a>, n: usize) -> Self {
        Self { scope, item: Some((item, n)), filled: &[] }
    }

    /// The names that every text sees.
    pub fn scope(&self) -> &'s Scope<'a> {
        self.scope
    }

    pub(crate) fn item_field(&self, path: &[String]) -> View<'a> {
        match (&self.item, path) {
            (Some((_, n)), [name]) if name == "n" => View::Int(i64::try_from(*n).unwrap_or(i64::MAX)),
            (Some((item, _)), path) => View::Record(item.clone()).at(path, self.scope),
            (None, _) => View::Absent,
        }
    }

    pub(crate) fn is_filled(&self, slot: Slot) -> bool {
        match slot {
            Slot::Mode => true,
            Slot::List(number) => self.filled.get(number).copied().unwrap_or(false),
        }
    }
}
