//! The screen of what was spent.

mod chart;
mod limits;
mod purposes;
mod span;
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

use self::chart::Chart;
use self::limits::{Limit, limits};
use self::purposes::Purposes;
use self::span::{Asked, Choice, Span};
use self::spent::{Spent, total};
use self::words::{Missing, beat_words, figure, lead, money, of_day, share};
use super::meter::thousands;
use super::shell::Shell;
use super::state::Page;
use super::trouble::Trouble;

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
    spans: Vec<Choice>,
    /// The days beside the one that is shown.
    beside: Vec<Choice>,
    /// What was spent, in words.
    lead: String,
    /// Names, money and requests: of today, and of all the days that are shown.
    sums: Vec<(String, String, String)>,
    sum: Line,
    from_cache: String,
    beat: (String, String),
    charts: Vec<Chart>,
    missing: Option<Missing>,
    tables: [(&'static str, Vec<Line>); 2],
    limits: Vec<Limit>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/cost", get(show))
}

/// `GET /cost?days=30` and `GET /cost?day=2026-04-11`
async fn show(
    State(page): State<Arc<Page>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let agent = &page.agent;
    let purposes = Purposes::new(&page);
    let today = agent.now().to_zoned(agent.zone()).date();
    let span = Span::read(&asked, today)?;
    let (since_ms, until_ms) = (begin_of(&page, span.first), begin_of(&page, span.last.saturating_add(1.day())));
    let within = (Some(since_ms), Some(until_ms));
    let spent =
        Spent::new(span.first, span.days(), &agent.costs(CostBy::DayAndPath, within.0, within.1).await?, &purposes);
    let by_model = agent.costs(CostBy::Model, within.0, within.1).await?;
    let (by_path, sum) = (spent.by_path(), spent.sum());
    let beats = beats_by_day(&page, since_ms, until_ms).await?;
    let heartbeat = by_path.iter().find(|row| row.group == "heartbeat");
    let of_today = total("Today", &agent.costs(CostBy::Path, Some(begin_of(&page, today)), None).await?);
    let (lead, sums, charts) = if span.is_day {
        (of_day(&span.name(), &by_path, &purposes), vec![(span.name(), &sum)], Vec::new())
    } else {
        let (now, before) = (begin_of(&page, today), begin_of(&page, today.saturating_sub(1.day())));
        let yesterday = agent.costs(CostBy::Path, Some(before), Some(now)).await?;
        let charts =
            vec![spent.money_chart(&by_path), spent.tokens_chart(), spent.cache_chart(), spent.beats_chart(&beats)];
        let sums = vec![("Today so far".to_owned(), &of_today), (span.name(), &sum)];
        (lead(&yesterday, &of_today, &purposes), sums, charts)
    };
    let sums = sums.into_iter().map(|(name, row)| {
        let (most, more) = figure(row);
        (name, most, more)
    });
    let purpose = |row: &CostRow| line(row, purposes.of(&row.group));
    let model = |row: &CostRow| line(row, shown_line(&row.group));
    let has_price =
        |name: &str| name.split_once('/').is_some_and(|(provider, id)| agent.models().price(provider, id).is_some());
    let screen = CostScreen {
        shell: Shell::new(&page, &headers, "Cost · Limpid", "cost").await?,
        spans: span.choices(today),
        beside: span.beside(today),
        lead,
        sums: sums.collect(),
        from_cache: share(&sum).map_or("unknown".to_owned(), |share| format!("{share} %")),
        beat: beat_words(heartbeat, &beats),
        charts,
        missing: Missing::new(&by_model, &page.agent.home().model_profiles(), has_price),
        sum: line(&sum, String::new()),
        tables: [
            ("By purpose", by_path.iter().map(purpose).collect()),
            ("By model", by_model.iter().map(model).collect()),
        ],
        limits: limits(&page).await?,
    };
    Ok(Html(screen.render()?).into_response())
}

/// When a day of the owner's begins, in milliseconds since 1970.
fn begin_of(page: &Page, day: Date) -> i64 {
    day.to_zoned(page.agent.zone()).map_or(0, |at| at.timestamp().as_millisecond())
}

/// Runs of the heartbeat, and those of them that asked a model, by day.
async fn beats_by_day(page: &Page, since_ms: i64, until_ms: i64) -> Result<BTreeMap<String, (u64, u64)>, Trouble> {
    let mut days = BTreeMap::<String, (u64, u64)>::new();
    for run in page.agent.heartbeat().runs_between(since_ms, until_ms).await?.rows {
        let at = jiff::Timestamp::from_millisecond(run.ended_ms).unwrap_or_default().to_zoned(page.agent.zone());
        let (all, asked) = days.entry(at.date().to_string()).or_default();
        *all += 1;
        *asked += u64::from(run.requests > 0);
    }
    Ok(days)
}

fn line(row: &CostRow, name: String) -> Line {
    Line {
        name,
        requests: row.requests,
        input: thousands(row.usage.input as usize),
        cached: thousands(row.usage.cached as usize),
        output: thousands(row.usage.output as usize),
        cost: money(row),
    }
}
