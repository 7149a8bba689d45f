//! The screen of what was spent.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use jiff::ToSpan as _;
use limpid_core::spend::LimitState;
use limpid_prompt::shown::shown_line;
use limpid_store::{CostBy, CostQuery, CostRow};
use serde::Deserialize;

use super::meter::thousands;
use super::shell::Shell;
use super::state::Page;
use super::trouble::Trouble;

/// How wide a day is in the chart, in its own units.
const DAY: usize = 10;

/// How high the chart is.
const HEIGHT: u64 = 100;

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

/// A part of a day in the chart.
struct Bar {
    kind: &'static str,
    x: usize,
    y: u64,
    height: u64,
}

/// A limit of a day.
struct Limit {
    key: String,
    used: String,
    cap: String,
    left: String,
}

#[derive(Template)]
#[template(path = "cost.html")]
struct CostScreen {
    shell: Shell,
    days: usize,
    width: usize,
    bars: Vec<Bar>,
    by_day: Vec<Line>,
    sum: Line,
    tables: [(&'static str, Vec<Line>); 2],
    from_cache: String,
    beats: usize,
    beats_cost: String,
    limits: Vec<Limit>,
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
    let (now, zone) = (agent.now(), agent.zone());
    let offset = zone.to_offset(now);
    let today = offset.to_datetime(now).date();
    let first = today.saturating_sub((days as i64 - 1).days());
    let since_ms = offset
        .to_timestamp(first.to_datetime(jiff::civil::Time::midnight()))
        .map_or(0, jiff::Timestamp::as_millisecond);
    let sums = async |by| {
        let query = CostQuery { by, since_ms: Some(since_ms), until_ms: None, utc_offset_min: offset.seconds() / 60 };
        agent.store().costs(query).await
    };
    let (by_day, by_path, by_model) = (sums(CostBy::Day).await?, sums(CostBy::Path).await?, sums(CostBy::Model).await?);
    let sum = sum(&by_day);
    let runs = agent.heartbeat().log(u32::MAX).await?.rows;
    let names = (0..days).map(|day| first.saturating_add((day as i64).days()).to_string()).collect::<Vec<_>>();
    let screen = CostScreen {
        shell: Shell::new(&page, &headers, "Cost · Limpid", "cost").await?,
        days,
        width: days * DAY,
        bars: bars(&names, &by_day),
        from_cache: match sum.usage.input {
            0 => "unknown".to_owned(),
            input => format!("{} %", sum.usage.cached.saturating_mul(100) / input),
        },
        beats: runs.iter().filter(|run| run.ended_ms >= since_ms && run.requests > 0).count(),
        beats_cost: by_path.iter().find(|row| row.group == "heartbeat").map_or("nothing".to_owned(), money),
        by_day: by_day.iter().rev().map(line).collect(),
        sum: line(&sum),
        tables: [("By path", by_path.iter().map(line).collect()), ("By model", by_model.iter().map(line).collect())],
        limits: agent.spending().limits().await?.iter().map(limit).collect(),
    };
    Ok(Html(screen.render()?).into_response())
}

fn sum(rows: &[CostRow]) -> CostRow {
    let empty = CostRow {
        group: "Sum".to_owned(),
        requests: 0,
        usage: limpid_core::Usage::default(),
        cost: limpid_core::Money(0),
        unknown_usage: 0,
        unknown_cost: 0,
    };
    rows.iter().fold(empty, |mut sum, row| {
        sum.requests += row.requests;
        sum.usage.input += row.usage.input;
        sum.usage.cached += row.usage.cached;
        sum.usage.output += row.usage.output;
        sum.cost.0 += row.cost.0;
        sum.unknown_cost += row.unknown_cost;
        sum
    })
}

/// The money, and for how many requests it is unknown.
fn money(row: &CostRow) -> String {
    match (row.unknown_cost, row.requests) {
        (0, _) => row.cost.to_string(),
        (unknown, all) if unknown == all => "unknown".to_owned(),
        (unknown, _) => format!("{} and {unknown} unknown", row.cost),
    }
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

fn limit(LimitState { limit, used }: &LimitState) -> Limit {
    let left = limit.cap.less(*used);
    Limit { key: limit.key.clone(), used: used.to_string(), cap: limit.cap.to_string(), left: left.to_string() }
}

/// Input that was read anew, input from the cache and output of each day, one upon the other.
fn bars(names: &[String], rows: &[CostRow]) -> Vec<Bar> {
    let most = rows.iter().map(|row| row.usage.input.saturating_add(row.usage.output)).max().unwrap_or_default().max(1);
    let mut bars = Vec::new();
    for row in rows {
        let Some(at) = names.iter().position(|name| *name == row.group) else { continue };
        let usage = &row.usage;
        let parts =
            [("fixed", usage.input.saturating_sub(usage.cached)), ("session", usage.cached), ("turn", usage.output)];
        let mut y = HEIGHT;
        for (kind, tokens) in parts {
            let height = tokens.saturating_mul(HEIGHT) / most;
            y = y.saturating_sub(height);
            bars.push(Bar { kind, x: at * DAY + 1, y, height });
        }
    }
    bars
}
