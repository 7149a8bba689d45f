//! The plan of a session: the steps of the goal that is pursued.

use agent_client_protocol::v1::schema::{Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionUpdate};
use limpid_core::goal::{CheckpointStatus, Goal, GoalStatus, Priority};
use limpid_prompt::shown::Drawn;

use crate::session::Session;
use crate::texts;

/// Tells the plan as it is now. Without a goal it is empty.
pub(crate) async fn tell(session: &Session) {
    let Ok(loaded) = session.agent.goals().load(&session.id).await else { return };
    let entries = loaded.goals.shown().map(entries).unwrap_or_default();
    session.send(SessionUpdate::Plan(Plan::new(entries)));
}

/// Whether there is a goal.
pub(crate) async fn is_there(session: &Session) -> bool {
    session.agent.goals().load(&session.id).await.is_ok_and(|loaded| loaded.goals.shown().is_some())
}

/// The steps of a goal; one without steps is one itself.
fn entries(goal: &Goal) -> Vec<PlanEntry> {
    let priority = match goal.priority() {
        Priority::High => PlanEntryPriority::High,
        Priority::Medium => PlanEntryPriority::Medium,
        Priority::Low => PlanEntryPriority::Low,
    };
    if goal.checkpoints().is_empty() {
        let status = match goal.status() {
            GoalStatus::Completed => PlanEntryStatus::Completed,
            GoalStatus::Active => PlanEntryStatus::InProgress,
            GoalStatus::Paused => PlanEntryStatus::Pending,
        };
        return vec![texts::step(Drawn::line(goal.description()), priority, status)];
    }
    let step = |step: &limpid_core::goal::Checkpoint| {
        let status = match step.status {
            CheckpointStatus::Completed => PlanEntryStatus::Completed,
            CheckpointStatus::InProgress => PlanEntryStatus::InProgress,
            CheckpointStatus::Pending => PlanEntryStatus::Pending,
        };
        texts::step(Drawn::line(&step.description), priority.clone(), status)
    };
    goal.checkpoints().iter().map(step).collect()
}
