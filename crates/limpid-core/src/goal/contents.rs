//! What a goal holds: its steps, its decisions and its artifacts.

use super::decision::refusal;
use super::error::GoalError;
use super::manager::GoalManager;
use super::text::{described, folded, limited, one_line};
use super::{
    ArtifactAction, ArtifactKind, CheckpointStatus, Decision, GoalEvent, GoalStatus, MAX_DESCRIPTION, MAX_PATH,
};
use crate::{CheckpointId, DecisionId, GoalId};

impl GoalManager<'_> {
    /// Adds a step; one that says the same is not added again. A goal that its steps had completed is active again.
    ///
    /// # Errors
    /// When there is no such goal, it was completed by hand, or the description is blank or too long.
    pub fn create_checkpoint(
        &mut self,
        goal: &GoalId,
        description: &str,
        metadata: Option<&str>,
        summary: Option<&str>,
    ) -> Result<CheckpointId, GoalError> {
        let description = described("step", description)?;
        let known = self.existing(goal)?;
        if let Some(step) = known.checkpoints.iter().find(|step| folded(&step.description) == folded(&description)) {
            return Ok(step.id.clone());
        }
        let checkpoint = CheckpointId::new(format!("s{}", known.checkpoints.len() + 1));
        self.reopen(goal)?;
        self.record(GoalEvent::CheckpointAdded {
            goal: goal.clone(),
            checkpoint: checkpoint.clone(),
            description,
            metadata: metadata.map(one_line).filter(|text| !text.is_empty()),
            summary: summary.map(one_line).filter(|text| !text.is_empty()),
        })?;
        Ok(checkpoint)
    }

    /// Sets how a step stands.
    ///
    /// # Errors
    /// When there is no such goal or step, or the goal was completed by hand.
    pub fn update_checkpoint(
        &mut self,
        goal: &GoalId,
        checkpoint: &CheckpointId,
        status: CheckpointStatus,
    ) -> Result<(), GoalError> {
        let known = self.existing(goal)?;
        if known.step(checkpoint)?.status != status {
            self.reopen(goal)?;
            self.record(GoalEvent::CheckpointSet { goal: goal.clone(), checkpoint: checkpoint.clone(), status })?;
        }
        Ok(())
    }

    /// Keeps a decision, open; one that says the same is kept once, and a new reason replaces the old one.
    ///
    /// # Errors
    /// [`GoalError::DecisionLocked`] when it stands with another reason; when there is no such goal, or the description
    /// is blank or too long.
    pub fn record_decision(
        &mut self,
        goal: &GoalId,
        description: &str,
        rationale: &str,
    ) -> Result<DecisionId, GoalError> {
        let description = described("decision", description)?;
        let rationale = limited("reason", one_line(rationale), MAX_DESCRIPTION)?;
        let known = self.existing(goal)?;
        if let Some(same) = known.decisions.iter().find(|same| folded(same.description()) == folded(&description)) {
            let decision = same.id().clone();
            if !rationale.is_empty() && rationale != same.rationale() {
                self.revisable(goal, &decision)?;
                self.record(GoalEvent::DecisionRevised { goal: goal.clone(), decision: decision.clone(), rationale })?;
            }
            return Ok(decision);
        }
        let decision = DecisionId::new(format!("d{}", next(known.decisions.iter().map(|one| one.id().as_str()))));
        self.record(GoalEvent::DecisionRecorded {
            goal: goal.clone(),
            decision: decision.clone(),
            description,
            rationale,
        })?;
        Ok(decision)
    }

    /// Makes a decision stand for good.
    ///
    /// # Errors
    /// When there is no such goal or decision, or the prompt has no room for one locked decision more.
    pub fn lock_decision(&mut self, goal: &GoalId, decision: &DecisionId) -> Result<(), GoalError> {
        let known = self.existing(goal)?;
        let wanted = known.decision(decision)?;
        if wanted.is_locked() {
            return Ok(());
        }
        let mut locked: Vec<&str> = known.decisions.locked().map(Decision::description).collect();
        locked.push(wanted.description());
        self.change.room.check_texts(&known.description, &locked)?;
        self.record(GoalEvent::DecisionLocked { goal: goal.clone(), decision: decision.clone() })?;
        Ok(())
    }

    /// Refuses unless a decision may still be changed: asked before anything would edit, unlock or delete it.
    ///
    /// # Errors
    /// [`GoalError::DecisionLocked`] when it stands; when there is no such goal or decision.
    pub fn revisable(&self, goal: &GoalId, decision: &DecisionId) -> Result<(), GoalError> {
        let decision = self.existing(goal)?.decision(decision)?;
        if decision.is_locked() { Err(refusal(decision).into()) } else { Ok(()) }
    }

    /// Keeps what was done to a file; the same is kept once.
    ///
    /// # Errors
    /// When there is no such goal, or the path is blank or too long.
    pub fn record_artifact(
        &mut self,
        goal: &GoalId,
        kind: ArtifactKind,
        path: &str,
        action: ArtifactAction,
    ) -> Result<(), GoalError> {
        let path = limited("path", one_line(path), MAX_PATH)?;
        if path.is_empty() {
            return Err(GoalError::Blank { what: "path" });
        }
        let known = self.existing(goal)?;
        if !known.artifacts.iter().any(|artifact| artifact.path == path && artifact.action == action) {
            self.record(GoalEvent::ArtifactRecorded { goal: goal.clone(), kind, path, action })?;
        }
        Ok(())
    }

    /// Readies a goal for a change of its steps.
    fn reopen(&mut self, id: &GoalId) -> Result<(), GoalError> {
        let goal = self.existing(id)?;
        if goal.status != GoalStatus::Completed {
            return Ok(());
        }
        if !goal.by_its_steps {
            let (status, advice) = (goal.status, "resume it, or create another goal");
            return Err(GoalError::Status { goal: id.clone(), status, advice });
        }
        let event = if self.goals.shown().is_some_and(|shown| shown.id == *id) {
            GoalEvent::Reopened { goal: id.clone() }
        } else {
            self.change.room.check(goal)?;
            GoalEvent::Resumed { goal: id.clone() }
        };
        self.record(event)?;
        Ok(())
    }
}

/// The number after the highest of these names; names are never given twice, also where earlier ones were taken back.
fn next<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.filter_map(|name| name.get(1..)?.parse::<usize>().ok()).max().unwrap_or(0) + 1
}
