//! Tells a model's reasoning from its answer: reasoning stands first, between `<think>` and `</think>`.

use crate::model::ModelEvent;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Splits text that comes in pieces. A template may have written the opening mark itself, so text counts as reasoning
/// when a closing mark is still to be expected.
#[derive(Debug)]
pub(super) struct Thoughts {
    state: State,
    pending: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but space has come.
    Start,
    Inside,
    /// The space between reasoning and answer is dropped.
    Between,
    Answer,
}

impl Thoughts {
    /// For a text that a prompt has begun: `opened` says that the prompt ends with the opening mark.
    pub(super) fn new(opened: bool) -> Self {
        Self { state: if opened { State::Inside } else { State::Start }, pending: String::new() }
    }

    /// Whether the text of a prompt ends with the opening mark.
    pub(super) fn opened_by(prompt: &str) -> bool {
        prompt.trim_end().ends_with(OPEN)
    }

    /// Takes more text and returns what can be told by now.
    pub(super) fn push(&mut self, text: &str) -> Vec<ModelEvent> {
        self.pending.push_str(text);
        let mut events = Vec::new();
        while let Some(event) = self.step() {
            events.extend(event);
        }
        events
    }

    /// What is left when no more text comes.
    pub(super) fn finish(&mut self) -> Option<ModelEvent> {
        let rest = std::mem::take(&mut self.pending);
        let event = if self.state == State::Inside { ModelEvent::Reasoning } else { ModelEvent::Text };
        (!rest.is_empty()).then(|| event(rest))
    }

    /// One step: none when more text is needed, else what became known, if anything.
    fn step(&mut self) -> Option<Option<ModelEvent>> {
        match self.state {
            State::Start => {
                let begun = self.pending.trim_start();
                if let Some(inside) = begun.strip_prefix(OPEN) {
                    self.pending = inside.to_owned();
                    self.state = State::Inside;
                } else if OPEN.starts_with(begun) {
                    return None;
                } else {
                    self.state = State::Answer;
                }
                Some(None)
            }
            State::Inside => {
                if let Some((thought, answer)) = self.pending.split_once(CLOSE) {
                    let (thought, answer) = (thought.to_owned(), answer.to_owned());
                    self.pending = answer;
                    self.state = State::Between;
                    return Some((!thought.is_empty()).then_some(ModelEvent::Reasoning(thought)));
                }
                let kept = kept_back(&self.pending);
                let thought: String = self.pending.drain(..self.pending.len() - kept).collect();
                (!thought.is_empty()).then_some(Some(ModelEvent::Reasoning(thought)))
            }
            State::Between => {
                let answer = self.pending.trim_start().to_owned();
                self.pending = answer;
                if self.pending.is_empty() {
                    return None;
                }
                self.state = State::Answer;
                Some(None)
            }
            State::Answer => {
                let text = std::mem::take(&mut self.pending);
                (!text.is_empty()).then_some(Some(ModelEvent::Text(text)))
            }
        }
    }
}

/// How many bytes at the end may be the beginning of a closing mark.
fn kept_back(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|&length| text.ends_with(&CLOSE[..length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(opened: bool, pieces: &[&str]) -> (String, String) {
        let mut thoughts = Thoughts::new(opened);
        let mut events: Vec<ModelEvent> = pieces.iter().flat_map(|piece| thoughts.push(piece)).collect();
        events.extend(thoughts.finish());
        let (mut thought, mut answer) = (String::new(), String::new());
        for event in events {
            match event {
                ModelEvent::Reasoning(text) => thought.push_str(&text),
                ModelEvent::Text(text) => answer.push_str(&text),
                other => panic!("{other:?}"),
            }
        }
        (thought, answer)
    }

    fn pair(thought: &str, answer: &str) -> (String, String) {
        (thought.to_owned(), answer.to_owned())
    }

    #[test]
    fn reasoning_and_answer_are_told_apart() {
        assert_eq!(split(false, &["\n<th", "ink>so", " it is</thi", "nk>\n\nYes", "."]), pair("so it is", "Yes."));
        assert_eq!(split(true, &["so</think>Yes"]), pair("so", "Yes"));
        assert_eq!(split(false, &["Yes, <think> is a mark"]), pair("", "Yes, <think> is a mark"));
        assert_eq!(split(true, &["cut off </th"]), pair("cut off </th", ""));
        assert_eq!(split(false, &["<th"]), pair("", "<th"));
    }

    proptest! {
        #[test]
        fn the_pieces_do_not_matter(text in "(<think>)?[a-z<>/ ]{0,20}(</think>)?[a-z<é]{0,9}", at in any::<prop::sample::Index>()) {
            let borders: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
            let (one, two) = text.split_at(borders[at.index(borders.len())]);
            prop_assert_eq!(split(false, &[one, two]), split(false, &[&text]));
        }
    }
}
