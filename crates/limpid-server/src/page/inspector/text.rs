//! A prompt as text: its messages in order, each with the sections that it is made of.

use std::collections::HashSet;
use std::ops::Range;

use limpid_prompt::shown::{shown, shown_line};
use limpid_prompt::{Outcome, Part, Place, Prompt, PromptMessage, StatePart};

use crate::page::meter::{kind_of, thousands};

/// How far a prompt begins as the one before it.
pub(super) struct Shared {
    /// Whole messages, from the first on.
    pub(super) messages: usize,
    /// Bytes of the next one.
    pub(super) rest: usize,
    /// The section that ended it.
    pub(super) changed: Option<String>,
}

/// Messages that are shown as one.
pub(super) struct Article {
    pub(super) title: String,
    pub(super) about: String,
    pub(super) blocks: Vec<Block>,
}

/// The text of one section in one message.
pub(super) struct Block {
    /// The first block of its section can be led to.
    pub(super) anchor: Option<String>,
    pub(super) section: String,
    pub(super) kind: &'static str,
    pub(super) title: String,
    pub(super) about: String,
    pub(super) origin: String,
    /// The file that it is edited in.
    pub(super) file: Option<String>,
    pub(super) pieces: Vec<Piece>,
    pub(super) tokens: usize,
    /// What a budget cut of its section.
    pub(super) cut: Option<String>,
    /// What stands behind it where the beginning ends that the request before had.
    pub(super) mark: Option<String>,
    message: usize,
    bytes: Range<usize>,
}

/// A stretch of text, with its origin where it is no join.
pub(super) struct Piece {
    pub(super) origin: Option<String>,
    pub(super) text: String,
}

/// The file that a section is edited in, by the section and the origin of its text.
pub(super) type FileOf<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// The messages of a prompt.
pub(super) fn articles(prompt: &Prompt, shared: Option<&Shared>, file_of: FileOf<'_>) -> Vec<Article> {
    let mut articles: Vec<(Place, Article)> = Vec::new();
    let mut seen = HashSet::new();
    for (number, message) in prompt.messages().iter().enumerate() {
        let mut blocks = blocks(number, message, file_of);
        for block in &mut blocks {
            if seen.insert(block.section.clone()) {
                block.anchor = Some(format!("s-{}", block.section));
                block.cut = cut_of(prompt, &block.section);
            }
        }
        if let Some(shared) = shared {
            mark(&mut blocks, number, shared);
        }
        match articles.last_mut() {
            Some((place, last)) if *place == message.place() && *place != Place::Path => {
                let first = last.title.trim_start_matches(|letter: char| !letter.is_ascii_digit());
                let first = first.split(' ').next().unwrap_or_default();
                last.title = format!("Messages {first} to {number}");
                last.blocks.append(&mut blocks);
            }
            _ => articles.push((message.place(), article(number, message, blocks))),
        }
    }
    articles.into_iter().map(|(_, article)| article).collect()
}

fn article(number: usize, message: &PromptMessage, blocks: Vec<Block>) -> Article {
    let about = match message.place() {
        Place::Path => format!("{} · {} bytes", message.role(), thousands(message.text().len())),
        Place::History => "history, as it was sent".to_owned(),
        Place::InFlight => "of this turn, as it was sent".to_owned(),
    };
    Article { title: format!("Message {number}"), about, blocks }
}

/// The parts of a message, those of one section that follow each other together; then its calls and what its provider gets back.
fn blocks(number: usize, message: &PromptMessage, file_of: FileOf<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    let mut parts = message.parts();
    while let [first, ..] = parts {
        let count = parts.iter().take_while(|part| part.section() == first.section()).count();
        let (own, rest) = parts.split_at(count);
        parts = rest;
        let start = find(message, at, first);
        let mut pieces = Vec::new();
        at = start;
        for part in own {
            let found = find(message, at, part);
            pieces.extend(piece(None, &message.text()[at..found]));
            at = found + part.text().len();
            pieces.extend(piece(Some(part.origin()), part.text()));
        }
        let tokens = own.iter().filter_map(Part::tokens).sum();
        let entries = if own.len() > 1 { format!(" · {} parts", own.len()) } else { String::new() };
        blocks.push(Block {
            anchor: None,
            section: shown_line(first.section()),
            kind: kind_of(message.role(), first.section(), first.stability().as_str()),
            title: title(number, message, first.section()),
            about: format!("{} bytes · {} tokens{entries}", thousands(at - start), thousands(tokens)),
            origin: shown_line(first.origin()),
            file: file_of(first.section(), first.origin()),
            pieces,
            tokens,
            cut: None,
            mark: None,
            message: number,
            bytes: start..at,
        });
    }
    blocks.extend(calls(number, message));
    blocks.extend(state(number, message));
    blocks
}

