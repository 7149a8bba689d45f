//! `model`: what can answer here, and what can be fetched.

mod update;

use indicatif::{ProgressBar, ProgressStyle};
use limpid_config::{MAX_FILE, regular_file};
use limpid_core::Usage;
use limpid_model::ApiKey;
use limpid_model::catalogue::{
    Downloads, FetchSettings, Fetched, HubModel, Installed, Instead, Progress, PullError, Step,
};
use limpid_runtime::TurnEvent;
use serde_json::{Value, json};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

use super::context::Context;
use crate::cli::ModelCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `model …`.
///
/// # Errors
/// When a model does not exist, cannot be fetched, or does not answer.
pub async fn run(context: &Context, command: &ModelCommand) -> Result<(), Failure> {
    match command {
        ModelCommand::List { json } => list(context, *json).await,
        ModelCommand::Pull { name } => pull(context, name.as_deref()).await,
        ModelCommand::Test { name, json } => test(context, name.as_deref(), *json).await,
        ModelCommand::Update { from, json } => update::run(context, from.as_deref(), *json).await,
        ModelCommand::Remove { name } => {
            let freed = downloads(context)?.remove(name.strip_prefix("local/").unwrap_or(name))?;
            output::tell(&format!("Removed; {:.1} MB are free again.", freed as f64 / 1e6));
            Ok(())
        }
    }
}

/// The models that can be fetched, with the owner's `models.toml` before the shipped one.
///
/// # Errors
/// When the owner's file cannot be read.
pub(super) fn downloads(context: &Context) -> Result<Downloads, Failure> {
    let file = context.home.path().join("models.toml");
    let name = file.display().to_string();
    let text = match regular_file::read_text(&file, MAX_FILE) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::new(ExitStatus::Files, format!("{name}: {error}"))),
    };
    let owner = text.as_deref().map(|text| (name.as_str(), text));
    Downloads::load(owner, context.home.models()).map_err(|error| Failure::new(ExitStatus::Files, error))
}

/// Fetches the model that suits the machine, with a progress bar.
///
/// # Errors
/// When neither it nor the one that stands in for it can be had.
pub(super) async fn fetch_default(context: &Context, downloads: &Downloads) -> Result<Fetched, Failure> {
    let (mut meter, cancel) = (Meter::new(), stop_on_interrupt());
    let memory = limpid_runtime::memory_available();
    let done = downloads.fetch_default(memory, &settings(context), &cancel, &mut |step| meter.tell(step)).await;
    meter.bar.finish_and_clear();
    Ok(done?)
}

async fn pull(context: &Context, name: Option<&str>) -> Result<(), Failure> {
    let mut downloads = downloads(context)?;
    let fetched = match name {
        None => fetch_default(context, &downloads).await?,
        Some(name) => {
            let settings = settings(context);
            let name = match hub_model(name)? {
                Some(wanted) => {
                    let pinned = downloads.pin(&wanted, &settings).await?;
                    output::tell(&format!("{wanted} is {} ({}), {}.", pinned.name, pinned.licence, pinned.note));
                    pinned.name.clone()
                }
                None => name.strip_prefix("local/").unwrap_or(name).to_owned(),
            };
            let (mut meter, cancel) = (Meter::new(), stop_on_interrupt());
            let done = downloads.fetch(&name, &settings, &cancel, &mut |at| meter.step(at)).await;
            meter.bar.finish_and_clear();
            done?
        }
    };
    output::tell(&format!(
        "{} is here: {}. Use it with --model local/{}",
        fetched.name,
        fetched.path.display(),
        fetched.name
    ));
    Ok(())
}

/// The model of the hub that a name means; none when it means one of the catalogue.
fn hub_model(name: &str) -> Result<Option<HubModel>, Failure> {
    if !name.starts_with("hf:") {
        return Ok(None);
    }
    let wrong = || {
        let why =
            format!("`{name}` names no model of the hub; write hf:OWNER/REPOSITORY, or hf:OWNER/REPOSITORY:Q4_K_M");
        Failure::new(ExitStatus::Usage, why)
    };
    HubModel::parse(name).map(Some).ok_or_else(wrong)
}

