//! The screen of what the owner has set.

mod file;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use limpid_core::failure_words;
use limpid_core::heartbeat::Why;
use limpid_core::heartbeat::settings::PRESETS;
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::{HeartbeatChange, HeartbeatResult};
use limpid_store::HeartbeatOutcome;
use serde::Deserialize;
use serde_json::json;

use super::chat::title;
use super::shell::Shell;
use super::state::Page;
use super::trouble::Trouble;
use crate::questions::Waits;

/// Runs that are listed, counted by side.
const LISTED: u32 = 5;

/// A run in the list.
struct Run {
    is_failure: bool,
    time: String,
    error: String,
}

/// What is set of the heartbeat.
struct Beat {
    enabled: bool,
    /// The place of the interval among those that are offered.
    step: usize,
    every: String,
    minutes: u32,
    start: u8,
    end: u8,
    hours: String,
    model: String,
    models: Vec<String>,
    /// The words that a run is sent; none where the profile has no place for them.
    prompt: Option<String>,
    is_custom: bool,
    /// Whether anything runs by itself.
    is_scheduled: bool,
    can_run: bool,
    is_running: bool,
}

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsScreen {
    shell: Shell,
    beat: Beat,
    log: String,
    zone: String,
    groups: Vec<file::Group>,
    /// Why there are no groups, or why the file is not used.
    wrong: Option<String>,
    models: Vec<String>,
    file: String,
    /// The setting whose change can be taken back.
    undoable: Option<String>,
}

#[derive(Template)]
#[template(path = "parts/beats.html")]
struct Log {
    runs: Vec<Run>,
}

/// What is to be different.
#[derive(Deserialize)]
struct Change {
    enabled: Option<String>,
    interval: Option<String>,
    start: Option<String>,
    end: Option<String>,
    model: Option<String>,
    prompt: Option<String>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/settings", get(show))
        .route("/settings/heartbeat", get(state).post(change))
        .route("/settings/heartbeat/run", post(run))
        .merge(file::routes())
}

