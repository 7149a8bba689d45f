//! Budgets: limits of groups, messages and prompts.

use limpid_core::{Tier, UsableWindow};

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Tokens, by the counter that the report names.
    Tokens,
    /// Characters (Unicode scalar values).
    Chars,
    /// Bytes of UTF-8.
    Bytes,
}

impl Unit {
    /// The unit's name, as profiles write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Chars => "chars",
            Self::Bytes => "bytes",
        }
    }
}

/// A number for each tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerTier(pub [usize; 5]);

/// An upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What it counts.
    pub unit: Unit,
    /// How much is allowed, by tier.
    pub amount: PerTier,
    /// That share of the usable window, if smaller; percent.
    pub window_percent: Option<u8>,
}

impl Limit {
    /// What is allowed at a tier with a window, when one is known.
    pub fn at(&self, tier: Tier, window: Option<UsableWindow>) -> usize {
        let amount = self.amount.0[tier.index()];
        match (self.window_percent, window) {
            (Some(percent), Some(window)) => amount.min((u64::from(window.0) * u64::from(percent) / 100) as usize),
            _ => amount,
        }
    }
}

/// What happens to the entries of a group that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// After the first one, every later entry of every section goes.
    StopAll,
    /// After the first one, every later entry of that section goes.
    Stop,
    /// Only that one goes.
    Skip,
}

/// The budget that several sections share for their entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupBudget {
    /// The profile that defines it; two profiles' groups of one name are two groups.
    pub profile: String,
    /// Its name.
    pub name: String,
    /// How much is allowed.
    pub limit: Limit,
    /// What happens beyond.
    pub overflow: Overflow,
    /// The paths on which it binds, and from which messages are spliced in which it binds; none: wherever its sections
    /// stand.
    pub paths: Option<Vec<String>>,
}

impl GroupBudget {
    /// Whether it binds on a path.
    pub fn binds(&self, path: &str) -> bool {
        self.paths.as_ref().is_none_or(|paths| paths.iter().any(|name| name == path))
    }
}

/// The budget of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How much is allowed.
    pub limit: Limit,
    /// Sections that do not count and are not cut.
    pub except: Vec<String>,
}
