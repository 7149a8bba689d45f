//! Sizes of a model's window and the prompt tier that follows.
//!
//! Two sizes are easily confused: what a person chooses ([`WindowSize`]) and what the server is told and held to
//! ([`UsableWindow`]). The tier follows the first, every limit the second; there is no silent way from one to the other.

use std::fmt;

/// The window that a person selects or a model is sold with, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowSize(pub u32);

/// The window that is really used, in tokens: every limit is computed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UsableWindow(pub u32);

impl UsableWindow {
    /// 85 % of a window, rounded: what is used when a model's profile does not say.
    ///
    /// ```
    /// use limpid_core::{UsableWindow, WindowSize};
    /// assert_eq!(UsableWindow::default_for(WindowSize(131_072)), UsableWindow(111_411));
    /// ```
    pub const fn default_for(size: WindowSize) -> Self {
        Self(((size.0 as u64 * 85 + 50) / 100) as u32)
    }
}

/// How much a system prompt may say: 1 (minimal) to 5 (ultra).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tier(u8);

impl Tier {
    /// Every tier, from the smallest.
    pub const ALL: [Self; 5] = [Self(1), Self(2), Self(3), Self(4), Self(5)];

    /// Takes a number from 1 to 5.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 5 { Some(Self(number)) } else { None }
    }

    /// The tier of a window, rounding up.
    ///
    /// ```
    /// use limpid_core::{Tier, WindowSize};
    /// assert_eq!(Tier::of(WindowSize(20_480)).number(), 4);
    /// ```
    pub const fn of(size: WindowSize) -> Self {
        match size.0 {
            0..=4096 => Self(1),
            4097..=8192 => Self(2),
            8193..=16384 => Self(3),
            16385..=32768 => Self(4),
            _ => Self(5),
        }
    }

    /// The number, 1 to 5.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The number less one, for a list with one entry a tier.
    pub const fn index(self) -> usize {
        self.0 as usize - 1
    }

    /// The tier's name.
    pub const fn label(self) -> &'static str {
        match self.0 {
            1 => "Minimal",
            2 => "Basic",
            3 => "Standard",
            4 => "Premium",
            _ => "Ultra",
        }
    }

    /// Tokens that the assembled system prompt may take, the goal block excepted.
    pub const fn prompt_budget(self) -> u32 {
        match self.0 {
            1 => 200,
            2 => 500,
            3 => 1000,
            _ => 1500,
        }
    }

    /// Tokens that the goal block may take beside that.
    pub const fn goal_allotment(self) -> u32 {
        self.prompt_budget()
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0, self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-017
    #[test]
    fn the_usable_window_is_85_percent_rounded() {
        let usable: Vec<u32> =
            [2, 4, 8, 16, 32, 64, 128].map(|k| UsableWindow::default_for(WindowSize(k * 1024)).0).to_vec();
        assert_eq!(usable, [1741, 3482, 6963, 13926, 27853, 55706, 111_411]);
    }

    // OLLM-015 OLLM-126
    #[test]
    fn the_tier_never_falls_as_the_window_grows() {
        let tiers: Vec<Tier> = (1..=200_000).map(|size| Tier::of(WindowSize(size))).collect();
        assert!(tiers.is_sorted());
        let borders: Vec<usize> = (1..tiers.len()).filter(|&at| tiers[at] != tiers[at - 1]).map(|at| at + 1).collect();
        assert_eq!(borders, [4097, 8193, 16385, 32769]);
        assert_eq!(Tier::of(WindowSize(20 * 1024)).number(), 4);
    }

    // OLLM-014
    #[test]
    fn labels_and_budgets_are_the_seeds() {
        let rows: Vec<String> = Tier::ALL.map(|tier| format!("{tier} {}", tier.prompt_budget())).to_vec();
        assert_eq!(
            rows,
            ["1 (Minimal) 200", "2 (Basic) 500", "3 (Standard) 1000", "4 (Premium) 1500", "5 (Ultra) 1500"]
        );
    }
}
