//! Which tools travel with a conversation's prompts, and which wait behind `find_tools`.
//!
//! The choice is made at the first turn and kept, so that nothing before the history changes; tools that are found or
//! become available later travel behind the others. A compaction is a border: the choice is made anew, and
//! what was found before it is found again when it is needed.

pub(crate) mod find_tools;
pub(crate) mod list;

use std::collections::{BTreeMap, BTreeSet};

use limpid_core::reach::{Room, ToolCard, Wants, fitting, wanted};
use limpid_core::{Tier, UsableWindow, WindowSize};
use limpid_prompt::count::{Estimate, TokenCounter as _};
use limpid_prompt::inputs::{Inputs, ToolInput, ToolReach};
use limpid_prompt::{OfferedTool, Profile};
use serde::{Deserialize, Serialize};

pub(crate) use limpid_core::reach::FIND_TOOLS;

/// Tokens that tools and the list of the others take at most in the first turn.
const FIRST_TURN_TOKENS: usize = 1000;

/// Of these, the shares of the tools themselves and of the list of the others, in percent.
const SHARES: Shares = Shares { core: 60, list: 40 };

/// The same where the window leaves less than that, and what is found needs room too.
const TIGHT_SHARES: Shares = Shares { core: 40, list: 25 };

/// Tools that are chosen at most, and at tiers that send few, where found ones need room too.
const CORE_TOOLS: usize = 12;
const CORE_TOOLS_SMALL: usize = 5;

/// Tokens that a provider's form puts around a declaration.
const WRAPPING: usize = 10;

struct Shares {
    core: usize,
    list: usize,
}

/// Tokens of a text of names, of which tokenizers make more than of sentences.
fn tokens(text: &str) -> usize {
    (Estimate::default().count(text) * 115).div_ceil(100)
}

/// What a conversation keeps of its tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ToolSelection {
    /// Those that were chosen to travel.
    core: Vec<String>,
    /// Those that were found, or became available, since; in that order.
    pub(crate) found: Vec<String>,
    /// Those of them that nobody looked for.
    added: Vec<String>,
    /// The list of the others as it is sent.
    lines: Vec<String>,
    /// Every tool that there was.
    known: Vec<String>,
    /// Stands for the compactions before this stretch of the conversation.
    stretch: String,
}

/// What tools are chosen by.
pub(crate) struct Choice<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) path: &'a str,
    /// Whether tools may wait behind `find_tools`.
    pub(crate) defers: bool,
    /// Whether everything before the history is rendered anew.
    pub(crate) border: bool,
    /// Stands for what compaction took out so far.
    pub(crate) stretch: String,
    /// What the conversation kept.
    pub(crate) kept: Option<ToolSelection>,
    /// How often tools were called.
    pub(crate) uses: &'a BTreeMap<String, u64>,
    /// A tool that the newest message asks for in so many words: it travels.
    pub(crate) asked: Option<&'a str>,
}

/// Says of every tool of the inputs how the model gets at it, and returns what the conversation keeps.
pub(crate) fn settle(inputs: &mut Inputs, choice: &Choice<'_>) -> ToolSelection {
    let sizes = Sizes::of(inputs, choice);
    if !choice.defers {
        inputs.tools.retain(|tool| tool.name != FIND_TOOLS);
        let order = choice.profile.core_tools(&inputs.mode);
        let wants = Wants { said: "", first: &order };
        let cards = sizes.cards(inputs, choice, &BTreeMap::new());
        let order = wanted(&cards, wants).into_iter().map(|(at, _)| at);
        let fits = fitting(&cards, asked(&cards, choice).into_iter().chain(order), sizes.room);
        let there: BTreeSet<String> = fits.into_iter().map(|at| cards[at].name.to_owned()).collect();
        for tool in inputs.tools.iter_mut().filter(|tool| sizes.has(&tool.name) && !there.contains(&tool.name)) {
            tool.reach = ToolReach::LeftOut;
        }
        return ToolSelection::default();
    }
    let before = choice.kept.clone().filter(|kept| kept.stretch == choice.stretch);
    let kept = match before.clone().filter(|_| !choice.border).and_then(|kept| sizes.carried_on(kept, choice.asked)) {
        Some(kept) => kept,
        None => {
            let mut kept = sizes.chosen(inputs, choice);
            let before = before.unwrap_or_default();
            kept.found = before.found.into_iter().filter(|name| sizes.has(name) && !kept.core.contains(name)).collect();
            kept.added = before.added.into_iter().filter(|name| kept.found.contains(name)).collect();
            ToolSelection { stretch: choice.stretch.clone(), ..kept }
        }
    };
    let has_finder = kept.core.iter().any(|name| name == FIND_TOOLS);
    inputs.tools.retain(|tool| tool.name != FIND_TOOLS || has_finder);
    inputs.more_tools.clone_from(&kept.lines);
    for tool in inputs.tools.iter_mut().filter(|tool| sizes.has(&tool.name)) {
        tool.reach = match &tool.name {
            name if kept.core.contains(name) => ToolReach::Declared,
            name if kept.added.contains(name) => ToolReach::Added,
            _ => ToolReach::Deferred,
        };
    }
    place_found(&mut inputs.tools, &kept.found);
    kept
}