async fn list(context: &Context, json: bool) -> Result<(), Failure> {
    let agent = context.agent()?;
    let found = agent.models().detect().await;
    let chosen = context.config.model.clone().or_else(|| found.as_ref().map(|found| found.model.clone()));
    let downloads = downloads(context)?;
    let listed = downloads.list();
    if json {
        let rows: Vec<Value> = listed
            .iter()
            .map(|row| {
                let bytes = match &row.installed {
                    Installed::No => None,
                    Installed::Part { bytes } | Installed::Whole { bytes, .. } => Some(*bytes),
                };
                json!({
                    "model": format!("local/{}", row.name), "installed": matches!(row.installed, Installed::Whole { .. }),
                    "bytes_here": bytes, "bytes": row.download.and_then(|download| download.bytes),
                    "licence": row.download.map(|download| download.licence.as_str()),
                    "checked_by": row.download.map(|download| if download.sha256.is_some() { "sha256" } else { "size and form" }),
                    "note": row.download.map(|download| download.note.as_str()),
                })
            })
            .collect();
        return output::json_line(&serde_json::to_string_pretty(&json!({
            "version": output::JSON_VERSION, "answers": chosen, "because": found.map(|found| found.because), "local": rows,
        })).unwrap_or_default());
    }
    match (&chosen, found) {
        (Some(model), Some(found)) if found.model == *model => {
            output::line(&format!("{model} answers: {}.", found.because))?;
        }
        (Some(model), _) => output::line(&format!("{model} answers: it is set in limpid.toml."))?,
        (None, _) => match agent.models().none_offered() {
            Some(none) => output::text(&format!("No model answers: {}. {}", none.what, none.advice))?,
            None => output::line("No model is set and none was found.")?,
        },
    }
    output::line("")?;
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|row| {
            let state = match &row.installed {
                Installed::No => "to fetch".to_owned(),
                Installed::Part { bytes } => format!("{:.0} MB fetched", *bytes as f64 / 1e6),
                Installed::Whole { .. } => "here".to_owned(),
            };
            let (size, about) = row.download.map_or_else(Default::default, |download| {
                let size =
                    download.bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6));
                let check = if download.sha256.is_some() { "" } else { "; checked by size and form only" };
                (size, format!("{}, {}{check}. {}", download.title, download.licence, download.note))
            });
            vec![format!("local/{}", row.name), state, size, about]
        })
        .collect();
    output::line(&output::table(&["model", "state", "size", "about"], &rows))
}

/// A short question to a model: whether it answers, and how fast.
async fn test(context: &Context, name: Option<&str>, json: bool) -> Result<(), Failure> {
    let agent = context.agent()?;
    let started = Instant::now();
    let mut handle = agent.requests().test_model(name).await?;
    let (mut model, mut first, mut usage, mut answer) = (String::new(), None, Usage::default(), String::new());
    while let Some(event) = handle.next().await {
        match &event {
            TurnEvent::Started { model: name, .. } => model.clone_from(name),
            TurnEvent::Text(text) => {
                first.get_or_insert_with(|| started.elapsed());
                answer.push_str(text);
            }
            TurnEvent::Usage { usage: counted, .. } => usage = *counted,
            TurnEvent::Interrupted(what) => return Err(Failure::new(ExitStatus::Model, what)),
            TurnEvent::Done { outcome: limpid_runtime::Outcome::Failed { message, .. }, .. } => {
                return Err(Failure::new(ExitStatus::Model, message));
            }
            _ => {}
        }
        if event.is_last() {
            break;
        }
    }
    let (whole, first) = (started.elapsed(), first.unwrap_or_default());
    if json {
        return output::json(
            "test",
            &json!({
                "model": model, "answer": answer, "first_ms": first.as_millis() as u64, "whole_ms": whole.as_millis() as u64,
                "input": usage.input, "output": usage.output,
            }),
        );
    }
    output::line(&answer)?;
    output::tell(&format!(
        "{model}: first words after {:.1} s, all after {:.1} s; {} tokens in, {} out.",
        first.as_secs_f64(),
        whole.as_secs_f64(),
        usage.input,
        usage.output
    ));
    Ok(())
}

fn settings(context: &Context) -> FetchSettings {
    let mut settings = FetchSettings::default();
    if let Some(hub) = context.environment.variable("HF_ENDPOINT") {
        hub.trim_end_matches('/').clone_into(&mut settings.hub);
    }
    settings.token = context.environment.variable("HF_TOKEN").map(ApiKey::new);
    if let Some(python) = context.environment.variable("LIMPID_PYTHON") {
        settings.python = python.into();
    }
    settings
}

/// Shows how far a fetch is: a bar at a terminal, elsewhere a line for every tenth.
struct Meter {
    bar: ProgressBar,
    tenths: u64,
}

impl Meter {
    fn new() -> Self {
        let bar = ProgressBar::no_length();
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left")
        {
            bar.set_style(style);
        }
        Self { bar, tenths: 0 }
    }

    fn tell(&mut self, step: Step) {
        match step {
            Step::At(at) => self.step(at),
            Step::Instead(Instead { wanted, taken, reason }) => self.bar.suspend(|| {
                let reason = reason.trim_end_matches('.');
                output::tell(&format!("{wanted} could not be had: {reason}. Fetching {taken} in its place."));
            }),
        }
    }

    fn step(&mut self, at: Progress) {
        self.bar.set_position(at.bytes);
        let Some(total) = at.total else { return };
        self.bar.set_length(total);
        let tenths = at.bytes * 10 / total.max(1);
        if self.bar.is_hidden() && tenths > self.tenths {
            self.tenths = tenths;
            output::tell(&format!("{:.0} of {:.0} MB", at.bytes as f64 / 1e6, total as f64 / 1e6));
        }
    }
}

/// Ctrl-C ends a fetch; what is there stays, and the next try goes on from it.
fn stop_on_interrupt() -> CancellationToken {
    let token = CancellationToken::new();
    let stopped = token.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stopped.cancel();
        }
    });
    token
}

impl From<PullError> for Failure {
    fn from(error: PullError) -> Self {
        let status = match error {
            PullError::Interrupted => ExitStatus::Interrupted,
            PullError::Unknown { .. } | PullError::Missing { .. } => ExitStatus::Usage,
            _ => ExitStatus::Model,
        };
        Self::new(status, error)
    }
}
