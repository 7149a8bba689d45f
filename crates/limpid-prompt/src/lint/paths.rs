//! Findings about whole paths: text that changes every turn before text that could be kept, and parts over a budget.

use limpid_core::Tier;

use crate::count::FixedCounter;
use crate::inputs::Inputs;
use crate::problem::Problem;
use crate::profile::{Path, Profile, Step};
use crate::prompt::Outcome;
use crate::render::{RenderError, RenderRequest};
use crate::section::{Section, Stability};
use crate::template::Gate;

use super::own::{Own, warn};

/// Providers and local engines reuse what comes before the first change.
pub(super) fn prefixes(own: Own<'_>, problems: &mut Vec<Problem>) {
    for path in own_paths(own) {
        let Some((turn, kept)) = first_change(path) else { continue };
        let message = format!(
            "path {}: section `{}` changes every turn and stands before `{}`, which does not",
            path.name, turn.id, kept.id
        );
        let fix = "move it behind the history, so that what stands before it is read from a cache";
        at_path(own, path, message, fix, problems);
    }
}

/// Texts alone, without any data, must fit each budget untrimmed, in each mode and at each tier.
pub(super) fn budgets(own: Own<'_>, counter: &dyn FixedCounter, problems: &mut Vec<Problem>) {
    let modes: Vec<&str> = own.profile.modes().collect();
    for path in own_paths(own).filter(|path| has_budget(path)) {
        let with_mode = path.sections().any(|section| section.is_mode());
        let modes = if with_mode { modes.as_slice() } else { &modes[..modes.len().min(1)] };
        for mode in modes {
            let found =
                Tier::ALL.into_iter().find_map(|tier| Some((tier, over(own.profile, counter, path, mode, tier)?)));
            if let Some((tier, what)) = found {
                let place = if with_mode { format!(" in mode {mode}") } else { String::new() };
                let message = format!("path {} at tier {}{place}: {what}", path.name, tier.number());
                let fix = "shorten the texts of that tier, move parts into skills, take a lower tier's text, or \
                           raise the budget";
                at_path(own, path, message, fix, problems);
            }
        }
    }
}

/// What does not fit, if anything.
fn over(profile: &Profile, counter: &dyn FixedCounter, path: &Path, mode: &str, tier: Tier) -> Option<String> {
    let inputs = Inputs { mode: mode.to_owned(), tier: Some(tier.number()), ..Inputs::default() };
    let request = RenderRequest { path: &path.name, inputs: &inputs, counter, count_tokens: true };
    match profile.render(request) {
        Ok(prompt) => {
            let cut = |outcome| matches!(outcome, Outcome::Dropped | Outcome::Trimmed);
            let row = prompt.report().iter().find(|row| cut(row.outcome))?;
            let budgets: Vec<String> = prompt.budgets().iter().map(ToString::to_string).collect();
            Some(format!("section `{}` does not fit its budget; {}", row.section, budgets.join("; ")))
        }
        Err(RenderError::Overfull(overfull)) => Some(overfull.to_string()),
        Err(_) => None,
    }
}

fn own_paths(own: Own<'_>) -> impl Iterator<Item = &Path> {
    own.profile.paths().filter(move |path| path.profile == own.profile.name() && own.has(&path.source.path))
}

fn at_path(own: Own<'_>, path: &Path, message: String, fix: &str, problems: &mut Vec<Problem>) {
    let Some(file) = own.files().find(|file| file.path == path.source.path) else { return };
    let header = format!("[path.{}]", path.name);
    let at = file.text.find(&header).map_or(0..0, |at| at..at + header.len());
    warn(problems, file, at, message, fix);
}

/// The first section of a path that changes every turn, and one behind it that does not. Two messages with different
/// gates are alternatives, not neighbours.
fn first_change(path: &Path) -> Option<(&Section, &Section)> {
    let messages =
        path.steps.iter().filter_map(|step| if let Step::Message(message) = step { Some(message) } else { None });
    let sections: Vec<_> = messages
        .flat_map(|message| message.sections.iter().map(move |section| (message.when.as_ref(), section.as_ref())))
        .collect();
    let turn = |(_, section): &(_, &Section)| section.stability == Stability::Turn;
    sections.iter().enumerate().filter(|(_, row)| turn(row)).find_map(|(at, (gate, first))| {
        let neighbour = |row: &&(Option<&Gate>, _)| gate.is_none() || row.0.is_none() || row.0 == *gate;
        let kept = sections[at..].iter().filter(neighbour).find(|row| !turn(row))?;
        Some((*first, kept.1))
    })
}

fn has_budget(path: &Path) -> bool {
    let of_message = |step: &Step| matches!(step, Step::Message(message) if message.budget.is_some());
    path.budget.is_some() || path.steps.iter().any(of_message)
}
