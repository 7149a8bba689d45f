//! The names that templates may use, over the inputs of one prompt.

mod derived;
mod fields;
mod json;
mod pick;
mod record;
mod view;
mod workspace;

use std::borrow::Cow;

use limpid_core::Tier;

pub(crate) use json::schema_in_short;
pub use record::{GroupView, Record};
pub use view::{Foreign, Plain, View};

use crate::inputs::{GoalInput, Inputs, ToolInput, ToolPlacement, ToolProtocolName};
use crate::profile::{Path, Profile, ToolGroup};
use crate::template::Slot;

/// Everything that the texts of one prompt can name.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    inputs: &'a Inputs,
    profile: &'a Profile,
    tier: Tier,
    boundary: &'a str,
    /// The goal as far as there is room for it.
    goal: Option<&'a GoalInput>,
    /// The goal that the conversation's stored text shows.
    stored_goal: Option<&'a GoalInput>,
    offered: Vec<&'a ToolInput>,
    sent: Vec<&'a ToolInput>,
    exist: Vec<&'a ToolInput>,
    left_out: Vec<&'a ToolInput>,
    listed: Vec<&'a ToolInput>,
}

impl<'a> Scope<'a> {
    /// The names of one prompt.
    pub fn new(inputs: &'a Inputs, profile: &'a Profile, path: &Path, tier: Tier, boundary: &'a str) -> Self {
        let exist = callable(inputs, path);
        let of = |wanted: &[ToolPlacement]| exist.iter().copied().filter(|tool| wanted.contains(&tool.reach)).collect();
        let offered: Vec<&ToolInput> = of(&[ToolPlacement::Declared]);
        let sent = of(&[ToolPlacement::Declared, ToolPlacement::Added, ToolPlacement::Found]);
        let left_out = of(&[ToolPlacement::LeftOut]);
        let mut listed = offered.clone();
        let order = profile.tool_order();
        listed.sort_by_cached_key(|tool| {
            let at = order.iter().position(|name| *name == tool.name).unwrap_or(usize::MAX);
            (at, tool.name.as_str())
        });
        let goal = inputs.goal.as_ref();
        let stored_goal = inputs.changed.stored.as_ref().map_or(goal, |stored| stored.goal.as_ref());
        Self { inputs, profile, tier, boundary, goal, stored_goal, offered, sent, exist, left_out, listed }
    }

    /// The same names with these goals in place of those of the inputs.
    #[must_use]
    pub(crate) fn with_goals(self, goal: Option<&'a GoalInput>, stored_goal: Option<&'a GoalInput>) -> Self {
        Self { goal, stored_goal, ..self }
    }

    /// The inputs.
    pub fn inputs(&self) -> &'a Inputs {
        self.inputs
    }

    /// The profile that is rendered.
    pub fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// The prompt's tier.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The tag of this prompt's boundaries.
    pub fn boundary(&self) -> &'a str {
        self.boundary
    }

    /// The tools that are offered on the path, in the order of the inputs: those that texts may speak of.
    pub fn offered(&self) -> &[&'a ToolInput] {
        &self.offered
    }

    /// The tools that travel: the offered ones and those that came or were found later, in the order of the inputs.
    pub fn sent(&self) -> &[&'a ToolInput] {
        &self.sent
    }

    /// The tools of the path, whether they travel or not, in the order of the inputs.
    pub fn existing(&self) -> &[&'a ToolInput] {
        &self.exist
    }

    /// The tools that wait until they are found, in the order of the inputs.
    pub(crate) fn waiting(&self) -> Vec<&'a ToolInput> {
        self.exist.iter().copied().filter(|tool| tool.reach == ToolPlacement::Deferred).collect()
    }

    /// The tools of the path that there is no room for.
    pub fn left_out(&self) -> &[&'a ToolInput] {
        &self.left_out
    }

    /// What a tool's description is: the one that it brought along, else the profile's.
    pub fn description(&self, tool: &'a ToolInput) -> Cow<'a, str> {
        match self.profile.tool(&tool.name) {
            Some(text) if tool.description.is_empty() => text.told(&Frame::new(self)),
            _ => Cow::Borrowed(&tool.description),
        }
    }

    fn groups(&self) -> Vec<GroupView<'a>> {
        let group = |group: &'a ToolGroup| {
            let names = group.names.iter().filter(|name| self.offers(name)).map(String::as_str).collect();
            GroupView { title: &group.title, names }
        };
        self.profile.groups().iter().map(group).filter(|group| !group.names.is_empty()).collect()
    }

    fn offers(&self, name: &str) -> bool {
        self.offered.iter().any(|tool| tool.name == name)
    }
}

/// The tools that exist and that belong to a path; none for a model that cannot call any.
fn callable<'a>(inputs: &'a Inputs, path: &Path) -> Vec<&'a ToolInput> {
    if !inputs.model.tools || inputs.model.tool_protocol == ToolProtocolName::None {
        return Vec::new();
    }
    inputs.tools.iter().filter(|tool| path.offers(&tool.name, inputs.model.local)).collect()
}

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

#[cfg(test)]
mod tests;