/// Where a part stands in its message; what is before it is a join.
fn find(message: &PromptMessage, from: usize, part: &Part) -> usize {
    message.text().get(from..).and_then(|rest| rest.find(part.text())).map_or(from, |found| from + found)
}

fn piece(origin: Option<&str>, text: &str) -> Option<Piece> {
    (!text.is_empty()).then(|| Piece { origin: origin.map(shown_line), text: shown(text).into_owned() })
}

fn title(number: usize, message: &PromptMessage, section: &str) -> String {
    match message.place() {
        Place::Path => shown_line(section),
        Place::History | Place::InFlight => format!("{number} · {}", message.role()),
    }
}

/// What a message has besides its text.
fn beside(number: usize, message: &PromptMessage, about: String, pieces: Vec<Piece>, tokens: usize) -> Block {
    let (section, stability) = match message.place() {
        Place::History => ("history", "session"),
        Place::InFlight => ("in-flight", "turn"),
        Place::Path => ("calls", "turn"),
    };
    let end = message.text().len();
    Block {
        anchor: None,
        section: section.to_owned(),
        kind: kind_of(message.role(), section, stability),
        title: title(number, message, section),
        about,
        origin: String::new(),
        file: None,
        pieces,
        tokens,
        cut: None,
        mark: None,
        message: number,
        bytes: end..end,
    }
}

fn calls(number: usize, message: &PromptMessage) -> Option<Block> {
    let line = |call: &limpid_prompt::inputs::CallInput| format!("→ {} {}", call.name, call.arguments);
    let lines: Vec<String> = message.calls().iter().map(line).collect();
    let tokens = message.call_tokens().unwrap_or_default();
    let about = format!("{} · {} tokens", if lines.len() == 1 { "call" } else { "calls" }, thousands(tokens));
    let pieces = piece(None, &lines.join("\n")).into_iter().collect();
    (!lines.is_empty()).then(|| beside(number, message, about, pieces, tokens))
}

fn state(number: usize, message: &PromptMessage) -> Option<Block> {
    let bytes: usize = message.state().iter().map(|state| state.json().len()).sum();
    let tokens = message.state().iter().filter_map(StatePart::tokens).sum();
    let about = format!("{} bytes that go back to its provider as they came", thousands(bytes));
    (bytes > 0).then(|| beside(number, message, about, Vec::new(), tokens))
}

/// What a budget cut of a section.
fn cut_of(prompt: &Prompt, section: &str) -> Option<String> {
    let row = prompt.cuts().find(|row| row.section == section && row.outcome == Outcome::Trimmed)?;
    let reason = row.reason.as_deref().unwrap_or("a budget");
    Some(shown_line(&match row.kept.zip(row.dropped) {
        Some((kept, dropped)) => format!("{dropped} of {} were cut. {reason}", kept + dropped),
        None => format!("Shortened. {reason}"),
    }))
}

/// Says where the beginning ends that the request before had.
fn mark(blocks: &mut [Block], number: usize, shared: &Shared) {
    let of_before = "Unchanged since the last request up to here";
    let ended = shared.changed.as_ref().map(|section| format!("; {section} was edited")).unwrap_or_default();
    if number + 1 == shared.messages && shared.rest == 0 {
        if let Some(last) = blocks.last_mut() {
            last.mark = Some(shown_line(&format!("{of_before}{ended}")));
        }
    } else if number == shared.messages && shared.rest > 0 {
        let inside = blocks.iter_mut().rev().find(|block| block.bytes.start < shared.rest);
        if let Some(block) = inside {
            let here = if shared.rest < block.bytes.end {
                "Unchanged since the last request up to somewhere in this part"
            } else {
                of_before
            };
            block.mark = Some(shown_line(&format!("{here}{ended}")));
        }
    }
}

impl Block {
    /// How much of it is before a byte of its message, in tokens.
    fn tokens_before(&self, byte: usize) -> usize {
        let length = self.bytes.len().max(1);
        let inside = byte.saturating_sub(self.bytes.start).min(length);
        self.tokens * inside / length
    }
}

/// The tokens of the beginning that the request before had.
pub(super) fn tokens_of(articles: &[Article], shared: &Shared) -> usize {
    let blocks = articles.iter().flat_map(|article| &article.blocks);
    let tokens = |block: &Block| match block.message.cmp(&shared.messages) {
        std::cmp::Ordering::Less => block.tokens,
        std::cmp::Ordering::Equal => block.tokens_before(shared.rest),
        std::cmp::Ordering::Greater => 0,
    };
    blocks.map(tokens).sum()
}
