//! What the owner sees of the heartbeat.

use jiff::Timestamp;
use limpid_core::heartbeat::{Gate, Settings, Why};
use limpid_core::{Money, Usage};
use limpid_prompt::count::{Estimate, TokenCounter as _};
use limpid_services::error::AgentError;
use limpid_services::heartbeat::{DueItems, StandingItem, settings_of};
use limpid_services::host::Host;
use limpid_services::tasks::time_words;
use limpid_store::{HeartbeatRun, IdleLooks};

use crate::jobs::heartbeat::job::HeartbeatJob;
use crate::jobs::heartbeat::pending_work::look;
use crate::jobs::heartbeat::ready;

const HOUR_MS: i64 = 3_600_000;

/// Output tokens of a run that has nothing to report, about.
const ANSWER_TOKENS: u64 = 30;

/// How the heartbeat stands, read from what the scheduler goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatStatus {
    /// What the owner has set.
    pub settings: Settings,
    /// Whether a run is under way.
    pub running: bool,
    /// Why none is due; none when one is.
    pub waits: Option<String>,
    /// When one can be due next, in milliseconds since 1970; none when something must be set first.
    pub next_ms: Option<i64>,
    /// When a run went well last, in milliseconds since 1970.
    pub succeeded_ms: Option<i64>,
    /// Runs that failed since.
    pub failures: u32,
    /// The newest run.
    pub last: Option<HeartbeatRun>,
    /// The looks since then that found nothing.
    pub idle: IdleLooks,
    /// Runs a day that may ask a model about the owner's own items, and as many for nothing but what came in.
    pub runs_a_day: u32,
    /// What a day costs on which nothing comes in; none without a model.
    pub day: Option<DayCost>,
}

/// What the standing items cost in a day on which nothing comes in. Tokens are estimated from the prompt as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCost {
    /// Standing items: additions, lines of HEARTBEAT.md, the owner's own opening.
    pub items: usize,
    /// Runs that ask a model.
    pub runs: u32,
    /// Input tokens of one run.
    pub run_tokens: u64,
    /// Input and output tokens of all runs.
    pub tokens: u64,
    /// What they cost at the model's price, without any cache; none when the price is unknown.
    pub money: Option<Money>,
    /// The model.
    pub model: String,
}

/// How the heartbeat stands at this moment.
///
/// # Errors
/// When the store cannot be read.
pub(crate) async fn status(job: &HeartbeatJob) -> Result<HeartbeatStatus, AgentError> {
    let row = job.store.heartbeat().await?;
    let (gate, state) = job.heartbeat.gate(&row).await?;
    let (waits, next_ms) = match gate {
        Gate::Wait(why, until) => (Some(wait_words(why, until, &job.host)), until),
        // What the scheduler saw last and the gate does not know: no model, nothing left to spend.
        Gate::Run => row.waits.clone().map_or((None, Some(job.host.now_ms())), |(why, until)| (Some(why), until)),
    };
    let mut waits = Vec::from_iter(waits);
    if matches!(gate, Gate::Run | Gate::Wait(Why::Interval | Why::Hours, _)) {
        waits.extend(job.heartbeat.items_wait().await?.map(str::to_owned));
        waits.extend(ready::news_wait(job).await?);
    }
    Ok(HeartbeatStatus {
        settings: settings_of(&row),
        running: row.running.is_some(),
        waits: (!waits.is_empty()).then(|| waits.join("; ")),
        next_ms,
        succeeded_ms: state.succeeded_ms,
        failures: state.failures,
        last: job.store.heartbeat_runs(1).await?.rows.pop(),
        idle: row.idle,
        runs_a_day: job.config.heartbeat.runs_a_day,
        day: day_cost(job, &settings_of(&row)).await?,
    })
}

/// Why no run is due, with the time of the next one where time is all that it waits for.
fn wait_words(why: Why, until_ms: Option<i64>, host: &Host) -> String {
    let Some(until) = until_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok()) else { return why.to_string() };
    let until = time_words(until, host.now(), &host.zone());
    match why {
        Why::Interval => format!("the next run is due {until}"),
        Why::Hours => format!("{why} until {until}"),
        Why::BackOff => format!("the last run failed; the next try is {until}"),
        _ => why.to_string(),
    }
}

/// What a day costs on which nothing comes in.
async fn day_cost(job: &HeartbeatJob, settings: &Settings) -> Result<Option<DayCost>, AgentError> {
    let wanted = job.heartbeat.model(settings).await;
    let Ok(model) = job.models.choose(wanted.as_deref()).await else { return Ok(None) };
    let card = model.info().clone();
    let look = look(job, job.heartbeat.profile()?.name(), &card, false).await?;
    let due = DueItems::now(&*job.store, job.config.heartbeat.recheck, &job.host).await?;
    let hours = settings.hours_a_day();
    let slots = settings.runs_due_a_day().min(job.config.heartbeat.runs_a_day);
    let on = settings.enabled && job.config.scheduling.enabled;
    let runs_of = |item: &StandingItem| {
        let rhythm = item.recheck(job.config.heartbeat.recheck);
        rhythm.runs_a_day(slots, i64::from(hours) * HOUR_MS)
    };
    let (alone, together): (Vec<_>, Vec<_>) = look.items.iter().partition(|item| due.is_alone(item));
    let of_both =
        together.into_iter().map(runs_of).max().unwrap_or_default() + alone.into_iter().map(runs_of).sum::<u32>();
    let runs = if on { of_both } else { 0 };
    let counter = Estimate::default();
    let texts = look.prompt.messages().iter().map(|message| counter.count(message.text()));
    let tools = look.prompt.offered().iter().map(|tool| counter.count(&tool.declaration()));
    let run_tokens: u64 = texts.chain(tools).map(|count| count as u64).sum();
    let of_day =
        Usage { input: run_tokens * u64::from(runs), output: ANSWER_TOKENS * u64::from(runs), ..Usage::default() };
    Ok(Some(DayCost {
        items: look.items.len(),
        runs,
        run_tokens,
        tokens: of_day.input + of_day.output,
        money: if card.local { Some(Money::default()) } else { card.price.as_ref().map(|price| price.of(of_day)) },
        model: card.name(),
    }))
}
