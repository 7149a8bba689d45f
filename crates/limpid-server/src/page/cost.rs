//! The screen of what was spent.

mod chart;
mod limits;
mod spent;
mod words;

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
use limpid_prompt::shown::shown_line;
use limpid_store::{CostBy, CostRow};
use serde::Deserialize;

use self::chart::Chart;
use self::limits::{Limit, limits};
use self::spent::{Spent, total};
use self::words::{beat_words, figure, lead, money, share, unknown};
use super::meter::thousands;
use super::shell::Shell;
use super::state::Page;
use super::trouble::Trouble;

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