async fn show(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Trouble> {
    let own = page.agent.settings_file();
    let (groups, wrong) = match file::groups(&page).await {
        Ok(groups) => (groups, own.wrong()),
        Err(trouble) => (Vec::new(), Some(trouble.words())),
    };
    let screen = SettingsScreen {
        groups,
        wrong: wrong.map(|why| shown(&why).into_owned()),
        models: file::models(&page).await,
        file: shown_line(&own.path().display().to_string()),
        undoable: own.undoable(),
        shell: Shell::new(&page, &headers, "Settings · Limpid", "settings").await?,
        beat: page.beat().await?,
        log: page.beats().await?,
        zone: page.agent.zone().iana_name().unwrap_or("that of this machine").to_owned(),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `GET /settings/heartbeat`
async fn state(State(page): State<Arc<Page>>) -> Result<Response, Trouble> {
    let (beat, log) = (page.beat().await?, page.beats().await?);
    Ok(Json(json!({
        "enabled": beat.enabled, "step": beat.step, "every": beat.every, "minutes": beat.minutes, "start": beat.start,
        "end": beat.end, "hours": beat.hours, "model": beat.model, "prompt": beat.prompt, "custom": beat.is_custom,
        "can_run": beat.can_run, "running": beat.is_running, "log": log,
    }))
    .into_response())
}

/// `POST /settings/heartbeat`
async fn change(State(page): State<Arc<Page>>, Form(change): Form<Change>) -> Result<Response, Trouble> {
    let enabled = match change.enabled.as_deref() {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(Trouble::invalid("The heartbeat is either true or false.")),
    };
    let change = HeartbeatChange {
        enabled,
        interval_minutes: number(change.interval, "The interval is a number of minutes.")?,
        start_hour: number(change.start, "Hours are numbers from 0 to 23.")?,
        end_hour: number(change.end, "Hours are numbers from 0 to 23; the end may be 24.")?,
        model: change.model.map(|model| Some(model).filter(|model| !model.is_empty())),
        prompt: change.prompt,
    };
    page.agent.heartbeat().change(change).await?;
    state(State(page)).await
}

/// `POST /settings/heartbeat/run`: one run now. It goes on when the browser is closed.
async fn run(State(page): State<Arc<Page>>) -> Result<Response, Trouble> {
    match page.agent.jobs().run_heartbeat().await? {
        HeartbeatResult::Ran(_) => {
            page.agent.deliveries().wake_pending().await?;
            state(State(page)).await
        }
        HeartbeatResult::Waits(why) => {
            if why == Why::Busy
                && let Some(asked) = question(&page).await?
            {
                return Ok(asked);
            }
            Err(Trouble::invalid(format!("The heartbeat was not run: {why}.")))
        }
    }
}

/// Why the heartbeat was not run where a question of a conversation waits, with the way there.
async fn question(page: &Page) -> Result<Option<Response>, Trouble> {
    let Some(Waits { conversation, .. }) = page.numbers.waiting().into_iter().next() else { return Ok(None) };
    if page.agent.jobs().heartbeat_status().await?.running {
        return Ok(None);
    }
    let own = page.agent.store().conversation(&conversation).await?;
    let title = own.map_or_else(|| "New conversation".to_owned(), |own| title(&own));
    let error = format!("The heartbeat was not run: a question waits for your answer in “{title}”.");
    let told = json!({ "error": error, "at": format!("/c/{conversation}") });
    Ok(Some((StatusCode::UNPROCESSABLE_ENTITY, Json(told)).into_response()))
}

fn number<T: std::str::FromStr>(words: Option<String>, wrong: &str) -> Result<Option<T>, Trouble> {
    words.map(|words| words.parse().map_err(|_| Trouble::invalid(wrong))).transpose()
}

/// `30m`, `2h`.
fn short(minutes: u32) -> String {
    if minutes >= 60 && minutes.is_multiple_of(60) { format!("{}h", minutes / 60) } else { format!("{minutes}m") }
}

impl Page {
    async fn beat(&self) -> Result<Beat, Trouble> {
        let agent = &self.agent;
        let status = agent.jobs().heartbeat_status().await?;
        let opening = agent.heartbeat().opening().await?;
        let set = status.settings;
        let mut models = file::models(self).await;
        let model = set.model.unwrap_or_default();
        if !model.is_empty() && !models.contains(&model) {
            models.push(model.clone());
        }
        let is_scheduled = agent.config().scheduling.enabled;
        let nearest = PRESETS.iter().enumerate().min_by_key(|(_, preset)| preset.abs_diff(set.interval_minutes));
        Ok(Beat {
            enabled: set.enabled,
            step: nearest.map_or(0, |(step, _)| step),
            every: short(set.interval_minutes),
            minutes: set.interval_minutes,
            start: set.start_hour,
            end: set.end_hour,
            hours: format!("{}:00 – {}:00", set.start_hour, set.end_hour),
            model,
            models,
            prompt: opening.text().map(ToOwned::to_owned),
            is_custom: opening.custom.is_some(),
            is_scheduled,
            can_run: set.enabled && is_scheduled,
            is_running: status.running,
        })
    }

    /// The newest runs.
    async fn beats(&self) -> Result<String, Trouble> {
        let runs = self.agent.heartbeat().log(LISTED).await?.rows.into_iter().map(|run| {
            let is_failure = run.outcome == HeartbeatOutcome::Failed;
            let error = if is_failure { shown_line(failure_words(&run.detail)) } else { String::new() };
            let at = jiff::Timestamp::from_millisecond(run.ended_ms).unwrap_or_default();
            let time = at.to_zoned(self.agent.zone()).strftime("%-d %b, %H:%M").to_string();
            Run { is_failure, time, error }
        });
        Ok(Log { runs: runs.collect() }.render()?)
    }
}
