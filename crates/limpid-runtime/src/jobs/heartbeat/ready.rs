//! Whether a run may be, and whether its parts may.

use limpid_core::heartbeat::{Gate, Pause, Why};
use limpid_core::{Labelled, Trust, sentence};
use limpid_services::deliveries::Announcement;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::{HeartbeatPart, RETRY_MS, settings_of};
use limpid_services::spending::Spender;
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
        && job.spending.check_and_tell(Spender::Background, None, None).await.is_err()
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
    let allowed = match part {
        HeartbeatPart::News | HeartbeatPart::Probe => job.spending.check_for_strangers().await,
        HeartbeatPart::Standing | HeartbeatPart::Alone(_) | HeartbeatPart::Missed => {
            job.spending.check_and_tell(Spender::Background, None, None).await
        }
    };
    Ok(allowed.is_ok())
}

/// Whether what came in has used up its part of the day: the runs, or what they may spend.
pub(super) async fn news_wait(job: &HeartbeatJob) -> Result<bool, AgentError> {
    Ok(job.heartbeat.news_wait().await? || job.spending.check_for_strangers().await.is_err())
}
