//! What the tools of a path take, and what there is room for.

use std::collections::BTreeMap;

use limpid_core::reach::{FIND_TOOLS, Room, ToolCard};
use limpid_core::{Tier, UsableWindow, WindowSize};
use limpid_prompt::count::{Estimate, TokenCounter as _};
use limpid_prompt::inputs::Inputs;
use limpid_prompt::render::callable_tools;
use limpid_prompt::{OfferedTool, Profile};

/// Tokens that a provider's form puts around a declaration.
const WRAPPING: usize = 10;

/// Tokens of a text of names, of which tokenizers make more than of sentences.
pub(crate) fn tokens(text: &str) -> usize {
    (Estimate::default().count(text) * 115).div_ceil(100)
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
pub(crate) struct ToolSizes {
    tools: Vec<OfferedTool>,
    tokens: Vec<usize>,
    room: Room,
    tier: Tier,
}

impl ToolSizes {
    /// The tools that exist on a path, whether they travel or not.
    pub(crate) fn of_path(profile: &Profile, path: &str, inputs: &Inputs) -> Self {
        let tools = callable_tools(profile, path, inputs);
        let count = |tool: &OfferedTool| tokens(&tool.declaration()) + WRAPPING;
        let tier = profile.path(path).map_or(Tier::ALL[2], |path| limpid_prompt::tier(path, inputs));
        let default = || inputs.model.window.map(|window| UsableWindow::default_for(WindowSize(window)));
        let window = inputs.model.usable_window.map(UsableWindow).or_else(default);
        Self { tokens: tools.iter().map(count).collect(), tools, room: Room::of(tier, window), tier }
    }

    /// What there is room for.
    pub(crate) fn room(&self) -> Room {
        self.room
    }

    /// The tier of the path.
    pub(crate) fn tier(&self) -> Tier {
        self.tier
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

    /// The tools that can be chosen, as they are ranked.
    pub(crate) fn cards<'t>(
        &'t self,
        inputs: &'t Inputs,
        profile: &'t Profile,
        uses: &BTreeMap<String, u64>,
    ) -> Vec<ToolCard<'t>> {
        let there = |tool: &&OfferedTool| inputs.tools.iter().any(|input| input.name == tool.name());
        let tools = self.tools.iter().filter(there).filter(|tool| tool.name() != FIND_TOOLS);
        tools.map(|tool| self.card(tool, profile, uses)).collect()
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
}
