//! `[limits]`: how far a turn may go, and what may be spent.

use std::collections::BTreeMap;

use limpid_core::Money;
use limpid_core::spend::{Limit, Quantity, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

/// How far a turn may go, and what may be spent.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Calls of the model with tools in one turn; one more follows without.
    pub calls_with_tools: u32,
    /// Characters of a tool's result that the model gets to read.
    pub result_chars: usize,
    /// Seconds that a tool may take, when it has no limit of its own.
    pub tool_seconds: u64,
    /// Times that a request is tried in all when a provider fails in passing.
    pub tries: u32,
    /// Seconds that a provider may be silent, before and within its answer, until it is given up.
    pub silence_seconds: u64,
    /// Tokens that one answer may have. Default: the provider's own limit.
    pub output_tokens: Option<u32>,
    /// Tokens that one turn may use, in and out, over all its calls of models.
    pub tokens_per_run: Option<u64>,
    /// US dollars that one turn may cost.
    pub dollars_per_run: Option<f64>,
    /// Tokens a day; background work may use 3/4, other people's messages half.
    pub tokens_per_day: Option<u64>,
    /// US dollars a day; background work may use 3/4, other people's messages half.
    pub dollars_per_day: Option<f64>,
    /// Tokens a day for heartbeats and tasks; other people's messages may use half.
    pub background_tokens_per_day: u64,
    /// US dollars a day for heartbeats and tasks; other people's messages may use half.
    pub background_dollars_per_day: Option<f64>,
    /// Limits of prompt paths; other people's messages may use half.
    pub path: BTreeMap<String, PathLimits>,
}

/// What one prompt path may use.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathLimits {
    /// Tokens a day.
    pub tokens_per_day: Option<u64>,
    /// US dollars a day.
    pub dollars_per_day: Option<f64>,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            calls_with_tools: 15,
            result_chars: 20_000,
            tool_seconds: 30,
            tries: 3,
            silence_seconds: 300,
            output_tokens: None,
            tokens_per_run: None,
            dollars_per_run: None,
            tokens_per_day: None,
            dollars_per_day: None,
            background_tokens_per_day: 200_000,
            background_dollars_per_day: None,
            path: BTreeMap::new(),
        }
    }
}

impl LimitsConfig {
    /// The limits on what is spent, those of a run last.
    pub fn spending(&self) -> Vec<Limit> {
        let mut limits = Vec::new();
        let mut add = |key: &str, scope: Scope, tokens: Option<u64>, dollars: Option<f64>| {
            let unit = |unit: &str| key.replace("{}", unit);
            let caps = tokens
                .map(|tokens| (unit("tokens"), Quantity::Tokens(tokens)))
                .into_iter()
                .chain(dollars.map(|dollars| (unit("dollars"), Quantity::Money(money(dollars)))));
            limits.extend(caps.map(|(key, cap)| Limit { key, scope: scope.clone(), cap }));
        };
        let background = Some(self.background_tokens_per_day);
        add("background_{}_per_day", Scope::Background, background, self.background_dollars_per_day);
        add("{}_per_day", Scope::Day, self.tokens_per_day, self.dollars_per_day);
        for (path, own) in &self.path {
            let key = format!("path.{path}.{{}}_per_day");
            add(&key, Scope::Path(path.clone()), own.tokens_per_day, own.dollars_per_day);
        }
        add("{}_per_run", Scope::Run, self.tokens_per_run, self.dollars_per_run);
        limits
    }
}

/// Dollars as money; what is no amount is none.
fn money(dollars: f64) -> Money {
    // The cast takes what is negative or no number as 0.
    Money((dollars * 1_000_000.0).round() as u64)
}
