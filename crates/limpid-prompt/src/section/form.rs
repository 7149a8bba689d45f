//! The texts of a section.

use limpid_core::Tier;

use crate::source::SourceRef;
use crate::template::Template;

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
