//! Goals: what the person wants done over many turns, kept as a log of events outside the messages, so that no
//! compaction can touch it.
//!
//! # Layout
//! - [`event`]: what can happen to a goal. There is no event that edits, unlocks or deletes a locked decision.
//! - [`cue`]: whether a person speaks of goals.
//! - [`decision`]: decisions, open and locked, as two types.
//! - [`fold`]: from the log to the goals of a conversation.
//! - [`manager`]: the rules; each change becomes events. `contents` has those of steps, decisions and artifacts, `named` says
//!   which of them a name means.
//! - [`marker`], [`scan`]: the one grammar of markers, and which lines of a reply count.
//! - [`advance`]: what markers change.
//! - [`allotment`]: the room that a prompt has for a goal.
//! - [`display`]: a reply without its marker lines.
//! - `words`: the words of priorities, states and kinds.
//! - [`text`]: texts made to one line, and how two of them are compared.

pub mod advance;
pub mod allotment;
mod contents;
pub mod cue;
pub mod decision;
pub mod display;
mod error;
pub mod event;
pub mod fold;
pub mod manager;
pub mod marker;
mod named;
pub mod scan;
pub mod text;
mod words;

use crate::{CheckpointId, GoalId, Trust, TurnId};

pub use advance::advance;
pub use allotment::Room;
pub use decision::{Decision, DecisionLocked, Decisions, LockedDecision, OpenDecision};
pub use display::WithoutMarkers;
pub use error::GoalError;
pub use event::{GoalAuthor, GoalEvent, GoalRecord};
pub use fold::{Goals, Misfit};
pub use manager::GoalManager;
pub use marker::{Marker, Rejected};
pub use scan::{Line, Scanner, scan};
pub use words::{ArtifactAction, ArtifactKind, CheckpointStatus, GoalStatus, MAX_DESCRIPTION, MAX_PATH, Priority};

/// A goal with its steps, decisions and artifacts. Only the log changes it: its fields can be read, not set.
///
/// ```compile_fail
/// fn rewrite(goal: &mut limpid_core::goal::Goal) {
///     goal.description = String::new();
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    id: GoalId,
    description: String,
    priority: Priority,
    status: GoalStatus,
    created_ms: i64,
    completed_ms: Option<i64>,
    /// What came of it, said when it was completed.
    summary: Option<String>,
    /// Whether it was completed because its steps were.
    by_its_steps: bool,
    turn: Option<TurnId>,
    trust: Trust,
    checkpoints: Vec<Checkpoint>,
    decisions: Decisions,
    artifacts: Vec<Artifact>,
}

impl Goal {
    /// Its name.
    pub const fn id(&self) -> &GoalId {
        &self.id
    }

    /// What the person wants.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// How much it matters.
    pub const fn priority(&self) -> Priority {
        self.priority
    }

    /// How it stands.
    pub const fn status(&self) -> GoalStatus {
        self.status
    }

    /// When it was made, in milliseconds since 1970.
    pub const fn created_ms(&self) -> i64 {
        self.created_ms
    }

    /// When it was completed, in milliseconds since 1970.
    pub const fn completed_ms(&self) -> Option<i64> {
        self.completed_ms
    }

    /// What came of it, when somebody said so.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    /// The turn that made it; none when the owner made it outside of any. Its first message is what began the work.
    pub const fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref()
    }

    /// Who wrote the least trusted text that any of its texts was made from.
    pub const fn trust(&self) -> Trust {
        self.trust
    }

    /// Its steps, in order.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints
    }

    /// What was decided.
    pub const fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// What was made, changed or removed, oldest first.
    pub fn artifacts(&self) -> &[Artifact] {
        &self.artifacts
    }

    /// How far it is: the seed's `getGoalProgress`.
    pub fn progress(&self) -> Progress {
        let done = self.checkpoints.iter().filter(|step| step.status == CheckpointStatus::Completed).count();
        Progress::new(done, self.checkpoints.len())
    }
}

/// One step of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its name.
    pub id: CheckpointId,
    /// What is to be done.
    pub description: String,
    /// How it stands.
    pub status: CheckpointStatus,
    /// When it was done, in milliseconds since 1970.
    pub completed_ms: Option<i64>,
    /// Whatever its maker attached to it.
    pub metadata: Option<String>,
    /// What came of it.
    pub summary: Option<String>,
}

/// One file that the work made, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What kind of file it is.
    pub kind: ArtifactKind,
    /// Where it is.
    pub path: String,
    /// What was done to it.
    pub action: ArtifactAction,
}

/// How far a goal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps that are done.
    pub completed: usize,
    /// Steps.
    pub total: usize,
    /// The share of done steps, rounded down, so that 100 says that all are done; 0 without steps.
    pub percentage: u8,
}

impl Progress {
    fn new(completed: usize, total: usize) -> Self {
        let percentage = (completed * 100).checked_div(total).unwrap_or(0);
        Self { completed, total, percentage: u8::try_from(percentage).unwrap_or(100) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-066
    #[test]
    fn only_all_steps_are_a_hundred_percent() {
        let percent = |done, total| Progress::new(done, total).percentage;
        assert_eq!(
            [percent(0, 0), percent(0, 3), percent(2, 3), percent(299, 300), percent(3, 3)],
            [0, 0, 66, 99, 100]
        );
    }
}
