//! Where a provider's cache is told to keep what came before (PRO-043).

use std::ops::Range;

use crate::prompt::{PromptMessage, Stability};

/// Sets at most three marks: at the end of what stands before the history, at the end of the history, and at the end of
/// the running turn, whose next request repeats it. A mark after text that is new each turn would only cost, so there is
/// none.
pub(super) fn set(messages: &mut [PromptMessage], history: Range<usize>, in_flight: usize) {
    let listed = messages.len() - in_flight;
    let stable = messages[..listed]
        .iter()
        .take_while(|message| message.parts.iter().all(|part| part.stability < Stability::Turn))
        .count();
    let before = if history.is_empty() { stable } else { history.start };
    for end in [before, history.end] {
        if (1..=stable).contains(&end) {
            messages[end - 1].cache_mark = true;
        }
    }
    if let Some(last) = messages.last_mut().filter(|_| stable > 0 && in_flight > 0) {
        last.cache_mark = true;
    }
}
