//! Whether a run may be, and whether its parts may.

use std::collections::VecDeque;

use limpid_core::heartbeat::{Gate, Pause, Why};
use limpid_core::{Labelled, Trust, sentence};
use limpid_services::deliveries::Announcement;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::{HeartbeatPart, PATH, RETRY_MS, settings_of};
use limpid_store::{HeartbeatRow, RunningHeartbeat};

use crate::jobs::heartbeat::job::HeartbeatJob;
use crate::jobs::heartbeat::run::RunTrigger;

/// Whether a run may be, and with which model; else why not and until when.
pub(super) async fn ready(
    job: &HeartbeatJob,
    trigger: RunTrigger,
    row: &HeartbeatRow,
) -> Result<Result<Option<String>, (Why, Option<i64>)>, AgentError> {
    let again = Some(job.host.now_ms() + RETRY_MS);
    let (gate, state) = job.heartbeat.gate(row).await?;
    if state != row.state {
        job.store.resume_heartbeat().await?;
    }
    match (gate, trigger) {
        (Gate::Wait(why @ (Why::Off | Why::NoScheduling | Why::Busy), until), _) => return Ok(Err((why, until))),
        (Gate::Wait(why, until), RunTrigger::Slot(_)) => {
            if why == Why::Paused(Pause::Silence) {
                let since = state.switched_on_ms.unwrap_or_default().max(row.state.succeeded_ms.unwrap_or_default());
                let key = format!("heartbeat-silence:{}", job.store.owner_acted_ms().await?.unwrap_or(since));
                let text = sentence!("The heartbeat pauses: {}.", Labelled::new(why, Trust::Owner));
                let told = Announcement::new("The heartbeat pauses".into(), text);
                job.deliveries.notice(None, &key, told).await?;
            }
            return Ok(Err((why, until)));
        }
        (Gate::Wait(..), RunTrigger::ByHand) if job.heartbeat.is_busy(row).await? => {
            return Ok(Err((Why::Busy, again)));
        }
        (Gate::Run, _) | (Gate::Wait(..), RunTrigger::ByHand) => {}
    }
    let model = job.heartbeat.model(&settings_of(row)).await;
    if job.models.choose(model.as_deref()).await.is_err() {
        return Ok(Err((Why::NoModel, again)));
    }
    if matches!(trigger, RunTrigger::Slot(_))
        && job.spending.check_background_and_tell(Some(PATH), false).await.is_err()
    {
        return Ok(Err((Why::Spent, again)));
    }
    Ok(Ok(model))
}

/// Whether the next part of a run may ask a model as well.
pub(super) async fn may_go_on(
    job: &HeartbeatJob,
    of: &RunningHeartbeat,
    part: &HeartbeatPart,
) -> Result<bool, AgentError> {
    if of.by_hand {
        return Ok(true);
    }
    let by_strangers = match part {
        HeartbeatPart::News | HeartbeatPart::Probe => true,
        HeartbeatPart::Standing | HeartbeatPart::Alone(_) | HeartbeatPart::Missed => false,
    };
    Ok(job.spending.check_background_and_tell(Some(PATH), by_strangers).await.is_ok())
}

/// Leaves out the parts that have used up their day, and returns why they wait. Each side has its own: the other one goes on.
pub(super) async fn leave_out_waiting(
    job: &HeartbeatJob,
    parts: &mut VecDeque<HeartbeatPart>,
) -> Result<Vec<String>, AgentError> {
    let mut waits = Vec::new();
    if let Some(why) = job.heartbeat.items_wait().await? {
        parts.retain(|part| *part == HeartbeatPart::News);
        waits.push(why.to_owned());
    }
    if parts.contains(&HeartbeatPart::News)
        && let Some(why) = news_wait(job).await?
    {
        parts.retain(|part| *part != HeartbeatPart::News);
        waits.push(why);
        if let Some(stop) = job.spending.background_stop(Some(PATH), true).await? {
            job.spending.tell(&stop).await?;
        }
    }
    Ok(waits)
}

/// Why what came in waits, if it does: it has used up its runs of the day, or what they may spend. The owner is told nothing, as
/// whoever looks at the status asks this too.
pub(super) async fn news_wait(job: &HeartbeatJob) -> Result<Option<String>, AgentError> {
    if let Some(why) = job.heartbeat.news_wait().await? {
        return Ok(Some(why.to_owned()));
    }
    let stop = job.spending.background_stop(Some(PATH), true).await?;
    Ok(stop.map(|stop| format!("new messages wait, because {stop}")))
}
