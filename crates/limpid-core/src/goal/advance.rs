//! What the markers of a reply change.

use super::marker::Marker;
use super::text::{Found, find, folded};
use super::{ArtifactKind, CheckpointStatus, GoalError, GoalManager, GoalStatus, Priority};
use crate::{CheckpointId, GoalId};

/// Carries out the markers of one reply, in their order. Returns what came to nothing and why; everything else counts.
pub fn advance<'m>(manager: &mut GoalManager<'_>, markers: impl IntoIterator<Item = &'m Marker>) -> Vec<GoalError> {
    markers.into_iter().filter_map(|marker| one(manager, marker).err()).collect()
}

fn one(manager: &mut GoalManager<'_>, marker: &Marker) -> Result<(), GoalError> {
    if let Marker::Goal(text) = marker {
        return goal(manager, text);
    }
    let shown = manager.shown()?;
    match marker {
        Marker::Goal(_) => Ok(()),
        Marker::Checkpoint(text, status) => checkpoint(manager, &shown, text, *status),
        Marker::Next(text) => checkpoint(manager, &shown, text, Some(CheckpointStatus::InProgress)),
        Marker::Decision { text, lock } => {
            let decision = manager.record_decision(&shown, text, "")?;
            if *lock { manager.lock_decision(&shown, &decision) } else { Ok(()) }
        }
        Marker::Artifact(action, path) => manager.record_artifact(&shown, ArtifactKind::of_path(path), path, *action),
    }
}

/// The shown goal is not made again, even when it is completed; one that waits is resumed.
fn goal(manager: &mut GoalManager<'_>, text: &str) -> Result<(), GoalError> {
    let is_shown = |goal: &super::Goal| folded(goal.description()) == folded(text);
    if manager.goals().shown().is_some_and(is_shown) {
        return Ok(());
    }
    manager.create_goal(text, Priority::default()).map(drop)
}

fn checkpoint(
    manager: &mut GoalManager<'_>,
    goal: &GoalId,
    text: &str,
    status: Option<CheckpointStatus>,
) -> Result<(), GoalError> {
    let known = manager.existing(goal)?;
    let (step, is_done) = match find(text, known.checkpoints().iter().map(|step| step.description.as_str())) {
        Found::At(at) => {
            let step = &known.checkpoints()[at];
            (step.id.clone(), step.status == CheckpointStatus::Completed)
        }
        Found::None => (added(manager, goal, text)?, false),
        Found::Several => {
            manager.find_checkpoint(goal, text)?;
            return Ok(());
        }
    };
    match status {
        // What is done stays done, whatever a marker says.
        Some(status) if !is_done => manager.update_checkpoint(goal, &step, status),
        _ => Ok(()),
    }
}

fn added(manager: &mut GoalManager<'_>, goal: &GoalId, text: &str) -> Result<CheckpointId, GoalError> {
    debug_assert!(manager.existing(goal)?.status() != GoalStatus::Paused, "a shown goal does not wait");
    manager.create_checkpoint(goal, text, None, None)
}
