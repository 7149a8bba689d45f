//! What the texts of one prompt can name: its inputs, its profile, and the tools that are there.

use std::borrow::Cow;
use std::collections::BTreeMap;

use limpid_core::Tier;

use crate::inputs::{GoalInput, Inputs, ToolInput, ToolPlacement, ToolProtocolName};
use crate::profile::{Path, Profile};

/// Everything that the texts of one prompt can name.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    inputs: &'a Inputs,
    profile: &'a Profile,
    tier: Tier,
    boundary: &'a str,
    /// The goal as far as there is room for it.
    pub(super) goal: Option<&'a GoalInput>,
    /// The goal that the conversation's stored text shows.
    pub(super) stored_goal: Option<&'a GoalInput>,
    offered: Vec<&'a ToolInput>,
    sent: Vec<&'a ToolInput>,
    exist: Vec<&'a ToolInput>,
    left_out: Vec<&'a ToolInput>,
    pub(super) listed: Vec<&'a ToolInput>,
    /// What templates of the profile say of tools, by the tools' names.
    described: BTreeMap<&'a str, String>,
}

impl<'a> Scope<'a> {
    /// The names of one prompt, without what templates of the profile say of tools.
    pub(crate) fn bare(inputs: &'a Inputs, profile: &'a Profile, path: &Path, tier: Tier, boundary: &'a str) -> Self {
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
        let described = BTreeMap::new();
        Self { inputs, profile, tier, boundary, goal, stored_goal, offered, sent, exist, left_out, listed, described }
    }

    /// The same names with these goals in place of those of the inputs.
    #[must_use]
    pub(crate) fn showing(self, goal: Option<&'a GoalInput>, stored_goal: Option<&'a GoalInput>) -> Self {
        Self { goal, stored_goal, ..self }
    }

    /// The same names with what templates of the profile say of tools.
    #[must_use]
    pub(crate) fn with_descriptions(self, described: BTreeMap<&'a str, String>) -> Self {
        Self { described, ..self }
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
            Some(text) if tool.description.is_empty() => match self.described.get(tool.name.as_str()) {
                Some(told) => Cow::Owned(told.clone()),
                None => Cow::Borrowed(&text.description),
            },
            _ => Cow::Borrowed(&tool.description),
        }
    }

    pub(super) fn offers(&self, name: &str) -> bool {
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
