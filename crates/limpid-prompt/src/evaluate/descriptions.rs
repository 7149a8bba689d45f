//! What templates of the profile say of tools.

use std::borrow::Cow;
use std::collections::BTreeMap;

use limpid_core::Tier;

use crate::evaluate::walk::Piece;
use crate::inputs::{GoalInput, Inputs};
use crate::profile::{Path, Profile};
use crate::scope::{Frame, Scope};
use crate::template::Template;

impl<'a> Scope<'a> {
    /// The names of one prompt.
    pub fn new(inputs: &'a Inputs, profile: &'a Profile, path: &Path, tier: Tier, boundary: &'a str) -> Self {
        Self::bare(inputs, profile, path, tier, boundary).described()
    }

    /// The same names with these goals in place of those of the inputs.
    #[must_use]
    pub(crate) fn with_goals(self, goal: Option<&'a GoalInput>, stored_goal: Option<&'a GoalInput>) -> Self {
        self.showing(goal, stored_goal).described()
    }

    fn described(self) -> Self {
        let frame = Frame::new(&self);
        let without = self.existing().iter().filter(|tool| tool.description.is_empty());
        let templates =
            without.filter_map(|tool| Some((tool.name.as_str(), self.profile().tool(&tool.name)?.template.as_ref()?)));
        let described: BTreeMap<&'a str, String> =
            templates.map(|(name, template)| (name, told(template, &frame))).collect();
        self.with_descriptions(described)
    }
}

/// A description in a prompt. What a stranger wrote has no place in it.
fn told<'a>(template: &'a Template, frame: &Frame<'_, 'a>) -> String {
    let text = template.render(frame).into_iter().map(|piece| match piece {
        Piece::Text(text) => Cow::Borrowed(text),
        Piece::Data(text, _) => text.into_parts().0,
        Piece::Foreign(..) | Piece::Slot(_) => Cow::Borrowed(""),
    });
    text.collect()
}
