//! How often a run may fail before what it was to look at is left to the owner.

use limpid_conversation::RunReport;
use limpid_core::FailureClass;
use limpid_services::error::AgentError;
use limpid_store::{HeartbeatOutcome, HeartbeatRun, RunningHeartbeat, Store};

/// Runs, the newest, among which those of the same part are looked for.
pub(super) const LOOKED_AT: u32 = 200;

/// Runs that may fail before what they look at is put aside, where it is known that the provider answers.
const TRIES_WHEN_ANSWERED: usize = 2;

/// What becomes of what a run that failed was to look at.
#[derive(Clone, Debug, Default)]
pub(super) struct GivesUp {
    /// Whether it is put aside: messages for good, an item until it is due again.
    pub(super) puts_aside: bool,
    /// Under which key the owner is told, if they are: that of the first such failure where nothing is put aside for good, so that they
    /// are told once.
    pub(super) told_as: Option<String>,
}

/// The newest runs, the newest first.
pub(super) struct FailureLog(Vec<HeartbeatRun>);

impl FailureLog {
    /// The log as it is before a run is written.
    pub(super) async fn read(store: &dyn Store) -> Result<Self, AgentError> {
        Ok(Self(store.heartbeat_runs(LOOKED_AT).await?.rows))
    }

    /// Whether a failure is the one after which what was to be looked at is left to the owner; where nothing can be put
    /// aside they are told once.
    pub(super) fn gives_up(
        &self,
        running: &RunningHeartbeat,
        class: FailureClass,
        proof: bool,
        items: usize,
    ) -> GivesUp {
        let row = self.row(running);
        let (by_text, proven, first) = (self.by_text(&row), self.proven(&row), row.last());
        let (before, tries) = match tries(class) {
            // The provider answers what holds nothing of this.
            Some(tries) if proof => (by_text, tries.min(TRIES_WHEN_ANSWERED)),
            Some(tries) => (by_text, tries),
            None if proof || proven > 0 => (proven, TRIES_WHEN_ANSWERED),
            None => return GivesUp::default(),
        };
        let failed = before + 1;
        let told_as = match items {
            0 if failed < tries.max(2) => None,
            0 => Some(first.map_or_else(|| running.key.clone(), |first| first.key.clone())),
            _ => (failed >= tries).then(|| running.key.clone()),
        };
        GivesUp { puts_aside: failed >= tries, told_as }
    }

    /// The newest runs that saw the same part, as far back as all of them failed.
    fn row(&self, running: &RunningHeartbeat) -> Vec<&HeartbeatRun> {
        let same = self.0.iter().filter(|run| run.part.is_empty() || run.part == running.part);
        same.take_while(|run| run.outcome == HeartbeatOutcome::Failed).collect()
    }

    /// How many of these failed for what may be the text that was sent. Those that failed for something else, such as no network, neither
    /// count nor end the row.
    fn by_text(&self, row: &[&HeartbeatRun]) -> usize {
        let may_be_texts = |run: &HeartbeatRun| class_of(run).is_some_and(|class| tries(class).is_some());
        row.iter().filter(|run| may_be_texts(run) || self.answered(run)).count()
    }

    /// How many of these failed beside another part that was answered.
    fn proven(&self, row: &[&HeartbeatRun]) -> usize {
        row.iter().filter(|run| self.answered(run)).count()
    }

    /// Whether the provider answered what holds nothing of what a run that failed was to look at: in another part of the same run, or
    /// before this one was led on.
    pub(super) fn provider_answers(
        &self,
        running: &RunningHeartbeat,
        end: &RunReport,
        failure: Option<FailureClass>,
    ) -> bool {
        let Some(class) = failure else { return false };
        // A network or a limit may be away from one request to the next.
        let may_be_away = matches!(class, FailureClass::Transport | FailureClass::Rate | FailureClass::Quota);
        end.requests > 1 && !may_be_away || self.answered_beside(&running.key, &running.part)
    }

    /// Whether another part of the same run was answered.
    fn answered(&self, run: &HeartbeatRun) -> bool {
        self.answered_beside(&run.key, &run.part)
    }

    fn answered_beside(&self, key: &str, part: &str) -> bool {
        let Some(of) = key.strip_suffix(part).filter(|_| !part.is_empty()) else { return false };
        self.0.iter().any(|other| {
            let is_of_it = other.part != part && other.key.strip_suffix(other.part.as_str()) == Some(of);
            let ended_well = !matches!(other.outcome, HeartbeatOutcome::Failed | HeartbeatOutcome::Cancelled);
            is_of_it && ended_well && other.requests > 0
        })
    }
}

/// The class of a failure, as the log says it.
pub(super) fn class_of(run: &HeartbeatRun) -> Option<FailureClass> {
    FailureClass::parse(run.detail.split_once(':')?.0)
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
