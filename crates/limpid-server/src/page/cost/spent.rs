//! What was spent by day and path, and the charts of it.

use std::collections::BTreeMap;

use jiff::ToSpan as _;
use jiff::civil::Date;
use limpid_store::CostRow;

use super::chart::{Chart, Series};
use super::purposes::Purposes;
use super::words::{dollars_of, money, share, tokens_of};
use crate::page::meter::thousands;

/// Paths that have a part of their own in the chart of money; all others are one.
const PARTS: usize = 4;

/// What was spent in the days of a screen.
pub(super) struct Spent<'p> {
    purposes: &'p Purposes,
    pub(super) first: Date,
    pub(super) names: Vec<String>,
    /// By day and path.
    parts: BTreeMap<(String, String), CostRow>,
}

impl<'p> Spent<'p> {
    pub(super) fn new(first: Date, days: usize, rows: &[CostRow], purposes: &'p Purposes) -> Self {
        let names = (0..days).map(|day| first.saturating_add((day as i64).days()).to_string()).collect();
        let mut parts = BTreeMap::new();
        for row in rows {
            let (day, path) = row.group.split_once(' ').unwrap_or((&row.group, ""));
            parts.insert((day.to_owned(), path.to_owned()), row.clone());
        }
        Self { purposes, first, names, parts }
    }

    pub(super) fn sum(&self) -> CostRow {
        total("Sum", self.parts.values())
    }

    fn of_day(&self, day: &str) -> CostRow {
        total(day, self.parts.iter().filter(|((of, _), _)| of == day).map(|(_, row)| row))
    }

    /// The paths, those first that cost most.
    pub(super) fn by_path(&self) -> Vec<CostRow> {
        let mut paths = BTreeMap::<&str, CostRow>::new();
        for ((_, path), row) in &self.parts {
            paths.entry(path).or_insert_with(|| CostRow::empty(path)).add(row);
        }
        let mut paths: Vec<CostRow> = paths.into_values().collect();
        paths.sort_by_key(|row| std::cmp::Reverse((row.cost, row.usage.input)));
        paths
    }

    fn cost_of(&self, day: &str, path: &str) -> CostRow {
        self.parts.get(&(day.to_owned(), path.to_owned())).cloned().unwrap_or_else(|| CostRow::empty(""))
    }

    /// What each day cost, by what it was for.
    pub(super) fn money_chart(&self, by_path: &[CostRow]) -> Chart {
        let (own, others) = by_path.split_at(by_path.len().min(PARTS));
        let mut series: Vec<Series> = own
            .iter()
            .map(|path| Series {
                name: self.purposes.of(&path.group),
                note: money(path),
                values: self.names.iter().map(|day| self.cost_of(day, &path.group).cost.0).collect(),
            })
            .collect();
        if !others.is_empty() {
            let of = |day: &String| others.iter().map(|path| self.cost_of(day, &path.group).cost.0).sum();
            let values = self.names.iter().map(of).collect();
            series.push(Series { name: "everything else".to_owned(), note: money(&total("", others)), values });
        }
        let words = |day: &str| match self.of_day(day) {
            row if row.requests == 0 => "nothing".to_owned(),
            row => money(&row),
        };
        Chart::stacked(("money", "Money by day"), self, &series, (dollars_of, &words))
    }

    /// The tokens of each day.
    pub(super) fn tokens_chart(&self) -> Chart {
        let days: Vec<CostRow> = self.names.iter().map(|day| self.of_day(day)).collect();
        let series = |name: &str, tokens: fn(&CostRow) -> u64| Series {
            name: name.to_owned(),
            note: tokens_of(days.iter().map(tokens).sum()),
            values: days.iter().map(tokens).collect(),
        };
        let series = vec![
            series("new input", |row| row.usage.input.saturating_sub(row.usage.cached)),
            series("cached input", |row| row.usage.cached),
            series("output", |row| row.usage.output),
        ];
        let words = |day: &str| {
            let usage = self.of_day(day).usage;
            format!("{} in all", tokens_of(usage.input.saturating_add(usage.output)))
        };
        Chart::stacked(("tokens", "Tokens by day"), self, &series, (tokens_of, &words))
    }

    /// The share of each day's input that came from a cache.
    pub(super) fn cache_chart(&self) -> Chart {
        let shares = self.names.iter().map(|day| share(&self.of_day(day)));
        let series = Series {
            name: "from the cache".to_owned(),
            note: share(&self.sum()).map_or("unknown".to_owned(), |share| format!("{share} %")),
            values: shares.map(Option::unwrap_or_default).collect(),
        };
        let words =
            |day: &str| share(&self.of_day(day)).map_or("nothing was read".to_owned(), |share| format!("{share} %"));
        Chart::stacked(("cache", "Read from cache by day"), self, &[series], (|share| format!("{share} %"), &words))
            .up_to(100)
    }

    /// Heartbeats of each day, and what they cost.
    pub(super) fn beats_chart(&self, beats: &BTreeMap<String, (u64, u64)>) -> Chart {
        let of = |day: &String| beats.get(day).copied().unwrap_or_default();
        let series = |name: &str, count: &dyn Fn((u64, u64)) -> u64| {
            let values: Vec<u64> = self.names.iter().map(|day| count(of(day))).collect();
            Series { name: name.to_owned(), note: thousands(values.iter().sum::<u64>() as usize), values }
        };
        let series =
            vec![series("called a model", &|(_, asked)| asked), series("had no news", &|(all, asked)| all - asked)];
        let words = |day: &str| {
            let cost = self.cost_of(day, "heartbeat");
            if cost.requests == 0 { "cost nothing".to_owned() } else { money(&cost) }
        };
        Chart::stacked(("beats", "Heartbeats by day"), self, &series, (|count| count.to_string(), &words))
    }
}

/// Rows as one.
pub(super) fn total<'a>(name: &str, rows: impl IntoIterator<Item = &'a CostRow>) -> CostRow {
    rows.into_iter().fold(CostRow::empty(name), |mut sum, row| {
        sum.add(row);
        sum
    })
}
