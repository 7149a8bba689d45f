//! How often a run may fail before what it was to look at is left to the owner.

use limpid_core::FailureClass;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::HeartbeatPart;
use limpid_store::{HeartbeatOutcome, HeartbeatRun};

use crate::jobs::heartbeat::job::HeartbeatJob;

/// Runs, the newest, among which those that failed before are looked for.
const LOOKED_AT: u32 = 200;

/// What becomes of what a run that failed was to look at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GivesUp {
    /// Whether it is put aside: messages for good, an item until it is due again.
    pub(super) puts_aside: bool,
    /// Whether the owner is told.
    pub(super) is_told: bool,
}

impl HeartbeatJob {
    /// Whether a failure is the one after which what was to be looked at is left to the owner; where nothing can be put
    /// aside they are told once.
    pub(super) async fn gives_up(
        &self,
        part: &HeartbeatPart,
        class: FailureClass,
        items: usize,
    ) -> Result<GivesUp, AgentError> {
        let Some(tries) = tries(class) else { return Ok(GivesUp::default()) };
        let failed = self.failed_before(part).await? + 1;
        let is_told = if items == 0 { failed == tries.max(2) } else { failed >= tries };
        Ok(GivesUp { puts_aside: failed >= tries, is_told })
    }

    /// How many of the newest runs that saw the same part failed, one after another, for what may be the text that was sent. Those that
    /// failed for something else, such as no network, neither count nor end the row.
    async fn failed_before(&self, part: &HeartbeatPart) -> Result<usize, AgentError> {
        let newest = self.store.heartbeat_runs(LOOKED_AT).await?.rows;
        let same = newest.iter().filter(|run| HeartbeatPart::parse(&run.part).is_none_or(|of_run| of_run == *part));
        let class = |run: &HeartbeatRun| FailureClass::parse(run.detail.split_once(':')?.0);
        let failed = same.take_while(|run| run.outcome == HeartbeatOutcome::Failed);
        Ok(failed.filter(|run| class(run).is_some_and(|class| tries(class).is_some())).count())
    }
}

/// How many runs may fail in such a way, one after another, before what they were to look at is left to the owner: the text that was
/// sent may be why. None where it is not.
pub(super) const fn tries(class: FailureClass) -> Option<usize> {
    match class {
        // A limit of the day, which the run itself may have used up: it is tried on another day once more.
        FailureClass::Limit
        | FailureClass::Garbage
        | FailureClass::Moderated
        | FailureClass::Overflow
        | FailureClass::TooLarge
        | FailureClass::Malformed => Some(2),
        // Mostly the provider is at fault, and better soon.
        FailureClass::Server => Some(6),
        FailureClass::Quota
        | FailureClass::Key
        | FailureClass::UnknownModel
        | FailureClass::Rate
        | FailureClass::Transport
        | FailureClass::Cancelled
        | FailureClass::OwnFile => None,
    }
}
