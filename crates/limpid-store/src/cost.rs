//! What requests cost, summed.

use limpid_core::{Money, Usage};

/// What costs are summed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CostBy {
    /// The prompt path.
    #[default]
    Path,
    /// Provider and model, as `provider/model`; the model that answered, where the provider names it.
    Model,
    /// The day, as `2026-06-01`.
    Day,
    /// The day and the prompt path, as `2026-06-01 chat`.
    DayAndPath,
    /// The conversation's id; empty for requests outside of any.
    Conversation,
}

/// Which costs to sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CostQuery {
    /// What to sum by.
    pub by: CostBy,
    /// Only requests sent at this time or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only requests sent before this time, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// Minutes that local time is ahead of UTC, for the border between days.
    pub utc_offset_min: i32,
}

/// What one path, model, day or conversation used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostRow {
    /// Which one.
    pub group: String,
    /// Requests.
    pub requests: u64,
    /// Tokens that providers counted.
    pub usage: Usage,
    /// Money, of the requests whose cost is known.
    pub cost: Money,
    /// Requests for which the provider counted nothing.
    pub unknown_usage: u64,
    /// Requests whose cost is not known.
    pub unknown_cost: u64,
}

impl CostRow {
    /// Nothing yet, of a group.
    pub fn empty(group: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            requests: 0,
            usage: Usage::default(),
            cost: Money(0),
            unknown_usage: 0,
            unknown_cost: 0,
        }
    }

    /// Adds what another row says.
    pub fn add(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.usage += other.usage;
        self.cost.0 = self.cost.0.saturating_add(other.cost.0);
        self.unknown_usage = self.unknown_usage.saturating_add(other.unknown_usage);
        self.unknown_cost = self.unknown_cost.saturating_add(other.unknown_cost);
    }

    /// The money in words, with the requests for which it is not known: what is unknown is not nothing.
    pub fn money(&self) -> String {
        self.money_as(|cost| cost.to_string())
    }

    /// The same, with other words for an amount.
    pub fn money_as(&self, say: impl Fn(Money) -> String) -> String {
        match (self.unknown_cost, self.requests) {
            (0, _) => say(self.cost),
            (unknown, all) if unknown == all => "unknown".to_owned(),
            (unknown, _) => format!("{} and {unknown} unknown", say(self.cost)),
        }
    }
}

/// What requests of one path used, by whose they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentRow {
    /// The path.
    pub path: String,
    /// Whether they belong to conversations that nobody began: runs of the heartbeat and of tasks.
    pub in_background: bool,
    /// Whether a stranger's text began that work: it came in, is a guest's, or led to the task or the agent. What the owner's own work
    /// has read is nothing that began it.
    pub by_strangers: bool,
    /// Tokens, in and out; where a provider counted nothing, or has not answered, the turn's own estimate.
    pub tokens: u64,
    /// Money, of the requests whose cost is known.
    pub money: Money,
}
