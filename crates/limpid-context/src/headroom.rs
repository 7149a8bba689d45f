//! What the last request of a turn tells of the room that is left.

use limpid_prompt::Profile;
use limpid_turn::window::ContextSize;

use crate::history::History;

/// What a turn's last request tells of the room that is left, so that most turns need no recount after their answer.
#[derive(Clone, Copy, Debug)]
pub struct Headroom {
    /// Whether a compaction or a warning can be due.
    pub is_tight: bool,
    /// Turns that are shown.
    pub turns: usize,
}

impl Headroom {
    /// `running` is how many messages the running turn has added to the one that it answers.
    pub fn new(size: &ContextSize, profile: &Profile, past: &History, running: usize) -> Self {
        let settings = &profile.behaviour().compaction;
        let most = size.conversation() + size.reserve();
        let is_full = most * 100 >= size.available() * settings.warn as usize;
        let is_wide = settings.is_wide(size.total() + size.reserve(), size.usable);
        // With the message that is answered, and the answer.
        let messages = past.entries.len() + past.unanswered.len() + running + 2;
        let is_long = settings.is_long(messages);
        Self { is_tight: is_full || is_wide || is_long, turns: past.turns() }
    }
}
