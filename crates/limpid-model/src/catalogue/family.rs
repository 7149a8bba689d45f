//! Models that no table lists: behind a gateway, or newer than the table.

use serde::Deserialize;

use super::pattern::{fit, starred};

/// Names that are taken to be like another model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
    names: Vec<String>,
    /// The model that these are like. With `*` it is the same model under another provider's name, and the star is what
    /// the last star of the name stands for.
    like: String,
}

/// What a name is taken to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The same model elsewhere, by one of these names.
    Same(Vec<String>),
    /// A newer one of this model's family.
    Newer(String),
}

impl Family {
    pub(super) fn check(&self) -> Result<(), String> {
        let names = self.names.iter().chain([&self.like]);
        names
            .into_iter()
            .find(|name| !name.contains('/'))
            .map_or(Ok(()), |name| Err(format!("`{name}` in a [[family]] is no model's name; write `provider/model`")))
    }

    /// What a name in small letters is taken to be by the longest name of these families that fits.
    pub(super) fn take(families: &[Self], name: &str) -> Option<Taken> {
        let all = families.iter().flat_map(|family| family.names.iter().map(move |pattern| (pattern, family)));
        let fitting = all.filter_map(|(pattern, family)| Some((fit(&pattern.to_lowercase(), name)?, pattern, family)));
        let (_, pattern, family) = fitting.max_by_key(|(length, ..)| *length)?;
        let Some((provider, _)) = family.like.split_once('*') else { return Some(Taken::Newer(family.like.clone())) };
        let rest = starred(&pattern.to_lowercase(), name)?;
        // Gateways write 4.5 where the maker writes 4-5, and the other way round.
        Some(Taken::Same(vec![format!("{provider}{rest}"), format!("{provider}{}", rest.replace('.', "-"))]))
    }
}
