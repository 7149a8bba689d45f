//! What was spent, in words and figures.

use std::collections::BTreeMap;
use std::path::Path;

use limpid_core::Money;
use limpid_prompt::shown::shown_line;
use limpid_store::CostRow;

use super::purposes::Purposes;
use super::spent::total;
use crate::page::meter::thousands;

/// Yesterday and today in words.
pub(super) fn lead(yesterday: &[CostRow], today: &CostRow, purposes: &Purposes) -> String {
    format!("Yesterday: {}. Today so far: {}.", spent(yesterday, purposes), say(today))
}

/// One day in words.
pub(super) fn of_day(name: &str, rows: &[CostRow], purposes: &Purposes) -> String {
    format!("{name}: {}.", spent(rows, purposes))
}

/// What a day cost, and what for most of all.
fn spent(rows: &[CostRow], purposes: &Purposes) -> String {
    let mut parts: Vec<&CostRow> = rows.iter().filter(|row| row.cost.0 > 0).collect();
    parts.sort_by_key(|row| std::cmp::Reverse(row.cost));
    let most = parts.iter().take(2).map(|row| format!("{}: {}", purposes.of(&row.group), dollars(row.cost)));
    let most: Vec<String> = most.collect();
    let of = if most.is_empty() { String::new() } else { format!(" ({})", most.join(", ")) };
    format!("{}{of}", say(&total("", rows)))
}

fn say(row: &CostRow) -> String {
    if row.requests == 0 {
        return "no requests".to_owned();
    }
    let (most, more) = figure(row);
    format!("{most}, {more}")
}

/// Whether no amount is known. Requests that are known to cost nothing, as one that failed at once, do not make the sum of the others $0.
fn is_unknown(row: &CostRow) -> bool {
    row.unknown_cost > 0 && (row.unknown_cost == row.requests || row.cost == Money(0))
}

/// The known money of a row as a figure, or its tokens where no money is known; and its requests with what is not known.
pub(super) fn figure(row: &CostRow) -> (String, String) {
    let requests =
        format!("{} {}", thousands(row.requests as usize), if row.requests == 1 { "request" } else { "requests" });
    let most = match is_unknown(row) {
        true => format!("{} tokens", tokens_of(row.usage.input.saturating_add(row.usage.output))),
        false => dollars(row.cost),
    };
    match row.unknown_cost {
        0 => (most, requests),
        unknown if unknown == row.requests => (most, format!("{requests}, price unknown")),
        unknown => (most, format!("{requests}, {} without a known price", thousands(unknown as usize))),
    }
}

/// What a heartbeat costs, and how many there were.
pub(super) fn beat_words(cost: Option<&CostRow>, beats: &BTreeMap<String, (u64, u64)>) -> (String, String) {
    let (all, asked) = beats.values().fold((0, 0), |(all, asked), (more, of)| (all + more, asked + of));
    let days = beats.len().max(1) as u64;
    let each = match cost {
        _ if asked == 0 => dollars(Money(0)),
        Some(row) if is_unknown(row) => "price unknown".to_owned(),
        Some(row) if row.unknown_cost > 0 => format!("{} or more", dollars(Money(row.cost.0 / asked))),
        Some(row) => dollars(Money(row.cost.0 / asked)),
        None => "nothing".to_owned(),
    };
    let plain = match all {
        0 => "none yet".to_owned(),
        1 if asked == 1 => "1 run, which called a model".to_owned(),
        all => format!("{} a day; {asked} of {all} called a model", all.div_ceil(days)),
    };
    (each, plain)
}

/// What the sums of money leave out, and what would mend it.
pub(super) struct Missing {
    pub(super) words: String,
    /// The file in which prices can be written, and what to write; none where each model has its price by now.
    pub(super) add: Option<(String, String)>,
}

impl Missing {
    pub(super) fn new(by_model: &[CostRow], file: &Path, has_price: impl Fn(&str) -> bool) -> Option<Self> {
        let without: Vec<&CostRow> = by_model.iter().filter(|row| row.unknown_cost > 0).collect();
        let count: u64 = without.iter().map(|row| row.unknown_cost).sum();
        let models: Vec<String> = without.iter().map(|row| shown_line(&row.group)).collect();
        let requests = match count {
            0 => return None,
            1 => "1 request".to_owned(),
            many => format!("{} requests", thousands(many as usize)),
        };
        let (they, them) = if count == 1 { ("it was made, or it", "it") } else { ("they were made, or they", "them") };
        let unpriced = without.iter().map(|row| row.group.as_str()).filter(|name| !has_price(name));
        let unpriced = unpriced.map(|name| format!("{:?}", shown_line(name))).collect::<Vec<_>>().join(", ");
        let lines = || format!("[[model]]\nnames = [{unpriced}]\nprice = {{ input = 0.25, output = 2.0 }}");
        Some(Self {
            words: format!(
                "The money here leaves out {requests} to {}: no price was known when {they} failed. \
                 Requests and known tokens here include {them}.",
                models.join(", ")
            ),
            add: (!unpriced.is_empty()).then(|| (file.display().to_string(), lines())),
        })
    }
}

/// The share of the input that came from a cache, in percent; none where nothing was read.
pub(super) fn share(row: &CostRow) -> Option<u64> {
    (row.usage.input > 0).then(|| row.usage.cached.saturating_mul(100) / row.usage.input)
}

/// Money as people write it; below a dollar with the digits that say something.
pub(super) fn dollars(money: Money) -> String {
    let Money(micro) = money;
    match micro {
        0 => "$0".to_owned(),
        1..=99 => format!("${:.6}", micro as f64 / 1e6),
        100..=9_999 => format!("${:.4}", micro as f64 / 1e6),
        10_000..=999_999 => format!("${:.3}", micro as f64 / 1e6),
        _ => format!("${}.{:02}", thousands((micro / 1_000_000) as usize), micro % 1_000_000 / 10_000),
    }
}

/// The same of millionths of a dollar.
pub(super) fn dollars_of(micro: u64) -> String {
    dollars(Money(micro))
}

/// Tokens, shortened.
pub(super) fn tokens_of(tokens: u64) -> String {
    match tokens {
        0..=9_999 => thousands(tokens as usize),
        10_000..=999_999 => format!("{}k", tokens / 1_000),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

/// The money of a row, and for how many requests it is unknown.
pub(super) fn money(row: &CostRow) -> String {
    if is_unknown(row) { "unknown".to_owned() } else { row.money_as(dollars) }
}
