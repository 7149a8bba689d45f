//! How tools are chosen: anew, or as a conversation that goes on had them.

use limpid_core::reach::{FIND_TOOLS, Room, ToolCard, Wants, fitting, wanted};
use limpid_prompt::inputs::{Inputs, ToolInput};
use limpid_prompt::{OfferedTool, Profile};

use crate::tool_selection::find_tools::reserves;
use crate::tool_selection::sizes::{ToolSizes, newest_fitting};
use crate::tool_selection::{Choice, ToolSelection, list};

/// Tokens that tools and the list of the others take at most in the first turn.
const FIRST_TURN_TOKENS: usize = 1000;

/// Of these, the shares of the tools themselves and of the list of the others, in percent.
const SHARES: Shares = Shares { core: 60, list: 40 };

/// The same where the window leaves less than that, and what is found needs room too.
const TIGHT_SHARES: Shares = Shares { core: 40, list: 25 };

/// Tools that are chosen at most, and at tiers that send few, where found ones need room too.
const CORE_TOOLS: usize = 12;
const CORE_TOOLS_SMALL: usize = 5;

struct Shares {
    core: usize,
    list: usize,
}

/// The place of the tool that is asked for.
pub(crate) fn asked(cards: &[ToolCard<'_>], choice: &Choice<'_>) -> Option<usize> {
    cards.iter().position(|card| Some(card.name) == choice.asked)
}

/// The choice of a conversation that goes on: what is new, and what is asked for, travels behind the rest as far as
/// there is room. None when a choice must be made anew.
pub(crate) fn carried_on(sizes: &ToolSizes, mut kept: ToolSelection, asked: Option<&str>) -> Option<ToolSelection> {
    if kept.core.is_empty() || !kept.core.iter().all(|name| sizes.has(name)) {
        return None;
    }
    let has_finder = kept.core.iter().any(|name| name == FIND_TOOLS);
    let known = |name: &str| kept.known.iter().any(|known| known == name) || name == FIND_TOOLS;
    let late = sizes.tools().iter().map(|tool| tool.name().to_owned()).filter(|name| !known(name));
    let late: Vec<String> = late.collect();
    // Of a group, the tools that are listed first are what the others need, so they are the last to go.
    let mut found: Vec<String> =
        kept.found.iter().filter(|name| sizes.has(name)).chain(late.iter().rev()).cloned().collect();
    let room = sizes.room_beside(kept.core.iter().map(String::as_str));
    let room = room.less(Room { tools: 0, tokens: list::size(&kept.lines) });
    let tokens = |name: &str| sizes.tokens_of(name);
    let mut fits = newest_fitting(found.clone(), tokens, room);
    if let Some(asked) = asked.filter(|asked| sizes.has(asked))
        && !kept.core.iter().chain(&fits).any(|name| name == asked)
    {
        found.retain(|name| name != asked);
        found.push(asked.to_owned());
        fits = newest_fitting(found.clone(), tokens, room);
    }
    if !has_finder && fits.len() < found.len() {
        return None;
    }
    let came = late.iter().map(String::as_str).chain(asked).filter(|name| !kept.found.iter().any(|had| had == name));
    let added: Vec<String> = kept.added.iter().map(String::as_str).chain(came).map(str::to_owned).collect();
    kept.added = fits.iter().filter(|name| added.contains(name)).cloned().collect();
    kept.known.extend(late);
    Some(ToolSelection { found: fits, ..kept })
}

/// A new choice.
pub(crate) fn chosen(sizes: &ToolSizes, inputs: &Inputs, choice: &Choice<'_>) -> ToolSelection {
    let cards = sizes.cards(inputs, choice.profile, choice.uses);
    let known: Vec<String> = cards.iter().map(|card| card.name.to_owned()).collect();
    let first = sizes.room().and(Room { tools: usize::MAX, tokens: FIRST_TURN_TOKENS });
    let everything: usize = cards.iter().map(|card| card.tokens).sum();
    if (everything <= first.tokens && cards.len() <= first.tools) || !sizes.has(FIND_TOOLS) {
        let fits = fitting(&cards, 0..cards.len(), sizes.room());
        let is_finder = |tool: &&ToolInput| tool.name == FIND_TOOLS && reserves(tool) && sizes.has(FIND_TOOLS);
        let finder = inputs.tools.iter().find(is_finder).map(|tool| tool.name.clone());
        let core = fits.into_iter().map(|at| cards[at].name.to_owned()).chain(finder).collect();
        return ToolSelection { core, known, ..ToolSelection::default() };
    }
    let small = sizes.tier().number() <= 2;
    let shares = if first.tokens < FIRST_TURN_TOKENS { TIGHT_SHARES } else { SHARES };
    let tokens = first.tokens.saturating_sub(sizes.tokens_of(FIND_TOOLS));
    let tools = if small { CORE_TOOLS_SMALL } else { CORE_TOOLS };
    let order = choice.profile.core_tools(&inputs.mode);
    let wants = Wants { said: inputs.said(), first: &order };
    let order = wanted(&cards, wants).into_iter().filter(|(_, value)| *value > 0.0).map(|(at, _)| at);
    let order = asked(&cards, choice).into_iter().chain(order);
    let list_tokens = tokens * shares.list / 100;
    let beside = sizes.tokens_of(FIND_TOOLS) + list_tokens + largest_find(sizes, choice.profile);
    let core_tokens = (tokens * shares.core / 100).min(sizes.room().tokens.saturating_sub(beside));
    let core = fitting(&cards, order, Room { tools, tokens: core_tokens });
    let rest: Vec<&ToolCard<'_>> =
        cards.iter().enumerate().filter(|(at, _)| !core.contains(at)).map(|(_, card)| card).collect();
    let lines = list::of(&rest, small, list_tokens);
    let core = core.into_iter().map(|at| cards[at].name.to_owned()).chain([FIND_TOOLS.to_owned()]).collect();
    ToolSelection { core, lines, known, ..ToolSelection::default() }
}

/// Tokens of the largest tool with those that come along with it, so that there is room for whatever is looked for. A
/// tool of more than half the room has none.
fn largest_find(sizes: &ToolSizes, profile: &Profile) -> usize {
    let with = |tool: &OfferedTool| {
        let along = profile.tool(tool.name()).map_or(&[][..], |text| &text.with);
        sizes.tokens_of(tool.name()) + along.iter().map(|name| sizes.tokens_of(name)).sum::<usize>()
    };
    sizes.tools().iter().map(with).filter(|tokens| *tokens <= sizes.room().tokens / 2).max().unwrap_or(0)
}
