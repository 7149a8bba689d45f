//! Reasoning that a server leaves inside the text, between `<think>` and `</think>` at its start. Where the template of a
//! model has written the opening tag already, only the closing one is in the text.

use crate::model::ModelEvent;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Text in, text and reasoning out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Think {
    state: State,
    /// White space at the start, which decides nothing; the answer begins with it where no tag follows.
    blank: String,
    held: String,
    /// What was given out as reasoning and is the answer, should the closing tag never come.
    doubtful: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing but white space or part of the opening tag so far.
    #[default]
    Start,
    /// As at the start, in the text of a model that may have begun inside the tags.
    OpenedStart,
    /// Inside the tags, if the closing one comes.
    Opened,
    /// Inside the tags.
    Inside,
    /// Behind the closing tag; the blank lines that follow it belong to it.
    Behind,
    /// In the answer.
    Text,
}

impl Think {
    /// For a text that may begin inside the tags.
    pub(crate) fn opened() -> Self {
        Self { state: State::OpenedStart, ..Self::default() }
    }

    /// The server tells reasoning from text by itself, so what has no opening tag is text.
    pub(crate) fn told_apart(&mut self) {
        if self.state == State::OpenedStart {
            self.state = State::Start;
        }
    }

    /// Takes more text.
    pub(crate) fn feed(&mut self, text: &str, events: &mut Vec<ModelEvent>) {
        self.held.push_str(text);
        loop {
            let before = self.state;
            self.step(events);
            if self.state == before || self.held.is_empty() {
                return;
            }
        }
    }

    /// Gives out text that was held back because it might begin a tag; something else came in between.
    pub(crate) fn flush(&mut self, events: &mut Vec<ModelEvent>) {
        if !matches!(self.state, State::Inside | State::Opened | State::OpenedStart) {
            push(events, std::mem::take(&mut self.blank) + &std::mem::take(&mut self.held), ModelEvent::Text);
        }
    }

    /// Gives out what was held back; `cut` is whether the model had more to say.
    pub(crate) fn finish(&mut self, cut: bool, events: &mut Vec<ModelEvent>) {
        let held = std::mem::take(&mut self.blank) + &std::mem::take(&mut self.held);
        match self.state {
            State::Inside => push(events, held, ModelEvent::Reasoning),
            State::Opened if cut => push(events, held, ModelEvent::Reasoning),
            State::Opened => push(events, std::mem::take(&mut self.doubtful) + &held, ModelEvent::Text),
            State::Start | State::OpenedStart | State::Behind | State::Text => push(events, held, ModelEvent::Text),
        }
    }

    fn step(&mut self, events: &mut Vec<ModelEvent>) {
        match self.state {
            State::Text => push(events, std::mem::take(&mut self.held), ModelEvent::Text),
            State::Start | State::OpenedStart => {
                let begin = self.held.split_off(self.held.len() - self.held.trim_start().len());
                self.blank.push_str(&std::mem::replace(&mut self.held, begin));
                if let Some(rest) = self.held.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.blank = String::new();
                    self.state = State::Inside;
                } else if !OPEN.starts_with(&self.held) {
                    self.held = std::mem::take(&mut self.blank) + &self.held;
                    self.state = if self.state == State::Start { State::Text } else { State::Opened };
                }
            }
            State::Inside | State::Opened => {
                if let Some((reasoning, rest)) = self.held.split_once(CLOSE) {
                    push(events, reasoning.to_owned(), ModelEvent::Reasoning);
                    self.held = rest.to_owned();
                    self.state = State::Behind;
                    self.doubtful = String::new();
                } else {
                    let rest = self.held.split_off(self.held.len() - tail(&self.held));
                    let reasoning = std::mem::replace(&mut self.held, rest);
                    if self.state == State::Opened {
                        self.doubtful.push_str(&reasoning);
                    }
                    push(events, reasoning, ModelEvent::Reasoning);
                }
            }
            State::Behind => {
                let rest = self.held.trim_start_matches(['\n', '\r']);
                if rest.is_empty() {
                    self.held.clear();
                } else {
                    self.held = rest.to_owned();
                    self.state = State::Text;
                }
            }
        }
    }
}

