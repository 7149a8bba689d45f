//! What can happen to goals: the entries of the log.

use super::words::{ArtifactAction, ArtifactKind, CheckpointStatus, Priority, words};
use crate::{CheckpointId, DecisionId, GoalId, Trust, TurnId};

words! {
    /// By which way a change came.
    GoalAuthor {
        /// The owner, by a command.
        #[default]
        Owner = "owner",
        /// The model, by a tool.
        Tool = "tool",
        /// The model, by a marker in its reply.
        Marker = "marker",
    }
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalRecord {
    /// What happened.
    pub event: GoalEvent,
    /// By which way.
    pub by: GoalAuthor,
    /// Who wrote the least trusted text that stood behind it.
    pub trust: Trust,
    /// The turn that it belongs to.
    pub turn: Option<TurnId>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// What happened. Nothing here edits, unlocks or deletes a locked decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalEvent {
    /// A goal was made; it is active, and the one that was pauses.
    Created {
        /// The goal.
        goal: GoalId,
        /// What the person wants.
        description: String,
        /// How much it matters.
        priority: Priority,
    },
    /// The active goal waits and leaves the prompt.
    Paused {
        /// The goal.
        goal: GoalId,
    },
    /// A goal that waited or was done is active again, and the one that was pauses.
    Resumed {
        /// The goal.
        goal: GoalId,
    },
    /// A goal is done.
    Completed {
        /// The goal.
        goal: GoalId,
        /// What came of it; none when its steps were all done.
        summary: Option<String>,
    },
    /// A goal that its steps had completed has work again.
    Reopened {
        /// The goal.
        goal: GoalId,
    },
    /// The goal that the prompt showed leaves it; an active one pauses.
    Cleared {
        /// The goal.
        goal: GoalId,
    },
    /// A step was added.
    CheckpointAdded {
        /// The goal.
        goal: GoalId,
        /// The step.
        checkpoint: CheckpointId,
        /// What is to be done.
        description: String,
        /// Whatever its maker attached to it.
        metadata: Option<String>,
        /// What came of it.
        summary: Option<String>,
    },
    /// A step stands otherwise.
    CheckpointSet {
        /// The goal.
        goal: GoalId,
        /// The step.
        checkpoint: CheckpointId,
        /// How it stands.
        status: CheckpointStatus,
    },
    /// Something was decided.
    DecisionRecorded {
        /// The goal.
        goal: GoalId,
        /// The decision.
        decision: DecisionId,
        /// What was decided.
        description: String,
        /// Why.
        rationale: String,
    },
    /// An open decision has another reason.
    DecisionRevised {
        /// The goal.
        goal: GoalId,
        /// The decision.
        decision: DecisionId,
        /// Why.
        rationale: String,
    },
    /// A decision stands from here on.
    DecisionLocked {
        /// The goal.
        goal: GoalId,
        /// The decision.
        decision: DecisionId,
    },
    /// The goals stand again as they did after so many records of the log. Goals that were made since wait, and
    /// decisions that were locked since stand.
    Restored {
        /// The goal that is shown then, or the newest.
        goal: GoalId,
        /// How many, from the first.
        records: u64,
    },
    /// A file was made, changed or removed.
    ArtifactRecorded {
        /// The goal.
        goal: GoalId,
        /// What kind of file it is.
        kind: ArtifactKind,
        /// Where it is.
        path: String,
        /// What was done to it.
        action: ArtifactAction,
    },
}

impl GoalEvent {
    /// The goal that it happened to.
    pub const fn goal(&self) -> &GoalId {
        match self {
            Self::Created { goal, .. }
            | Self::Paused { goal }
            | Self::Resumed { goal }
            | Self::Completed { goal, .. }
            | Self::Reopened { goal }
            | Self::Cleared { goal }
            | Self::CheckpointAdded { goal, .. }
            | Self::CheckpointSet { goal, .. }
            | Self::DecisionRecorded { goal, .. }
            | Self::DecisionRevised { goal, .. }
            | Self::DecisionLocked { goal, .. }
            | Self::Restored { goal, .. }
            | Self::ArtifactRecorded { goal, .. } => goal,
        }
    }

    /// The event's name, as it is stored and shown.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Created { .. } => "created",
            Self::Paused { .. } => "paused",
            Self::Resumed { .. } => "resumed",
            Self::Completed { .. } => "completed",
            Self::Reopened { .. } => "reopened",
            Self::Cleared { .. } => "cleared",
            Self::CheckpointAdded { .. } => "checkpoint-added",
            Self::CheckpointSet { .. } => "checkpoint-set",
            Self::DecisionRecorded { .. } => "decision-recorded",
            Self::DecisionRevised { .. } => "decision-revised",
            Self::DecisionLocked { .. } => "decision-locked",
            Self::Restored { .. } => "restored",
            Self::ArtifactRecorded { .. } => "artifact-recorded",
        }
    }
}
