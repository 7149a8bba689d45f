//! An answer while it grows: blocks of Markdown that are whole, and one that is not yet.

use super::markdown::last_block;
use super::screens::{Standing, said};

/// What was said so far, beginning with the block that may still change.
#[derive(Default)]
pub(super) struct GrowingAnswer {
    block: String,
    number: usize,
    has_grown: bool,
    standing: Standing<'static>,
}

impl GrowingAnswer {
    /// One whose screens are drawn or not.
    pub(super) fn new(draws: bool) -> Self {
        Self { standing: if draws { Standing::Still } else { Standing::Code }, ..Self::default() }
    }

    /// More words.
    pub(super) fn push(&mut self, text: &str) {
        self.block.push_str(text);
        self.has_grown |= !text.is_empty();
    }

    /// Whether there are words that [`Self::blocks`] has not given out.
    pub(super) fn has_grown(&self) -> bool {
        self.has_grown
    }

    /// Bytes of the block that grows.
    pub(super) fn block_len(&self) -> usize {
        self.block.len()
    }

    /// The number of the block that grows.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The blocks that have changed, with their numbers and their HTML. All but the last one stay as they are.
    pub(super) fn blocks(&mut self) -> Vec<(usize, String)> {
        if !std::mem::take(&mut self.has_grown) {
            return Vec::new();
        }
        let mut changed = Vec::new();
        let whole = last_block(&self.block);
        if whole > 0 {
            let rest = self.block.split_off(whole);
            changed.push((self.number, said(&self.block, self.standing)));
            self.number += 1;
            self.block = rest;
        }
        changed.push((self.number, said(&self.block, self.standing)));
        changed
    }

    /// What is said next is a part of its own.
    pub(super) fn next_part(&mut self) {
        if !self.block.is_empty() {
            self.block.clear();
            self.number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::markdown::to_html;
    use super::*;

    // SUR-020
    #[test]
    fn an_answer_in_any_pieces_is_the_same_as_in_one() {
        let text = "One *two*.\n\n1. a\n2. b\n\n> quote\n\n```\ncode\n\nmore\n```\n\n| a |\n|---|\n| b |\n\nend";
        for size in 1..30 {
            let mut answer = GrowingAnswer::default();
            let mut shown = std::collections::BTreeMap::new();
            let letters: Vec<char> = text.chars().collect();
            for piece in letters.chunks(size) {
                answer.push(&piece.iter().collect::<String>());
                shown.extend(answer.blocks());
            }
            assert_eq!(shown.into_values().collect::<String>(), to_html(text), "in pieces of {size}");
        }
    }
}
