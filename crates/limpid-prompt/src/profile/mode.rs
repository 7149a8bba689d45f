//! Modes: templates by tier.

use limpid_core::Tier;

use crate::section::Form;

/// A mode: templates by tier.
#[derive(Clone, Debug, Default)]
pub struct Mode {
    pub(crate) name: String,
    pub(crate) tiers: [Option<Form>; 5],
}

impl Mode {
    pub(super) fn get(&self, tier: Tier) -> Option<ModeForm<'_>> {
        let found = self.places(tier).find(|at| self.tiers[at.index()].is_some())?;
        let tried = self.places(tier).take_while(|at| *at != found).map(|at| self.file(at)).collect();
        Some(ModeForm { form: self.tiers[found.index()].as_ref()?, tried })
    }

    /// The tiers in the order in which a template is looked for: the tier, lower ones, higher ones.
    pub(super) fn places(&self, tier: Tier) -> impl Iterator<Item = Tier> + use<> {
        let (lower, higher) = Tier::ALL.split_at(tier.index() + 1);
        lower.iter().rev().chain(higher).copied()
    }

    pub(super) fn file(&self, tier: Tier) -> String {
        format!("modes/{}/tier{}.md", self.name, tier.number())
    }
}

/// A mode's template that was found for a tier.
#[derive(Clone, Debug)]
pub struct ModeForm<'a> {
    /// The template.
    pub form: &'a Form,
    /// Places that were looked at in vain; empty when the tier has its own file.
    pub tried: Vec<String>,
}
