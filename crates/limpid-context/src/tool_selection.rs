//! Which tools travel with a conversation's prompts, and which wait behind `find_tools`.
//!
//! The choice is made at the first turn and kept, so that nothing before the history changes; tools that are found or
//! become available later travel behind the others. A compaction resets the choice, and what
//! was found before it is found again when it is needed.

mod choose;
mod find_tools;
mod list;
mod sizes;

use std::collections::{BTreeMap, BTreeSet};

use limpid_core::reach::{FIND_TOOLS, Wants, fitting, wanted};
use limpid_prompt::Profile;
use limpid_prompt::inputs::{Inputs, ToolInput, ToolPlacement};
use serde::{Deserialize, Serialize};

pub use crate::tool_selection::find_tools::FindTools;

use crate::tool_selection::choose::{asked, carried_on, chosen};
use crate::tool_selection::find_tools::reserves;
use crate::tool_selection::sizes::ToolSizes;

/// What a conversation keeps of its tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSelection {
    /// Those that were chosen to travel.
    core: Vec<String>,
    /// Those that were found, or became available, since; in that order.
    pub found: Vec<String>,
    /// Those of them that nobody looked for.
    added: Vec<String>,
    /// The list of the others as it is sent.
    lines: Vec<String>,
    /// Every tool that there was.
    known: Vec<String>,
    /// Stands for the compactions before this part of the conversation.
    #[serde(rename = "stretch")]
    view_id: String,
}

/// What tools are chosen by.
pub(crate) struct Choice<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) path: &'a str,
    /// Whether tools may wait behind `find_tools`.
    pub(crate) defers: bool,
    /// Whether everything before the history is rendered anew.
    pub(crate) prefix_reset: bool,
    /// Stands for what compaction took out so far.
    pub(crate) view_id: String,
    /// What the conversation kept.
    pub(crate) kept: Option<ToolSelection>,
    /// How often tools were called.
    pub(crate) uses: &'a BTreeMap<String, u64>,
    /// A tool that the newest message asks for in so many words: it travels.
    pub(crate) asked: Option<&'a str>,
}

/// Says of every tool of the inputs how the model gets at it, and returns what the conversation keeps.
pub(crate) fn select_tools(inputs: &mut Inputs, choice: &Choice<'_>) -> ToolSelection {
    let sizes = ToolSizes::of_path(choice.profile, choice.path, inputs);
    if !choice.defers {
        inputs.tools.retain(|tool| tool.name != FIND_TOOLS || reserves(tool));
        let order = choice.profile.core_tools(&inputs.mode);
        let wants = Wants { said: "", first: &order };
        let cards = sizes.cards(inputs, choice.profile, &BTreeMap::new());
        let order = wanted(&cards, wants).into_iter().map(|(at, _)| at);
        let fits = fitting(&cards, asked(&cards, choice).into_iter().chain(order), sizes.room());
        let there: BTreeSet<String> = fits.into_iter().map(|at| cards[at].name.to_owned()).collect();
        for tool in inputs
            .tools
            .iter_mut()
            .filter(|tool| sizes.has(&tool.name) && tool.name != FIND_TOOLS && !there.contains(&tool.name))
        {
            tool.reach = ToolPlacement::LeftOut;
        }
        return ToolSelection::default();
    }
    let before = choice.kept.clone().filter(|kept| kept.view_id == choice.view_id);
    let kept =
        match before.clone().filter(|_| !choice.prefix_reset).and_then(|kept| carried_on(&sizes, kept, choice.asked)) {
            Some(kept) => kept,
            None => {
                let mut kept = chosen(&sizes, inputs, choice);
                let before = before.unwrap_or_default();
                kept.found =
                    before.found.into_iter().filter(|name| sizes.has(name) && !kept.core.contains(name)).collect();
                kept.added = before.added.into_iter().filter(|name| kept.found.contains(name)).collect();
                ToolSelection { view_id: choice.view_id.clone(), ..kept }
            }
        };
    let has_finder = kept.core.iter().any(|name| name == FIND_TOOLS);
    inputs.tools.retain(|tool| tool.name != FIND_TOOLS || has_finder);
    inputs.more_tools.clone_from(&kept.lines);
    for tool in inputs.tools.iter_mut().filter(|tool| sizes.has(&tool.name)) {
        tool.reach = match &tool.name {
            name if kept.core.contains(name) => ToolPlacement::Declared,
            name if kept.added.contains(name) => ToolPlacement::Added,
            _ => ToolPlacement::Deferred,
        };
    }
    place_found(&mut inputs.tools, &kept.found);
    kept
}

/// Puts the tools that came later behind the declared ones in the order in which they came; one that came before and is
/// not among them waits again.
pub fn place_found(tools: &mut [ToolInput], found: &[String]) {
    let place = |name: &str| found.iter().position(|other| other == name);
    for tool in tools
        .iter_mut()
        .filter(|tool| matches!(tool.reach, ToolPlacement::Added | ToolPlacement::Found | ToolPlacement::Deferred))
    {
        tool.reach = match (place(&tool.name), tool.reach) {
            (None, _) => ToolPlacement::Deferred,
            (Some(_), ToolPlacement::Added) => ToolPlacement::Added,
            (Some(_), _) => ToolPlacement::Found,
        };
    }
    tools.sort_by_key(|tool| match tool.reach {
        ToolPlacement::Declared => (0, 0),
        ToolPlacement::Added | ToolPlacement::Found => (1, place(&tool.name).unwrap_or(usize::MAX)),
        ToolPlacement::Deferred | ToolPlacement::LeftOut => (2, 0),
    });
}

#[cfg(test)]
mod tests;
