//! The sizes of one request, each a type of its own, so that one cannot be taken for another.

use limpid_core::UsableWindow;
use limpid_core::compaction::WindowSettings;

use super::settings::reserve;

macro_rules! sizes {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub usize);
    )*};
}

sizes! {
    /// Tokens of the system prompt with its goal, and of the tools' declarations.
    System
    /// Tokens of the pinned request.
    Pinned
    /// Tokens of digests.
    Digests
    /// Tokens of shown messages before the running turn.
    Recent
    /// Tokens of the newest message and of what the running turn added.
    InFlight
}

/// How full a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fill {
    /// There is room.
    Fine,
    /// The person is to know.
    Warn,
    /// A compaction is due after the next answer.
    Compact,
    /// Something has to go before the next request.
    Emergency,
    /// The next request does not fit.
    Rollover,
}

/// Every size of a request. Its parts add up to the count of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSize {
    /// The window.
    pub usable: UsableWindow,
    /// Around the conversation.
    pub system: System,
    /// The pinned request.
    pub pin: Pinned,
    /// Digests.
    pub digests: Digests,
    /// Earlier messages.
    pub recent: Recent,
    /// The running turn.
    pub in_flight: InFlight,
}

impl ContextSize {
    /// Tokens of the whole request.
    pub fn total(&self) -> usize {
        self.system.0 + self.conversation()
    }

    /// Tokens of the conversation.
    pub fn conversation(&self) -> usize {
        self.pin.0 + self.digests.0 + self.recent.0 + self.in_flight.0
    }

    /// Tokens that stay free for the reply.
    pub fn reserve(&self) -> usize {
        reserve(self.usable)
    }

    /// Tokens that the conversation may have.
    pub fn available(&self) -> usize {
        (self.usable.0 as usize).saturating_sub(self.system.0 + self.reserve())
    }

    /// The conversation in whole percent of what it may have.
    pub fn percent(&self) -> usize {
        (self.conversation() * 100).checked_div(self.available()).unwrap_or(101)
    }

    /// Whether the request leaves room for the reply.
    pub fn fits(&self) -> bool {
        self.total() + self.reserve() <= self.usable.0 as usize
    }

    /// Whether a compaction is due of a conversation that shows so many messages and whose next request is this one. Where the reserve leaves less of the window than `window_percent`, `start` comes first.
    pub fn is_due(&self, settings: &WindowSettings, messages: usize) -> bool {
        settings.is_long(messages)
            || settings.is_wide(self.total(), self.usable)
            || self.fill(settings) >= Fill::Compact
    }

    /// How full the window is.
    pub fn fill(&self, settings: &WindowSettings) -> Fill {
        let percent = self.percent();
        let reached = |threshold: u32| percent >= threshold as usize;
        if !self.fits() || percent > settings.rollover as usize {
            Fill::Rollover
        } else if reached(settings.emergency) {
            Fill::Emergency
        } else if reached(settings.start) {
            Fill::Compact
        } else if reached(settings.warn) {
            Fill::Warn
        } else {
            Fill::Fine
        }
    }

    /// The parts by name, for people.
    pub fn parts(&self) -> [(&'static str, usize); 6] {
        [
            ("system", self.system.0),
            ("pin", self.pin.0),
            ("digests", self.digests.0),
            ("recent", self.recent.0),
            ("in flight", self.in_flight.0),
            ("reserve", self.reserve()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(usable: u32, recent: usize) -> ContextSize {
        ContextSize {
            usable: UsableWindow(usable),
            system: System(200),
            pin: Pinned(0),
            digests: Digests(0),
            recent: Recent(recent),
            in_flight: InFlight(0),
        }
    }

    // PICO-041
    #[test]
    fn a_compaction_is_due_by_messages_or_by_the_share_of_the_window() {
        let settings = WindowSettings { window_percent: Some(75), messages: Some(20), ..WindowSettings::default() };
        let of = |usable: u32, total: usize| ContextSize { system: System(2000), ..size(usable, total - 2000) };
        let due = |usable: u32, total: usize, messages: usize| of(usable, total).is_due(&settings, messages);
        assert_eq!([20, 21].map(|messages| due(100_000, 3000, messages)), [false, true]);
        assert_eq!([74_999, 75_000].map(|total| due(100_000, total, 4)), [false, true]);
        // A quarter is kept for the reply: the gate would shorten what no summary has taken in.
        assert_eq!([7599, 7600].map(|total| due(12_000, total, 4)), [false, true]);
        let digests = WindowSettings::default();
        assert!(!of(100_000, 74_000).is_due(&digests, 400), "messages count only where a profile says so");
    }

    // OLLM-087
    #[test]
    fn a_quarter_of_the_window_and_at_most_4096_stay_free() {
        let rows: Vec<(usize, usize)> =
            [1741, 16_384, 111_411].map(|usable| (size(usable, 0).reserve(), size(usable, 0).available())).to_vec();
        assert_eq!(rows, [(435, 1106), (4096, 12_088), (4096, 107_115)]);
    }

    // OLLM-088
    #[test]
    fn thresholds_are_shares_of_what_is_available() {
        let settings = WindowSettings::default();
        let available = size(1741, 0).available();
        let fill = |percent: usize| size(1741, (available * percent).div_ceil(100)).fill(&settings);
        let fills = [69, 70, 79, 80, 94, 95, 100, 101].map(fill);
        use Fill::{Compact, Emergency, Fine, Rollover, Warn};
        assert_eq!(fills, [Fine, Warn, Warn, Compact, Compact, Emergency, Emergency, Rollover]);
    }
}
