//! Spending limits: what may still be paid for, and by whom.

use std::fmt;

use crate::Money;

/// The share of a day's limit that is left to background work: it stops first, and the rest is the person's.
const BACKGROUND_SHARE: (u64, u64) = (3, 4);

/// Who wants a model to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spender {
    /// Nobody asked for it: the heartbeat, a task, and what these lead to.
    Background,
    /// A person did.
    Owner,
}

/// What a limit is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One turn.
    Run,
    /// A day.
    Day,
    /// Background work of a day.
    Background,
    /// One prompt path of a day.
    Path(String),
}

/// What was used, or may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Tokens, in and out.
    pub tokens: u64,
    /// Money, as far as prices are known.
    pub money: Money,
}

/// An amount of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Tokens, in and out.
    Tokens(u64),
    /// Money.
    Money(Money),
}

/// One limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its key in `limpid.toml`, below `[limits]`.
    pub key: String,
    /// What it is about.
    pub scope: Scope,
    /// How much.
    pub cap: Quantity,
}

/// A limit beside what was used of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitState {
    /// The limit.
    pub limit: Limit,
    /// What was used.
    pub used: Quantity,
}

impl Amount {
    /// The part of a kind.
    pub const fn like(self, kind: Quantity) -> Quantity {
        match kind {
            Quantity::Tokens(_) => Quantity::Tokens(self.tokens),
            Quantity::Money(_) => Quantity::Money(self.money),
        }
    }
}

impl Quantity {
    /// The bare number: tokens, or millionths of a dollar.
    pub const fn number(self) -> u64 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Money(money) => money.0,
        }
    }

    /// What is left of this when `used` is gone.
    #[must_use]
    pub const fn less(self, used: Self) -> Self {
        let left = self.number().saturating_sub(used.number());
        match self {
            Self::Tokens(_) => Self::Tokens(left),
            Self::Money(_) => Self::Money(Money(left)),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
            Self::Money(money) => money.fmt(f),
        }
    }
}

impl LimitState {
    /// Whether nothing more may be spent by somebody on a path.
    pub fn stops(&self, spender: Spender, path: Option<&str>) -> bool {
        let Limit { scope, cap, .. } = &self.limit;
        let cap = cap.number();
        let cap = match (scope, spender) {
            (Scope::Background, Spender::Owner) => return false,
            (Scope::Path(of), _) if Some(of.as_str()) != path => return false,
            (Scope::Day, Spender::Background) => cap / BACKGROUND_SHARE.1 * BACKGROUND_SHARE.0,
            _ => cap,
        };
        self.used.number() >= cap
    }

    /// Whether all of it is used.
    pub const fn is_used_up(&self) -> bool {
        self.used.number() >= self.limit.cap.number()
    }
}

impl fmt::Display for LimitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, used } = self;
        write!(f, "the limit {} of limpid.toml is reached: {used} of {}", limit.key, limit.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(scope: Scope, cap: u64, used: u64) -> LimitState {
        let limit = Limit { key: "k".to_owned(), scope, cap: Quantity::Tokens(cap) };
        LimitState { limit, used: Amount { tokens: used, money: Money(9) }.like(Quantity::Tokens(0)) }
    }

    // SEC-043 LES-015
    #[test]
    fn background_work_stops_first_and_a_person_at_the_cap() {
        use Spender::{Background, Owner};
        let path = || Scope::Path("task".to_owned());
        for (scope, used, background, asked) in [
            (Scope::Background, 99, false, false),
            (Scope::Background, 100, true, false),
            (Scope::Background, 1000, true, false),
            (Scope::Day, 74, false, false),
            (Scope::Day, 75, true, false),
            (Scope::Day, 99, true, false),
            (Scope::Day, 100, true, true),
            (Scope::Run, 99, false, false),
            (Scope::Run, 100, true, true),
            (path(), 99, false, false),
            (path(), 100, true, true),
        ] {
            let state = state(scope, 100, used);
            let stops = (state.stops(Background, Some("task")), state.stops(Owner, Some("task")));
            assert_eq!(stops, (background, asked), "{state:?}");
        }
        assert!(!state(path(), 1, 9).stops(Background, Some("heartbeat")), "it is another path's");
        assert!(state(Scope::Background, 0, 0).stops(Background, None), "nothing at all");
    }

    #[test]
    fn a_limit_says_what_was_used_of_it() {
        assert_eq!(
            state(Scope::Day, 10, 12).to_string(),
            "the limit k of limpid.toml is reached: 12 tokens of 10 tokens"
        );
        let money = |micros| Quantity::Money(Money(micros));
        assert_eq!(money(2_000_000).less(money(500_000)).to_string(), "$1.500000");
        assert_eq!(money(1).less(money(2)), money(0));
    }
}
