//! Every threshold and share of the window, in one place (OLLM-088).

use limpid_core::{DigestLevel, Tier, UsableWindow};

use super::ageing;
use super::ledger::{Fill, Ledger};

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
    /// Percent of the whole usable window that a request may have before compaction starts.
    pub window: Option<u32>,
    /// Messages over which compaction starts, whatever their size.
    pub messages: Option<usize>,
    /// Messages that stay at least.
    pub keep_messages: usize,
    /// Messages over which a stretch is summarised in two halves; none: always as one.
    pub halves: Option<usize>,
    /// Tokens that a new summary may have, if its share is not smaller.
    pub summary: usize,
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
            window: None,
            messages: None,
            keep_messages: 0,
            halves: None,
            summary: ageing::cap(DigestLevel::Full),
            pin: 10,
            digests: 20,
            recent: 30,
            result: 25,
        }
    }
}

impl WindowSettings {
    /// One summary, made when there are more than 20 messages or three quarters of the window are used; the last four
    /// messages stay, and more than ten are summarised by halves (PICO-040 to PICO-042, PICO-051). Where the reserve
    /// leaves less than three quarters of the window to a conversation, `compact` comes first.
    pub fn summary() -> Self {
        Self {
            kind: Kind::Summary,
            window: Some(75),
            messages: Some(20),
            keep_messages: 4,
            halves: Some(10),
            summary: 1024,
            ..Self::default()
        }
    }

    /// Whether a compaction is due of a conversation that shows so many messages and whose next request is so large
    /// (OLLM-088, PICO-041).
    pub fn is_due(&self, ledger: &Ledger, messages: usize) -> bool {
        let is_long = self.messages.is_some_and(|most| messages > most);
        is_long || self.is_wide(ledger.total(), ledger.usable) || ledger.fill(self) >= Fill::Compact
    }

    /// Whether a request of so many tokens has more of the usable window than it may.
    pub fn is_wide(&self, total: usize, usable: UsableWindow) -> bool {
        self.window.is_some_and(|percent| total * 100 >= usable.0 as usize * percent as usize)
    }
}

/// Tokens that stay free for the reply, which may have no more: a quarter of the window, at most 4096 (OLLM-087).
pub fn reserve(usable: UsableWindow) -> usize {
    (usable.0 as usize / 4).min(4096)
}

/// Digests that a tier keeps beside each other before the two oldest merge (OLLM-099).
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
    use super::super::ledger::{Digests, InFlight, Pinned, Recent, System};
    use super::*;

    // OLLM-099
    #[test]
    fn each_tier_keeps_so_many_digests() {
        assert_eq!(Tier::ALL.map(most_digests), [1, 1, 5, 10, 15]);
    }

    // PICO-041
    #[test]
    fn a_summary_is_due_by_messages_or_by_three_quarters_of_the_window() {
        let settings = WindowSettings::summary();
        let ledger = |usable: u32, conversation: usize| Ledger {
            usable: UsableWindow(usable),
            system: System(2000),
            pin: Pinned(0),
            digests: Digests(0),
            recent: Recent(conversation),
            in_flight: InFlight(0),
        };
        let due = |usable: u32, total: usize, messages: usize| settings.is_due(&ledger(usable, total - 2000), messages);
        assert_eq!([20, 21].map(|messages| due(100_000, 3000, messages)), [false, true]);
        assert_eq!([74_999, 75_000].map(|total| due(100_000, total, 4)), [false, true]);
        // A quarter is kept for the reply: the gate would shorten what no summary has taken in.
        assert_eq!([7599, 7600].map(|total| due(12_000, total, 4)), [false, true]);
        let digests = WindowSettings::default();
        assert!(!digests.is_due(&ledger(100_000, 74_000), 400), "no other profile counts messages");
    }
}
