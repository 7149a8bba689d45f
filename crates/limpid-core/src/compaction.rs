//! When a conversation is compacted, and how much of the window each part of it may keep. Profiles set these values
//! (`[behaviour.compaction]`); the window engine only follows them.

use crate::digest::DigestLevel;
use crate::window::UsableWindow;

/// What compaction leaves of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompactionStyle {
    /// Digests that get shorter as they age.
    #[default]
    Digests,
    /// One summary that takes in the earlier one.
    Summary,
}

impl CompactionStyle {
    /// Every style.
    pub const ALL: [Self; 2] = [Self::Digests, Self::Summary];

    /// The style's name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Digests => "digests",
            Self::Summary => "summary",
        }
    }
}

/// Thresholds in percent of what the window has for a conversation, and shares of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSettings {
    /// What compaction leaves.
    pub style: CompactionStyle,
    /// The person is warned.
    pub warn: u32,
    /// Compaction starts.
    pub start: u32,
    /// Digests and old turns are shortened without a model before a request leaves.
    pub emergency: u32,
    /// Everything but the newest turns becomes one note.
    pub rollover: u32,
    /// Percent of the whole usable window that a request may have before compaction starts.
    pub window_percent: Option<u32>,
    /// Messages over which compaction starts, whatever their size.
    pub messages: Option<usize>,
    /// Messages that stay at least.
    pub keep_messages: usize,
    /// Messages over which a stretch is summarised in two halves; none: always as one.
    pub split_over: Option<usize>,
    /// Tokens that a new summary may have, if its share is not smaller.
    pub summary_tokens: usize,
    /// Percent that the pinned request may have.
    pub pin: u32,
    /// Percent that all digests may have.
    pub digests: u32,
    /// Percent that the newest turns may have.
    pub recent: u32,
    /// Percent that one tool's result may have.
    pub result: u32,
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self {
            style: CompactionStyle::Digests,
            warn: 70,
            start: 80,
            emergency: 95,
            rollover: 100,
            window_percent: None,
            messages: None,
            keep_messages: 0,
            split_over: None,
            summary_tokens: DigestLevel::Full.max_tokens(),
            pin: 10,
            digests: 20,
            recent: 30,
            result: 25,
        }
    }
}

impl WindowSettings {
    /// Whether so many messages are more than a conversation may show.
    pub fn is_long(&self, messages: usize) -> bool {
        self.messages.is_some_and(|most| messages > most)
    }

    /// Whether a request of so many tokens has more of the usable window than it may.
    pub fn is_wide(&self, total: usize, usable: UsableWindow) -> bool {
        self.window_percent.is_some_and(|percent| total * 100 >= usable.0 as usize * percent as usize)
    }
}
