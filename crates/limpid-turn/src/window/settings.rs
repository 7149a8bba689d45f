//! What a conversation may have of its window. Thresholds and shares are [`WindowSettings`].

use limpid_core::compaction::WindowSettings;
use limpid_core::{Tier, UsableWindow};

/// Tokens that stay free for the reply, which may have no more: a quarter of the window, at most 4096.
pub fn reserve(usable: UsableWindow) -> usize {
    (usable.0 as usize / 4).min(4096)
}

/// Digests that a tier keeps beside each other before the two oldest merge.
pub const fn most_digests(tier: Tier) -> usize {
    match tier.number() {
        1 | 2 => 1,
        3 => 5,
        4 => 10,
        _ => 15,
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

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-099
    #[test]
    fn each_tier_keeps_so_many_digests() {
        assert_eq!(Tier::ALL.map(most_digests), [1, 1, 5, 10, 15]);
    }
}
