//! The screen of what was spent.

mod chart;

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use jiff::ToSpan as _;
use jiff::civil::Date;
use limpid_core::Money;
use limpid_core::spend::{LimitState, Quantity};
use limpid_prompt::shown::shown_line;
use limpid_store::{CostBy, CostRow};
use serde::Deserialize;

use self::chart::{Chart, Series};
use super::meter::thousands;
use super::shell::Shell;
use super::state::Page;
use super::trouble::Trouble;

/// Paths that have a part of their own in the chart of money; all others are one.
const PARTS: usize = 4;

/// What is asked for.
#[derive(Deserialize)]
struct Asked {
    days: Option<String>,
}

/// A line of a table.
struct Line {
    name: String,
    requests: u64,
    input: String,
    cached: String,
    output: String,
    cost: String,
}

/// A limit of a day; without a cap there is none.
struct Limit {
    key: String,
    name: String,
    used: u64,
    cap: Option<u64>,
    words: String,
}

#[derive(Template)]
#[template(path = "cost.html")]
struct CostScreen {
    shell: Shell,
    days: usize,
    /// Yesterday and today, in words.
    lead: String,
    /// Money and requests of today, and of all the days.
    today: (String, String),
    all: (String, String),
    sum: Line,
    from_cache: String,
    beat: (String, String),
    charts: Vec<Chart>,
    /// What the charts of money leave out, in words.
    unknown: Option<String>,
    tables: [(&'static str, Vec<Line>); 2],
    limits: Vec<Limit>,
}

/// What was spent in the days of a screen.
struct Spent {
    first: Date,
    names: Vec<String>,
    /// By day and path.
    parts: BTreeMap<(String, String), CostRow>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/cost", get(show))
}

/// `GET /cost?days=30`
async fn show(
    State(page): State<Arc<Page>>,
    Query(Asked { days }): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let days: usize = match days.as_deref() {
        Some("7") => 7,
        None | Some("30") => 30,
        Some("90") => 90,
        Some(_) => return Err(Trouble::invalid("There are 7, 30 and 90 days.")),
    };
    let agent = &page.agent;
    let today = agent.now().to_zoned(agent.zone()).date();
    let first = today.saturating_sub((days as i64 - 1).days());
    let since_ms = begin_of(&page, first);
    let spent = Spent::new(first, days, &agent.costs(CostBy::DayAndPath, Some(since_ms), None).await?);
    let by_model = agent.costs(CostBy::Model, Some(since_ms), None).await?;
    let (by_path, sum) = (spent.by_path(), spent.sum());
    let (now, before) = (begin_of(&page, today), begin_of(&page, today.saturating_sub(1.day())));
    let of_today = total("Today", &agent.costs(CostBy::Path, Some(now), None).await?);
    let yesterday = agent.costs(CostBy::Path, Some(before), Some(now)).await?;
    let beats = beats_by_day(&page, since_ms).await?;
    let heartbeat = by_path.iter().find(|row| row.group == "heartbeat");
    let screen = CostScreen {
        shell: Shell::new(&page, &headers, "Cost · Limpid", "cost").await?,
        days,
        lead: lead(&yesterday, &of_today),
        today: figure(&of_today),
        all: figure(&sum),
        from_cache: share(&sum).map_or("unknown".to_owned(), |share| format!("{share} %")),
        beat: beat_words(heartbeat, &beats),
        charts: vec![spent.money_chart(&by_path), spent.tokens_chart(), spent.cache_chart(), spent.beats_chart(&beats)],
        unknown: unknown(&by_model),
        sum: line(&sum),
        tables: [("By path", by_path.iter().map(line).collect()), ("By model", by_model.iter().map(line).collect())],
        limits: limits(&page).await?,
    };
    Ok(Html(screen.render()?).into_response())
}

/// When a day of the owner's begins, in milliseconds since 1970.
fn begin_of(page: &Page, day: Date) -> i64 {
    day.to_zoned(page.agent.zone()).map_or(0, |at| at.timestamp().as_millisecond())
}

/// Runs of the heartbeat, and those of them that asked a model, by day.
async fn beats_by_day(page: &Page, since_ms: i64) -> Result<BTreeMap<String, (u64, u64)>, Trouble> {
    let mut days = BTreeMap::<String, (u64, u64)>::new();
    for run in page.agent.heartbeat().log(u32::MAX).await?.rows.iter().filter(|run| run.ended_ms >= since_ms) {
        let at = jiff::Timestamp::from_millisecond(run.ended_ms).unwrap_or_default().to_zoned(page.agent.zone());
        let (all, asked) = days.entry(at.date().to_string()).or_default();
        *all += 1;
        *asked += u64::from(run.requests > 0);
    }
    Ok(days)
}

impl Spent {
    fn new(first: Date, days: usize, rows: &[CostRow]) -> Self {
        let names = (0..days).map(|day| first.saturating_add((day as i64).days()).to_string()).collect();
        let mut parts = BTreeMap::new();
        for row in rows {
            let (day, path) = row.group.split_once(' ').unwrap_or((&row.group, ""));
            parts.insert((day.to_owned(), path.to_owned()), row.clone());
        }
        Self { first, names, parts }
    }

    fn sum(&self) -> CostRow {
        total("Sum", self.parts.values())
    }

    fn of_day(&self, day: &str) -> CostRow {
        total(day, self.parts.iter().filter(|((of, _), _)| of == day).map(|(_, row)| row))
    }

    /// The paths, those first that cost most.
    fn by_path(&self) -> Vec<CostRow> {
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
    fn money_chart(&self, by_path: &[CostRow]) -> Chart {
        let (own, others) = by_path.split_at(by_path.len().min(PARTS));
        let mut series: Vec<Series> = own
            .iter()
            .map(|path| Series {
                name: shown_line(&path.group),
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
    fn tokens_chart(&self) -> Chart {
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
    fn cache_chart(&self) -> Chart {
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
    fn beats_chart(&self, beats: &BTreeMap<String, (u64, u64)>) -> Chart {
        let of = |day: &String| beats.get(day).copied().unwrap_or_default();
        let series = |name: &str, count: &dyn Fn((u64, u64)) -> u64| {
            let values: Vec<u64> = self.names.iter().map(|day| count(of(day))).collect();
            Series { name: name.to_owned(), note: thousands(values.iter().sum::<u64>() as usize), values }
        };
        let series =
            vec![series("asked a model", &|(_, asked)| asked), series("had no news", &|(all, asked)| all - asked)];
        let words = |day: &str| {
            let cost = self.cost_of(day, "heartbeat");
            if cost.requests == 0 { "cost nothing".to_owned() } else { money(&cost) }
        };
        Chart::stacked(("beats", "Heartbeats by day"), self, &series, (|count| count.to_string(), &words))
    }
}

fn total<'a>(name: &str, rows: impl IntoIterator<Item = &'a CostRow>) -> CostRow {
    rows.into_iter().fold(CostRow::empty(name), |mut sum, row| {
        sum.add(row);
        sum
    })
}

/// Yesterday and today in words.
fn lead(yesterday: &[CostRow], today: &CostRow) -> String {
    let say = |row: &CostRow| match row.requests {
        0 => "nothing was sent".to_owned(),
        1 => format!("{}, 1 request", money(row)),
        many => format!("{}, {} requests", money(row), thousands(many as usize)),
    };
    let sum = total("", yesterday);
    let mut parts: Vec<&CostRow> = yesterday.iter().filter(|row| row.cost.0 > 0).collect();
    parts.sort_by_key(|row| std::cmp::Reverse(row.cost));
    let most = parts.iter().take(2).map(|row| format!("{} for {}", dollars(row.cost), shown_line(&row.group)));
    let most: Vec<String> = most.collect();
    let of = if most.is_empty() { String::new() } else { format!(" ({})", most.join(", ")) };
    format!("Yesterday: {}{of}. Today so far: {}.", say(&sum), say(today))
}

/// The known money of a row as a figure, and its requests with what is not known.
fn figure(row: &CostRow) -> (String, String) {
    let requests =
        format!("{} {}", thousands(row.requests as usize), if row.requests == 1 { "request" } else { "requests" });
    match row.unknown_cost {
        0 => (dollars(row.cost), requests),
        unknown if unknown == row.requests => ("unknown".to_owned(), requests),
        unknown => (dollars(row.cost), format!("{requests}, and the price of {unknown} is not known")),
    }
}

/// What a heartbeat costs, and how many there were.
fn beat_words(cost: Option<&CostRow>, beats: &BTreeMap<String, (u64, u64)>) -> (String, String) {
    let (all, asked) = beats.values().fold((0, 0), |(all, asked), (more, of)| (all + more, asked + of));
    let days = beats.len().max(1) as u64;
    let each = match cost {
        _ if asked == 0 => "nothing".to_owned(),
        Some(row) if row.unknown_cost == row.requests => "unknown".to_owned(),
        Some(row) if row.unknown_cost > 0 => format!("{} or more", dollars(Money(row.cost.0 / asked))),
        Some(row) => dollars(Money(row.cost.0 / asked)),
        None => "nothing".to_owned(),
    };
    let plain = format!("{} a day; {asked} of {all} asked a model. The log keeps a month", all.div_ceil(days));
    (each, plain)
}

/// What the sums of money leave out.
fn unknown(by_model: &[CostRow]) -> Option<String> {
    let without: Vec<&CostRow> = by_model.iter().filter(|row| row.unknown_cost > 0).collect();
    let count: u64 = without.iter().map(|row| row.unknown_cost).sum();
    let models: Vec<String> = without.iter().map(|row| shown_line(&row.group)).collect();
    let requests = if count == 1 { "1 request" } else { "requests" };
    let number = if count == 1 { String::new() } else { format!("{} ", thousands(count as usize)) };
    (count > 0).then(|| {
        let models = models.join(", ");
        format!("The price of {number}{requests} is not known, so no sum of money has it: {models}. Put prices into models.toml.")
    })
}

/// The limits of a day, those of money that are not set too.
async fn limits(page: &Page) -> Result<Vec<Limit>, Trouble> {
    let states = page.agent.spending().limits().await?;
    let mut limits: Vec<Limit> = states.iter().map(limit).collect();
    for (key, name) in [("dollars_per_day", "Money, a day"), ("tokens_per_day", "Tokens, a day")] {
        if !limits.iter().any(|limit| limit.key == key) {
            limits.push(Limit { key: key.to_owned(), name: name.to_owned(), used: 0, cap: None, words: String::new() });
        }
    }
    let config = &page.agent.config().limits;
    let each = [
        ("dollars_per_run", config.dollars_per_run.map(|dollars| format!("${dollars} each"))),
        ("tokens_per_run", config.tokens_per_run.map(|tokens| format!("{} tokens each", thousands(tokens as usize)))),
    ];
    limits.extend(each.into_iter().map(|(key, words)| Limit {
        key: key.to_owned(),
        name: plain_key(key),
        used: 0,
        cap: None,
        words: words.unwrap_or_default(),
    }));
    Ok(limits)
}

fn limit(LimitState { limit, used }: &LimitState) -> Limit {
    let words = match limit.cap {
        Quantity::Tokens(cap) => format!("{} of {} tokens", thousands(used.number() as usize), thousands(cap as usize)),
        Quantity::Money(cap) => format!("{} of {}", dollars(Money(used.number())), dollars(cap)),
    };
    Limit {
        name: plain_key(&limit.key),
        key: limit.key.clone(),
        used: used.number(),
        cap: Some(limit.cap.number()),
        words,
    }
}

/// `background_tokens_per_day` as `Background tokens, a day`.
fn plain_key(key: &str) -> String {
    let (key, path) = match key.strip_prefix("path.").and_then(|rest| rest.rsplit_once('.')) {
        Some((path, key)) => (key, format!(" of {}", shown_line(path))),
        None => (key, String::new()),
    };
    let (what, span) = match (key.strip_suffix("_per_day"), key.strip_suffix("_per_run")) {
        (Some(what), _) => (what, ", a day"),
        (_, Some(what)) => (what, ", a turn"),
        _ => (key, ""),
    };
    let words = what.replace('_', " ").replace("dollars", "money");
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}{path}{span}", letters.as_str())
}

/// The share of the input that came from a cache, in percent; none where nothing was read.
fn share(row: &CostRow) -> Option<u64> {
    (row.usage.input > 0).then(|| row.usage.cached.saturating_mul(100) / row.usage.input)
}

/// Money as people write it; below a dollar with the digits that say something.
fn dollars(money: Money) -> String {
    let Money(micro) = money;
    match micro {
        0 => "$0".to_owned(),
        1..=99 => format!("${:.6}", micro as f64 / 1e6),
        100..=9_999 => format!("${:.4}", micro as f64 / 1e6),
        10_000..=999_999 => format!("${:.3}", micro as f64 / 1e6),
        _ => format!("${}.{:02}", thousands((micro / 1_000_000) as usize), micro % 1_000_000 / 10_000),
    }
}

fn dollars_of(micro: u64) -> String {
    dollars(Money(micro))
}

/// Tokens, shortened.
fn tokens_of(tokens: u64) -> String {
    match tokens {
        0..=9_999 => thousands(tokens as usize),
        10_000..=999_999 => format!("{}k", tokens / 1_000),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

/// The money of a row, and for how many requests it is unknown.
fn money(row: &CostRow) -> String {
    row.money_as(dollars)
}

fn line(row: &CostRow) -> Line {
    Line {
        name: shown_line(&row.group),
        requests: row.requests,
        input: thousands(row.usage.input as usize),
        cached: thousands(row.usage.cached as usize),
        output: thousands(row.usage.output as usize),
        cost: money(row),
    }
}
