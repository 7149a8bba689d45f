//! Where a provider's cache is told to keep what came before.

use std::ops::Range;

use limpid_core::Role;

use crate::prompt::PromptMessage;
use crate::section::Stability;

/// What is known of the messages that marks are set in.
pub(super) struct Layout {
    /// Where the history is; none on a path that has none.
    pub(super) history: Option<Range<usize>>,
    /// Messages at the end that the running turn has added.
    pub(super) in_flight: usize,
    /// Whether the newest message goes into the history as it is sent, with what changes from turn to turn.
    pub(super) kept_as_sent: bool,
}

/// Sets at most four marks: at the end of what is before the history, at the end of the history, at the end of the newest
/// message where the next request repeats it, and at the end of the running turn. While a turn runs, the mark of the history
/// moves to where the request before it ended: providers look back only 20 blocks from a mark for what they have, and one
/// round of parallel calls can add more. A mark after text that is new each turn would only cost, so there is none.
pub(super) fn set(messages: &mut [PromptMessage], layout: &Layout) {
    let listed = messages.len() - layout.in_flight;
    let is_stable = |message: &PromptMessage| message.parts.iter().all(|part| part.stability < Stability::Turn);
    let stable = messages[..listed].iter().take_while(|message| is_stable(message)).count();
    if stable == 0 {
        return;
    }
    let stays = stable == listed || layout.kept_as_sent && layout.history.is_some();
    let before = layout.history.as_ref().map_or(stable, |history| history.start);
    let past = layout.history.as_ref().map_or(0, |history| history.end);
    let mut ends: Vec<usize> = [before, past].into_iter().filter(|end| (1..=stable).contains(end)).collect();
    if stays {
        ends.push(listed);
    }
    if layout.in_flight > 0 {
        // The newest round begins with what the model said last.
        let round = messages.iter().rposition(|message| message.role() == Role::Assistant);
        let earlier = round.filter(|round| *round > listed);
        if stays && earlier.is_some() {
            ends.retain(|end| *end != past || past == before);
        }
        ends.extend(earlier);
        ends.push(messages.len());
    }
    for end in ends {
        messages[end - 1].cache_mark = true;
    }
}
