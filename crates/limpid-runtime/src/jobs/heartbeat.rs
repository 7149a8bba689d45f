//! The heartbeat's runs: the agent looks at what has come in, unasked.
//!
//! - `ready`: whether a run may be; `run`: one run, to its end.
//! - `pending_work`: what there is to look at.
//! - `outcome`: what the end of a run means, and what is written.
//! - `failures`: when what fails again and again is put aside.
//! - `notices`: what the owner is told of a run.
//! - `left_to_say`: what runs said beside their silence.
//! - `status`: what the owner sees.

mod failures;
mod job;
mod left_to_say;
mod notices;
mod outcome;
mod pending_work;
mod ready;
mod run;
mod status;

use async_trait::async_trait;
use limpid_core::heartbeat::Why;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::{RETRY_MS, TIMER};

pub(crate) use self::job::HeartbeatJob;
pub use self::run::HeartbeatResult;
pub(crate) use self::run::RunTrigger;
pub(crate) use self::status::status;
pub use self::status::{DayCost, HeartbeatStatus};

use crate::jobs::job::Job;

#[async_trait]
impl Job for HeartbeatJob {
    fn kind(&self) -> &'static str {
        TIMER
    }

    async fn run(&self, _name: &str, slot_ms: i64) -> Result<Option<i64>, AgentError> {
        match self.run_for(RunTrigger::Slot(slot_ms)).await? {
            HeartbeatResult::Waits(Why::Busy) => Ok(Some(self.host.now_ms() + RETRY_MS)),
            HeartbeatResult::Ran(_) | HeartbeatResult::Waits(_) => self.heartbeat.next_due_ms().await,
        }
    }

    async fn plan(&self) -> Result<(), AgentError> {
        self.heartbeat.schedule().await
    }

    async fn after_clock_moved_back(&self) -> Result<(), AgentError> {
        self.heartbeat.after_clock_moved_back().await
    }
}
