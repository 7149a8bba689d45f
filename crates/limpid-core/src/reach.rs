//! Which tools travel with a prompt, and how the others are found.
//!
//! Every tool gets a number from what the person said, what the mode calls for and how often it was called; those with
//! the highest travel as far as there is room. The others are searched by words: of their names, their groups, what is
//! said of them, and words that stand for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::recall::{plain_words, stem};
use crate::window::{Tier, UsableWindow};

/// The name of the tool that finds the others.
pub const FIND_TOOLS: &str = "find_tools";

/// Tools that a prompt of the two lowest tiers sends at most.
pub const SMALL_TIER_TOOLS: usize = 10;

/// The share of the usable window that schemas take at most, in percent.
pub const WINDOW_PERCENT: usize = 15;

/// Hits of one search.
pub const MOST_HITS: usize = 4;

/// What a hit is worth at least, as a share of the best one.
const WORTH: f64 = 0.45;

/// The tools that a result of [`FIND_TOOLS`] names: each stands at the beginning of a line, before its arguments.
pub fn named_in(result: &str) -> impl Iterator<Item = &str> {
    result.lines().filter_map(|line| Some(line.split_once('(')?.0))
}

/// What is known of a tool when tools are ranked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCard<'a> {
    /// The name that the model calls.
    pub name: &'a str,
    /// The group that it belongs to.
    pub group: &'a str,
    /// What the model is told about it.
    pub description: &'a str,
    /// Words that people use for what it does.
    pub words: &'a [String],
    /// How often it was called.
    pub uses: u64,
    /// Tokens of its declaration.
    pub tokens: usize,
}

/// What makes tools wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants<'a> {
    /// What the person said.
    pub said: &'a str,
    /// The tools that profile and mode call for, the most wanted first.
    pub first: &'a [String],
}

/// How many tools travel, and how large they may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Tools.
    pub tools: usize,
    /// Tokens of their declarations.
    pub tokens: usize,
}

impl Room {
    /// What a tier and a window leave for tools at most.
    ///
    /// ```
    /// use limpid_core::{Tier, UsableWindow, reach::Room};
    /// let room = Room::of(Tier::ALL[1], Some(UsableWindow(4000)));
    /// assert_eq!((room.tools, room.tokens), (10, 600));
    /// ```
    pub fn of(tier: Tier, window: Option<UsableWindow>) -> Self {
        Self {
            tools: if tier.number() <= 2 { SMALL_TIER_TOOLS } else { usize::MAX },
            tokens: window.map_or(usize::MAX, |window| window.0 as usize * WINDOW_PERCENT / 100),
        }
    }

    /// What is left when some tools have taken theirs.
    #[must_use]
    pub fn less(self, taken: Self) -> Self {
        Self { tools: self.tools.saturating_sub(taken.tools), tokens: self.tokens.saturating_sub(taken.tokens) }
    }

    /// The smaller room of two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { tools: self.tools.min(other.tools), tokens: self.tokens.min(other.tokens) }
    }
}

