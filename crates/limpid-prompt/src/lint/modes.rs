//! Findings about modes: tiers that have no template of their own.

use limpid_core::Tier;

use crate::problem::Problem;
use crate::section::Form;
use crate::source::Layer;

use super::own::{Own, warn};

/// A mode of the owner's that lacks tiers works, with the nearest tier's text; here it says which file is missing. The
/// modes that ship leave out tiers on purpose.
pub(super) fn missing_tiers(own: Own<'_>, problems: &mut Vec<Problem>) {
    for mode in own.profile.modes.values() {
        let is_owners = |form: &&Form| form.source.layer == Layer::Home && own.has(&form.source.path);
        let Some((file, body)) = mode.tiers.iter().flatten().find(is_owners).and_then(|form| own.body(form)) else {
            continue;
        };
        let lacking = Tier::ALL.into_iter().filter_map(|tier| {
            let found = own.profile.mode(&mode.name, tier).ok()??;
            (!found.tried.is_empty()).then(|| (tier.number().to_string(), found))
        });
        let (tiers, found): (Vec<String>, Vec<_>) = lacking.unzip();
        let Some(expected) = found.first().and_then(|found| found.tried.first()) else { continue };
        let mut used: Vec<String> = found.iter().map(|found| found.form.source.file()).collect();
        used.dedup();
        let message = format!(
            "mode {} has no template for tier {} (there is no {expected}); {} is used",
            mode.name,
            tiers.join(", "),
            used.join(" or ")
        );
        warn(problems, file, body.start..body.start, message, &format!("write {expected}, or leave it so"));
    }
}
