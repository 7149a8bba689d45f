//! What providers said of their models, kept for a day in the home folder.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;
use limpid_config::{Clock, Home, private_file, read_text};
use limpid_model::Endpoint;
use limpid_model::catalogue::Table;
use limpid_model::reported::{Question, Unanswered, ask};
use serde::{Deserialize, Serialize};

/// How long a provider may take to say what it knows: somebody waits for an answer meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);

const MINUTE_MS: i64 = 60 * 1000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// A server on this machine is started again with other settings, and answers within milliseconds.
const HERE_MS: i64 = 5 * MINUTE_MS;
/// For what was not in the answer, and for providers that gave none.
const SOON_MS: i64 = 10 * MINUTE_MS;

/// What providers said, by name.
pub(crate) struct Reports {
    home: Home,
    clock: Arc<dyn Clock>,
    kept: Mutex<HashMap<String, Option<Report>>>,
}

/// What one provider said.
#[derive(Clone, Debug)]
struct Report {
    head: ReportHead,
    /// Absent: it said nothing.
    table: Option<Table>,
}

/// The first line of a kept answer; the table follows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ReportHead {
    asked_ms: i64,
    /// Where it was asked, without secrets: another address may be another server.
    place: String,
}

impl Reports {
    pub(crate) fn new(home: Home, clock: Arc<dyn Clock>) -> Self {
        Self { home, clock, kept: Mutex::default() }
    }

    /// What the provider at this place said last, be it long ago.
    pub(crate) fn of(&self, provider: &str, endpoint: &Endpoint) -> Option<Table> {
        self.last(provider).filter(|report| report.head.place == endpoint.shown())?.table
    }

    /// Asks a provider, unless its last answer is fresh. Returns whether something else is known now.
    pub(crate) async fn renew(&self, provider: &str, model: &str, endpoint: &Endpoint) -> bool {
        let now_ms = self.clock.now().as_millisecond();
        let before = self.last(provider).filter(|report| report.head.place == endpoint.shown());
        if before.as_ref().is_some_and(|report| report.is_fresh(provider, model, endpoint, now_ms)) {
            return false;
        }
        let date = self.clock.now().to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string();
        let memory = endpoint.is_here().then(crate::models::memory_available).flatten();
        let question = Question { provider, model, date: &date, memory, patience: PATIENCE };
        let said = ask(endpoint, &question).await;
        let old = before.and_then(|report| report.table);
        let (table, keep) = match said {
            Ok(table) => (Some(table), true),
            // What it said yesterday is better than nothing.
            Err(why) => (old.clone(), why == Unanswered::Ever),
        };
        let is_new = table.as_ref().map(Table::text) != old.as_ref().map(Table::text);
        let head = ReportHead { asked_ms: now_ms, place: endpoint.shown() };
        let report = Report { head, table };
        if keep {
            self.write(provider, &report);
        }
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(provider.to_owned(), Some(report));
        is_new
    }

    fn last(&self, provider: &str) -> Option<Report> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(report) = kept.get(provider) {
            return report.clone();
        }
        let report = self.read(provider);
        kept.insert(provider.to_owned(), report.clone());
        report
    }

    fn read(&self, provider: &str) -> Option<Report> {
        let path = self.home.reported(provider)?;
        let text = read_text(&path).ok()??;
        let (head, table) = text.split_once('\n')?;
        let head = serde_json::from_str(head).ok()?;
        let table = (!table.is_empty()).then(|| Table::read(&path.display().to_string(), table.to_owned()));
        Some(Report { head, table: table.transpose().ok()? })
    }

    /// Keeps an answer. Where that cannot be written it is asked for again by the next process.
    fn write(&self, provider: &str, report: &Report) {
        let Some(path) = self.home.reported(provider) else { return };
        let head = serde_json::to_string(&report.head).unwrap_or_default();
        let table = report.table.as_ref().map(Table::text).unwrap_or_default();
        let _ = private_file::write(&path, &format!("{head}\n{table}"));
    }
}

impl Report {
    fn is_fresh(&self, provider: &str, model: &str, endpoint: &Endpoint, now_ms: i64) -> bool {
        let name = format!("{provider}/{model}");
        let answers = self.table.as_ref().is_some_and(|table| table.has_row(&name));
        let lasts = match (answers, endpoint.is_here()) {
            (true, false) => DAY_MS,
            (true, true) => HERE_MS,
            (false, _) => SOON_MS.min(if endpoint.is_here() { HERE_MS } else { DAY_MS }),
        };
        // A clock that was set back says nothing about its age.
        let age = now_ms.saturating_sub(self.head.asked_ms);
        (0..lasts).contains(&age)
    }
}
