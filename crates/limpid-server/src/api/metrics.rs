//! `GET /metrics`: numbers of how the agent does, in the words of Prometheus. Counters count from midnight of the owner's zone, so one
//! that begins anew is what a scraper knows as a restart.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use jiff::civil::Time;
use limpid_runtime::Agent;
use limpid_store::{CostBy, CostRow, RequestFilter};

use super::error::{ApiError, ErrorBody};
use super::state::Api;

/// Failed requests that are counted at most.
const FAILED: u32 = 10_000;

/// The text that a scraper reads.
#[derive(Default)]
struct Page(String);

impl Page {
    /// A number that may have several labelled values.
    fn add<'a>(
        &mut self,
        (name, kind, help): (&str, &str, &str),
        values: impl IntoIterator<Item = (Vec<(&'a str, &'a str)>, f64)>,
    ) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let labels: Vec<String> =
                labels.into_iter().map(|(label, of)| format!("{label}=\"{}\"", escaped(of))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }

    /// A number that stands for itself.
    fn gauge(&mut self, name: &str, help: &str, value: usize) {
        self.add((name, "gauge", help), [(Vec::new(), value as f64)]);
    }

    /// What was sent and spent, by one thing.
    fn spent(&mut self, by: &str, rows: &[CostRow]) {
        let each =
            |value: fn(&CostRow) -> f64| rows.iter().map(move |row| (vec![(by, row.group.as_str())], value(row)));
        let name = format!("limpid_{by}_requests_total");
        self.add((&name, "counter", "Requests to models today"), each(|row| row.requests as f64));
        let name = format!("limpid_{by}_tokens_total");
        let tokens = rows.iter().flat_map(|row| {
            let usage = row.usage;
            let kinds = [("input", usage.input), ("cached", usage.cached), ("output", usage.output)];
            kinds.map(|(kind, count)| (vec![(by, row.group.as_str()), ("kind", kind)], count as f64))
        });
        self.add((&name, "counter", "Tokens today; cached ones are among the input"), tokens);
        let name = format!("limpid_{by}_cost_usd_total");
        let help = "Money of today as far as prices are known, in US dollars";
        self.add((&name, "counter", help), each(|row| row.cost.0 as f64 / 1e6));
    }
}

/// Shows numbers of how the agent does, for Prometheus
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "metrics",
    responses(
        (status = 200, description = "The numbers", body = String, content_type = "text/plain"),
        (status = 500, description = "The store cannot be read", body = ErrorBody)
    )
)]
pub(super) async fn show(State(api): State<Arc<Api>>) -> Result<Response, ApiError> {
    let text = numbers(&api.page.agent).await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

async fn numbers(agent: &Agent) -> Result<String, ApiError> {
    let (now, zone) = (agent.now(), agent.zone());
    let offset = zone.to_offset(now);
    let midnight = offset.to_datetime(now).date().to_datetime(Time::midnight());
    let since_ms = offset.to_timestamp(midnight).map_or(0, jiff::Timestamp::as_millisecond);
    let mut page = Page::default();
    let version = vec![("version", env!("CARGO_PKG_VERSION"))];
    page.add(("limpid_build_info", "gauge", "The version that runs"), [(version, 1.0)]);
    for (by, name) in [(CostBy::Path, "path"), (CostBy::Model, "model")] {
        page.spent(name, &agent.costs(by, Some(since_ms), None).await?);
    }
    let filter = RequestFilter { failed: true, since_ms: Some(since_ms), limit: FAILED, ..RequestFilter::default() };
    let mut failed: BTreeMap<&str, f64> = BTreeMap::new();
    for request in agent.store().requests(filter).await?.rows {
        let class = request.end.and_then(|end| end.failure).map_or("unknown", |(class, _)| class.as_str());
        *failed.entry(class).or_default() += 1.0;
    }
    let failed = failed.into_iter().map(|(class, count)| (vec![("class", class)], count));
    page.add(("limpid_failed_requests_total", "counter", "Requests to models that failed today"), failed);
    let beats = agent.heartbeat().runs_between(since_ms, i64::MAX).await?.rows;
    let (asked, quiet): (Vec<_>, Vec<_>) = beats.into_iter().partition(|run| run.requests > 0);
    let counts = [("yes", asked.len()), ("no", quiet.len())];
    let counts = counts.map(|(asked, count)| (vec![("asked_model", asked)], count as f64));
    page.add(("limpid_heartbeats_total", "counter", "Runs of the heartbeat today"), counts);
    page.gauge("limpid_drafts_waiting", "Calls that wait for the owner", agent.drafts().list(false).await?.rows.len());
    let unread = agent.deliveries().unread().await?.rows.len();
    page.gauge("limpid_deliveries_unread", "Messages of the agent that the owner has not read", unread);
    Ok(page.0)
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
