//! The messages that a request answers, shown as head and tail where they leave it no room.
//!
//! Before the turn is stored no view can limit them. They are stored as they were sent, so the next request shows the same.

use limpid_core::Trust;
use limpid_prompt::inputs::Inputs;
use limpid_services::error::AgentError;
use limpid_turn::window::shown::shorten;

use crate::history::{History, UNSTORED};
use crate::measure::Measure;

/// What such messages may have of a conversation's room while the request does not fit: a half, a quarter, an eighth.
const SHARES: [usize; 3] = [2, 4, 8];

/// Which of the messages are shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All but the one that comes last.
    Others,
    /// The owner's newest; where the owner has written none, the newest.
    Last,
}

/// The messages as they were before any was shortened: those that wait, oldest first, then the newest.
pub(crate) struct NewTexts {
    whole: Vec<String>,
    /// The one that is shortened last.
    last: usize,
}

impl NewTexts {
    pub(crate) fn of(past: &History, inputs: &Inputs) -> Self {
        let waiting = past.unanswered.iter().filter(|entry| entry.id == UNSTORED).map(|entry| &entry.message);
        let all: Vec<(&str, Trust)> = waiting
            .map(|message| (message.text.as_str(), message.trust))
            .chain(inputs.user.iter().map(|user| (user.text.as_str(), user.trust.into())))
            .collect();
        let last = all.iter().rposition(|(_, trust)| !trust.is_foreign()).unwrap_or(all.len().saturating_sub(1));
        Self { whole: all.into_iter().map(|(text, _)| text.to_owned()).collect(), last }
    }

    /// What is tried, in its order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (Which, usize)> + use<> {
        let others = SHARES.map(|share| (Which::Others, share));
        let others = others.into_iter().filter({
            let has_others = self.whole.len() > 1;
            move |_| has_others
        });
        others.chain(SHARES.map(|share| (Which::Last, share)))
    }

    /// Brings messages within a share of what the window has for a conversation. Says whether any became shorter.
    pub(crate) fn shorten(
        &self,
        which: Which,
        share: usize,
        sizes: &Measure,
        past: &mut History,
        inputs: &mut Inputs,
    ) -> Result<bool, AgentError> {
        let room = sizes.bare()?.available() / share;
        let room = if which == Which::Others { room / self.whole.len().saturating_sub(1).max(1) } else { room };
        let mut is_shorter = false;
        for (at, (whole, shown)) in self.whole.iter().zip(texts(past, inputs)).enumerate() {
            let is_meant = (at == self.last) == (which == Which::Last);
            if is_meant && sizes.count(shown) > room {
                *shown = shorten(whole, room, &|text| sizes.count(text));
                is_shorter = true;
            }
        }
        Ok(is_shorter)
    }

    /// What the owner should know of the messages that were shortened.
    pub(crate) fn notices(&self, past: &mut History, inputs: &mut Inputs, sizes: &Measure) -> Vec<String> {
        let both = self.whole.iter().zip(texts(past, inputs));
        both.filter(|(whole, shown)| whole != shown)
            .map(|(whole, _)| {
                let tokens = sizes.count(whole);
                format!("your message (about {tokens} tokens) was shortened for the model; the full text is stored")
            })
            .collect()
    }
}

/// The texts as they are shown, in the same order.
fn texts<'a>(past: &'a mut History, inputs: &'a mut Inputs) -> impl Iterator<Item = &'a mut String> {
    let waiting = past.unanswered.iter_mut().filter(|entry| entry.id == UNSTORED);
    waiting.map(|entry| &mut entry.message.text).chain(inputs.user.as_mut().map(|user| &mut user.text))
}
