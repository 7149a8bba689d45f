//! What the owner sees of the heartbeat.

use limpid_core::heartbeat::{Gate, Settings};
use limpid_store::{HeartbeatRun, Listed};

use super::beat::AGAIN_MS;
use super::settings::of_row;
use crate::agent::{Agent, Inner};
use crate::error::AgentError;

const HOUR_MS: i64 = 3_600_000;

/// How the heartbeat stands, read from what the scheduler goes by (LES-045).
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
}

impl Agent {
    /// How the heartbeat stands at this moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn heartbeat_status(&self) -> Result<HeartbeatStatus, AgentError> {
        let inner = &self.inner;
        let row = inner.store.heartbeat().await?;
        let (gate, state) = inner.heartbeat_gate(&row).await?;
        let (waits, next_ms) = match gate {
            Gate::Wait(why, until) => (Some(why.to_string()), until),
            // What the scheduler saw last and the gate does not know: no model, nothing left to spend.
            Gate::Run => row.waits.clone().map_or((None, Some(inner.now_ms())), |(why, until)| (Some(why), until)),
        };
        Ok(HeartbeatStatus {
            settings: of_row(&row),
            running: row.running.is_some(),
            waits,
            next_ms,
            succeeded_ms: state.succeeded_ms,
            failures: state.failures,
            last: inner.store.heartbeat_runs(1).await?.rows.pop(),
        })
    }

    /// The newest runs, newest first (KAI-071).
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn heartbeat_log(&self, limit: u32) -> Result<Listed<HeartbeatRun>, AgentError> {
        Ok(self.inner.store.heartbeat_runs(limit).await?)
    }
}

impl Inner {
    /// When something can be due next; none when something must be set first.
    pub(super) async fn next_beat(&self) -> Result<Option<i64>, AgentError> {
        let row = self.store.heartbeat().await?;
        // A time that was counted before the clock was set back is none to wait for.
        let waits = row.waits.as_ref().and_then(|(_, until)| *until).filter(|until| *until < self.now_ms() + HOUR_MS);
        Ok(match self.heartbeat_gate(&row).await?.0 {
            Gate::Wait(_, until) => until,
            Gate::Run => Some(waits.unwrap_or_default().max(self.now_ms() + AGAIN_MS)),
        })
    }
}