/// The place of the tool that is asked for.
fn asked(cards: &[ToolCard<'_>], choice: &Choice<'_>) -> Option<usize> {
    cards.iter().position(|card| Some(card.name) == choice.asked)
}

/// Puts the tools that came later behind the declared ones in the order in which they came; one that came before and is
/// not among them waits again.
pub(crate) fn place_found(tools: &mut [ToolInput], found: &[String]) {
    let place = |name: &str| found.iter().position(|other| other == name);
    for tool in
        tools.iter_mut().filter(|tool| matches!(tool.reach, ToolReach::Added | ToolReach::Found | ToolReach::Deferred))
    {
        tool.reach = match (place(&tool.name), tool.reach) {
            (None, _) => ToolReach::Deferred,
            (Some(_), ToolReach::Added) => ToolReach::Added,
            (Some(_), _) => ToolReach::Found,
        };
    }
    tools.sort_by_key(|tool| match tool.reach {
        ToolReach::Declared => (0, 0),
        ToolReach::Added | ToolReach::Found => (1, place(&tool.name).unwrap_or(usize::MAX)),
        ToolReach::Deferred | ToolReach::LeftOut => (2, 0),
    });
}

/// The newest of the found tools that there is room for, in their order.
pub(crate) fn newest_fitting(found: Vec<String>, tokens: impl Fn(&str) -> usize, room: Room) -> Vec<String> {
    let mut left = room;
    let mut fits: Vec<String> = Vec::new();
    for name in found.into_iter().rev() {
        let size = tokens(&name);
        if left.tools == 0 || size > left.tokens {
            break;
        }
        left = left.less(Room { tools: 1, tokens: size });
        fits.push(name);
    }
    fits.reverse();
    fits
}

/// What the tools of a path are to the model, and what they take.
pub(crate) struct Sizes {
    tools: Vec<OfferedTool>,
    tokens: Vec<usize>,
    room: Room,
    tier: Tier,
}

impl Sizes {
    fn of(inputs: &Inputs, choice: &Choice<'_>) -> Self {
        Self::of_path(choice.profile, choice.path, inputs)
    }

    /// The tools that exist on a path, whether they travel or not.
    pub(crate) fn of_path(profile: &Profile, path: &str, inputs: &Inputs) -> Self {
        let tools = profile.callable_tools(path, inputs);
        let count = |tool: &OfferedTool| tokens(&tool.declaration()) + WRAPPING;
        let tier = profile.path(path).map_or(Tier::ALL[2], |path| limpid_prompt::tier(path, inputs));
        let default = || inputs.model.window.map(|window| UsableWindow::default_for(WindowSize(window)));
        let window = inputs.model.usable_window.map(UsableWindow).or_else(default);
        Self { tokens: tools.iter().map(count).collect(), tools, room: Room::of(tier, window), tier }
    }

    pub(crate) fn tools(&self) -> &[OfferedTool] {
        &self.tools
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name() == name)
    }

    /// What one tool takes.
    pub(crate) fn tokens_of(&self, name: &str) -> usize {
        self.tools.iter().position(|tool| tool.name() == name).map_or(0, |at| self.tokens[at])
    }

    /// What is left for tools that are found.
    pub(crate) fn room_beside<'t>(&self, names: impl Iterator<Item = &'t str>) -> Room {
        names.fold(self.room, |room, name| room.less(Room { tools: 1, tokens: self.tokens_of(name) }))
    }

    /// Tokens of the largest tool with those that come along with it, so that there is room for whatever is looked for. A
    /// tool of more than half the room has none.
    fn largest_find(&self, profile: &Profile) -> usize {
        let with = |tool: &OfferedTool| {
            let along = profile.tool(tool.name()).map_or(&[][..], |text| &text.with);
            self.tokens_of(tool.name()) + along.iter().map(|name| self.tokens_of(name)).sum::<usize>()
        };
        self.tools.iter().map(with).filter(|tokens| *tokens <= self.room.tokens / 2).max().unwrap_or(0)
    }

    fn cards<'t>(&'t self, inputs: &'t Inputs, choice: &Choice<'t>, uses: &BTreeMap<String, u64>) -> Vec<ToolCard<'t>> {
        let there = |tool: &&OfferedTool| inputs.tools.iter().any(|input| input.name == tool.name());
        let tools = self.tools.iter().filter(there).filter(|tool| tool.name() != FIND_TOOLS);
        tools.map(|tool| self.card(tool, choice.profile, uses)).collect()
    }

    /// A tool as it is ranked and searched.
    pub(crate) fn card<'t>(
        &'t self,
        tool: &'t OfferedTool,
        profile: &'t Profile,
        uses: &BTreeMap<String, u64>,
    ) -> ToolCard<'t> {
        ToolCard {
            name: tool.name(),
            group: tool.group(),
            description: tool.description(),
            words: profile.tool(tool.name()).map_or(&[][..], |text| &text.words),
            uses: uses.get(tool.name()).copied().unwrap_or(0),
            tokens: self.tokens_of(tool.name()),
        }
    }

    /// The choice of a conversation that goes on: what is new, and what is asked for, travels behind the rest as far as
    /// there is room. None when a choice must be made anew.
    fn carried_on(&self, mut kept: ToolSelection, asked: Option<&str>) -> Option<ToolSelection> {
        if kept.core.is_empty() || !kept.core.iter().all(|name| self.has(name)) {
            return None;
        }
        let has_finder = kept.core.iter().any(|name| name == FIND_TOOLS);
        let known = |name: &str| kept.known.iter().any(|known| known == name) || name == FIND_TOOLS;
        let late = self.tools.iter().map(|tool| tool.name().to_owned()).filter(|name| !known(name));
        let late: Vec<String> = late.collect();
        // Of a group, the tools that are listed first are what the others need, so they are the last to go.
        let mut found: Vec<String> =
            kept.found.iter().filter(|name| self.has(name)).chain(late.iter().rev()).cloned().collect();
        let room = self.room_beside(kept.core.iter().map(String::as_str));
        let room = room.less(Room { tools: 0, tokens: list::size(&kept.lines) });
        let tokens = |name: &str| self.tokens_of(name);
        let mut fits = newest_fitting(found.clone(), tokens, room);
        if let Some(asked) = asked.filter(|asked| self.has(asked))
            && !kept.core.iter().chain(&fits).any(|name| name == asked)
        {
            found.retain(|name| name != asked);
            found.push(asked.to_owned());
            fits = newest_fitting(found.clone(), tokens, room);
        }
        if !has_finder && fits.len() < found.len() {
            return None;
        }
        let came =
            late.iter().map(String::as_str).chain(asked).filter(|name| !kept.found.iter().any(|had| had == name));
        let added: Vec<String> = kept.added.iter().map(String::as_str).chain(came).map(str::to_owned).collect();
        kept.added = fits.iter().filter(|name| added.contains(name)).cloned().collect();
        kept.known.extend(late);
        Some(ToolSelection { found: fits, ..kept })
    }

    /// A new choice.
    fn chosen(&self, inputs: &Inputs, choice: &Choice<'_>) -> ToolSelection {
        let cards = self.cards(inputs, choice, choice.uses);
        let known: Vec<String> = cards.iter().map(|card| card.name.to_owned()).collect();
        let first = self.room.and(Room { tools: usize::MAX, tokens: FIRST_TURN_TOKENS });
        let everything: usize = cards.iter().map(|card| card.tokens).sum();
        if (everything <= first.tokens && cards.len() <= first.tools) || !self.has(FIND_TOOLS) {
            let fits = fitting(&cards, 0..cards.len(), self.room);
            let core = fits.into_iter().map(|at| cards[at].name.to_owned()).collect();
            return ToolSelection { core, known, ..ToolSelection::default() };
        }
        let small = self.tier.number() <= 2;
        let shares = if first.tokens < FIRST_TURN_TOKENS { TIGHT_SHARES } else { SHARES };
        let tokens = first.tokens.saturating_sub(self.tokens_of(FIND_TOOLS));
        let tools = if small { CORE_TOOLS_SMALL } else { CORE_TOOLS };
        let order = choice.profile.core_tools(&inputs.mode);
        let wants = Wants { said: &inputs.user_message, first: &order };
        let order = wanted(&cards, wants).into_iter().filter(|(_, value)| *value > 0.0).map(|(at, _)| at);
        let order = asked(&cards, choice).into_iter().chain(order);
        let list_tokens = tokens * shares.list / 100;
        let beside = self.tokens_of(FIND_TOOLS) + list_tokens + self.largest_find(choice.profile);
        let core_tokens = (tokens * shares.core / 100).min(self.room.tokens.saturating_sub(beside));
        let core = fitting(&cards, order, Room { tools, tokens: core_tokens });
        let rest: Vec<&ToolCard<'_>> =
            cards.iter().enumerate().filter(|(at, _)| !core.contains(at)).map(|(_, card)| card).collect();
        let lines = list::of(&rest, small, list_tokens);
        let core = core.into_iter().map(|at| cards[at].name.to_owned()).chain([FIND_TOOLS.to_owned()]).collect();
        ToolSelection { core, lines, known, ..ToolSelection::default() }
    }
}

#[cfg(test)]
mod tests;