/// How many bytes at the end may be the beginning of the closing tag.
fn tail(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|length| text.ends_with(&CLOSE[..*length])).unwrap_or(0)
}

fn push(events: &mut Vec<ModelEvent>, text: String, event: fn(String) -> ModelEvent) {
    if !text.is_empty() {
        events.push(event(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        split_by(Think::default(), pieces, false)
    }

    fn split_by(mut think: Think, pieces: &[&str], cut: bool) -> (String, String) {
        let mut events = Vec::new();
        for piece in pieces {
            think.feed(piece, &mut events);
        }
        think.finish(cut, &mut events);
        let mut both = (String::new(), String::new());
        for event in events {
            match event {
                ModelEvent::Reasoning(text) => both.0.push_str(&text),
                ModelEvent::Text(text) => both.1.push_str(&text),
                other => panic!("{other:?}"),
            }
        }
        both
    }

    #[test]
    fn reasoning_is_told_from_text_wherever_it_is_cut() {
        let whole = "\n<think>a < b</th\n</think>\n\nSo <think> it is.";
        for first in 0..=whole.len() {
            for second in first..=whole.len() {
                let both = split(&[&whole[..first], &whole[first..second], &whole[second..]]);
                assert_eq!(both, ("a < b</th\n".to_owned(), "So <think> it is.".to_owned()), "{first} {second}");
            }
        }
    }

    #[test]
    fn text_without_tags_stays_as_it_is() {
        assert_eq!(split(&[" <thin", "g> hi"]), (String::new(), " <thing> hi".to_owned()));
        assert_eq!(split(&["<think>never closed"]), ("never closed".to_owned(), String::new()));
        assert_eq!(split(&["<thi"]), (String::new(), "<thi".to_owned()));
    }

    // MOD-016
    #[test]
    fn reasoning_that_was_opened_before_the_text_is_told_from_it_wherever_it_is_cut() {
        for whole in ["a < b</th\n</think>\n\nSo </think> it is.", "\n<think>a < b</th\n</think>\n\nSo </think> it is."]
        {
            for first in 0..=whole.len() {
                let both = split_by(Think::opened(), &[&whole[..first], &whole[first..]], false);
                assert_eq!(both, ("a < b</th\n".to_owned(), "So </think> it is.".to_owned()), "{first}");
            }
        }
    }

    // MOD-016
    #[test]
    fn text_that_was_never_closed_is_the_answer_and_one_that_was_cut_is_reasoning() {
        assert_eq!(split_by(Think::opened(), &["Just ", "this. </thi"], false).1, "Just this. </thi");
        let cut = split_by(Think::opened(), &["First I ", "look </thi"], true);
        assert_eq!(cut, ("First I look </thi".to_owned(), String::new()));
    }

    // SEC-093
    #[test]
    fn blanks_in_pieces_are_gone_through_once_and_stay() {
        let blanks = " \n".repeat(400_000);
        let as_text = (String::new(), format!("{blanks}a</think>b"));
        let as_reasoning = (format!("{blanks}a"), "b".to_owned());
        for (mut think, expected) in [(Think::default(), as_text), (Think::opened(), as_reasoning)] {
            let mut events = Vec::new();
            for _ in 0..20_000 {
                think.feed(&" \n".repeat(20), &mut events);
                assert!(think.held.is_empty() && events.is_empty());
            }
            assert_eq!(split_by(think, &["a</think>b"], false), expected);
        }
    }

    // MOD-016
    #[test]
    fn a_tag_that_is_only_mentioned_stays() {
        let mention = "Write </think> at the end.";
        assert_eq!(split(&[mention]), (String::new(), mention.to_owned()));
        let mut told = Think::opened();
        told.told_apart();
        assert_eq!(split_by(told, &[mention], false), (String::new(), mention.to_owned()));
    }
}
