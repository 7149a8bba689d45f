//! Every threshold and share of the window, in one place (OLLM-088).

use limpid_core::{Tier, UsableWindow};

/// What compaction leaves of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Digests that age (OLLM-098, OLLM-099).
    #[default]
    Digests,
    /// One summary that takes in the earlier one (PICO-040 to PICO-043).
    Summary,
}

/// Thresholds in percent of what the window has for a conversation, and shares of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSettings {
    /// What compaction leaves.
    pub kind: Kind,
    /// The person is warned.
    pub warn: u32,
    /// Compaction starts.
    pub compact: u32,
    /// Digests and old turns are shortened without a model before a request leaves.
    pub emergency: u32,
    /// Everything but the newest turns becomes one note.
    pub rollover: u32,
    /// Messages over which compaction starts, whatever their size.
    pub messages: Option<usize>,
    /// Messages that stay at least.
    pub keep_messages: usize,
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
            kind: Kind::Digests,
            warn: 70,
            compact: 80,
            emergency: 95,
            rollover: 100,
            messages: None,
            keep_messages: 0,
            pin: 10,
            digests: 20,
            recent: 30,
            result: 25,
        }
    }
}

impl WindowSettings {
    /// One summary, made when there are more than 20 messages or three quarters of the window are used (PICO-041).
    pub fn summary() -> Self {
        Self { kind: Kind::Summary, compact: 75, messages: Some(20), keep_messages: 4, ..Self::default() }
    }
}

/// Tokens that stay free for the reply, which may have no more: a quarter of the window, at most 4096 (OLLM-087).
pub fn reserve(usable: UsableWindow) -> usize {
    (usable.0 as usize / 4).min(4096)
}

/// Digests that a tier keeps beside each other before the two oldest merge (OLLM-099).
pub const fn most_digests(tier: Tier) -> usize {
    match tier.number() {
        1 => 2,
        2 => 3,
        3 => 4,
        4 => 6,
        _ => 8,
    }
}

/// What a conversation may have, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The window less what stands around the conversation and the reserve.
    pub available: usize,
    /// The pinned request.
    pub pin: usize,
    /// All digests together.
    pub digests: usize,
    /// The newest turns.
    pub recent: usize,
    /// One tool's result.
    pub result: usize,
    /// What one request for a summary may quote.
    pub request: usize,
}

impl Budget {
    /// The shares of what is available. `frames` are tokens that pin and digests cost beside their texts.
    pub fn new(settings: &WindowSettings, available: usize, frames: usize, request: usize) -> Self {
        let room = available.saturating_sub(frames);
        let share = |percent: u32| room * percent as usize / 100;
        Self {
            available,
            pin: share(settings.pin),
            digests: share(settings.digests),
            recent: share(settings.recent),
            result: share(settings.result),
            request,
        }
    }
}