/// The tools by how much they are wanted, with the value: the best first, among equals the earlier one. A tool that
/// nothing speaks for has 0.
///
/// What the person's words fit counts most, then what the mode calls for; use alone outweighs the mode after some fifty
/// calls.
pub fn wanted(cards: &[ToolCard<'_>], wants: Wants<'_>) -> Vec<(usize, f64)> {
    let fits = matches(cards, wants.said);
    let best = fits.iter().copied().fold(0.0, f64::max);
    let value = |(at, card): (usize, &ToolCard<'_>)| {
        let said = if fits[at] >= best * WORTH && best > 0.0 { 3.0 * fits[at] / best } else { 0.0 };
        let place = wants.first.iter().position(|name| name == card.name);
        let mode = place.map_or(0.0, |place| 2.0 - 0.02 * place.min(50) as f64);
        let uses = (0.5 * (card.uses as f64).ln_1p()).min(2.5);
        (at, said + mode + uses)
    };
    let mut order: Vec<(usize, f64)> = cards.iter().enumerate().map(value).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order
}

/// The tools that travel, in their own order: as far as there is room, taken in the order given. One that does not fit
/// is passed over.
pub fn fitting(cards: &[ToolCard<'_>], order: impl IntoIterator<Item = usize>, room: Room) -> Vec<usize> {
    let mut left = room;
    let mut taken = BTreeSet::new();
    for at in order {
        let Some(card) = cards.get(at) else { continue };
        if left.tools > 0 && card.tokens <= left.tokens && taken.insert(at) {
            left = left.less(Room { tools: 1, tokens: card.tokens });
        }
    }
    taken.into_iter().collect()
}

/// The tools that a query asks for, the best first: at most [`MOST_HITS`], and none that fits far worse than the best.
/// A name that is written out is a hit of its own.
pub fn search(cards: &[ToolCard<'_>], query: &str) -> Vec<usize> {
    let named = |card: &ToolCard<'_>| query.split(|c: char| !is_name(c)).any(|word| word == card.name);
    let fits = matches(cards, query);
    let best = fits.iter().copied().fold(0.0, f64::max);
    let mut hits: Vec<(usize, bool, f64)> = cards
        .iter()
        .enumerate()
        .map(|(at, card)| (at, named(card), fits[at]))
        .filter(|(_, named, fit)| *named || (*fit > 0.0 && *fit >= best * WORTH))
        .collect();
    hits.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.total_cmp(&a.2)));
    hits.into_iter().take(MOST_HITS).map(|(at, _, _)| at).collect()
}

/// How well each tool fits a text; 0: not at all. A word counts where it stands (a name more than a description) and by
/// how few tools have it.
fn matches(cards: &[ToolCard<'_>], text: &str) -> Vec<f64> {
    let asked: BTreeSet<String> = stems(text).collect();
    if asked.is_empty() {
        return vec![0.0; cards.len()];
    }
    let fields: Vec<BTreeMap<String, f64>> = cards.iter().map(weights).collect();
    let rarity = |word: &str| {
        let holding = fields.iter().filter(|words| words.contains_key(word)).count() as f64;
        (1.0 + cards.len() as f64 / holding.max(1.0)).ln()
    };
    let rare: Vec<(&String, f64)> = asked.iter().map(|word| (word, rarity(word))).collect();
    fields.iter().map(|words| rare.iter().filter_map(|(word, rarity)| Some(words.get(*word)? * rarity)).sum()).collect()
}

/// The words that a tool is found by, and how much each says.
fn weights(card: &ToolCard<'_>) -> BTreeMap<String, f64> {
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    let mut add = |text: &str, weight: f64| {
        for word in stems(text) {
            let known = weights.entry(word).or_default();
            *known = known.max(weight);
        }
    };
    add(&card.name.replace(['_', '-', '.'], " "), 3.0);
    card.words.iter().for_each(|word| add(word, 3.0));
    add(&card.group.replace(['_', '-', '.'], " "), 1.5);
    add(card.description, 1.0);
    weights
}

/// Words by which nothing is found.
const STOP: [&str; 60] = [
    "about", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "did", "do", "does", "for", "from",
    "get", "has", "have", "hello", "hey", "hi", "how", "if", "in", "into", "is", "it", "its", "just", "let", "make",
    "me", "my", "need", "not", "of", "on", "one", "or", "our", "please", "so", "some", "that", "the", "there", "this",
    "to", "up", "us", "want", "was", "what", "when", "which", "with", "would", "you", "your",
];

fn stems(text: &str) -> impl Iterator<Item = String> {
    plain_words(text).into_iter().filter(|word| !STOP.contains(&word.as_str())).map(stem)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card<'a>(name: &'a str, group: &'a str, description: &'a str) -> ToolCard<'a> {
        ToolCard { name, group, description, tokens: 50, ..ToolCard::default() }
    }

    fn cards() -> [ToolCard<'static>; 5] {
        [
            card("memory_store", "memory", "Keep a fact."),
            card("read_file", "files", "Read a file."),
            card("write_file", "files", "Write a whole file; missing folders are made."),
            card("web_fetch", "web", "Read a web page as text."),
            card("schedule_task", "tasks", "Do something later."),
        ]
    }

    fn found(query: &str) -> Vec<&'static str> {
        let cards = cards();
        search(&cards, query).into_iter().map(|at| cards[at].name).collect()
    }

    // PRO-046
    #[test]
    fn a_search_finds_by_names_groups_and_descriptions() {
        assert_eq!(found("read web pages"), ["web_fetch"]);
        assert_eq!(found("scheduling"), ["schedule_task"]);
        assert_eq!(found("writing files"), ["write_file"]);
        assert_eq!(found("please call web_fetch on files"), ["web_fetch"]);
        assert_eq!(found("FILES"), ["read_file", "write_file"]);
        assert_eq!(found("xyzzy"), [""; 0]);
        assert_eq!(found(""), [""; 0]);
    }

    // PRO-046
    #[test]
    fn words_stand_before_the_mode_and_the_mode_before_a_little_use() {
        let mut cards = cards();
        cards[0].uses = 3;
        let first = ["schedule_task".to_owned(), "web_fetch".to_owned()];
        let order = |cards: &[ToolCard<'_>], said| {
            let order = wanted(cards, Wants { said, first: &first });
            order.into_iter().filter(|(_, value)| *value > 0.0).map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(order(&cards, "hi"), [4, 3, 0]);
        assert_eq!(order(&cards, "write this to a file"), [2, 4, 3, 0]);
        cards[0].uses = 400;
        assert_eq!(order(&cards, "hi"), [0, 4, 3]);
    }

    // OLLM-039
    #[test]
    fn no_more_travels_than_there_is_room_for() {
        let mut cards = cards();
        cards[4].tokens = 500;
        let room = |tools, tokens| fitting(&cards, [4, 3, 0, 1, 2], Room { tools, tokens });
        assert_eq!(room(usize::MAX, usize::MAX), [0, 1, 2, 3, 4]);
        assert_eq!(room(2, usize::MAX), [3, 4]);
        assert_eq!(room(9, 120), [0, 3], "what is too large is passed over");
        assert_eq!(room(0, 900), [0; 0]);
        assert_eq!(Room::of(Tier::ALL[0], None).tools, 10);
        assert_eq!(Room::of(Tier::ALL[2], None).tools, usize::MAX);
        let tokens = |usable| Room::of(Tier::ALL[2], Some(UsableWindow(usable))).tokens;
        assert_eq!([1000, 6963].map(tokens), [150, 1044], "15 % of the usable window");
    }
}
