//! Which goal, step or decision a name or a text means.

use super::error::GoalError;
use super::fold::Goals;
use super::text::{self, Found};
use super::{Checkpoint, Decision, Goal};
use crate::{CheckpointId, DecisionId, GoalId};

impl Goals {
    pub(super) fn existing(&self, id: &GoalId) -> Result<&Goal, GoalError> {
        let missing = || GoalError::NotFound { what: "goal", name: id.to_string(), known: self.listed() };
        self.goal(id).ok_or_else(missing)
    }

    pub(super) fn named(&self, name: &str) -> Result<GoalId, GoalError> {
        let goals = self.history();
        let names = goals.iter().map(|goal| (goal.id.as_str(), goal.description.as_str()));
        let at = find("goal", name, names, || self.listed())?;
        Ok(goals[at].id.clone())
    }

    pub(super) fn listed(&self) -> String {
        listed(self.history().iter().map(|goal| (goal.id.as_str(), goal.description.as_str())))
    }
}

impl Goal {
    pub(super) fn step(&self, id: &CheckpointId) -> Result<&Checkpoint, GoalError> {
        let missing = || GoalError::NotFound { what: "step", name: id.to_string(), known: self.steps_text() };
        self.checkpoints.iter().find(|step| step.id == *id).ok_or_else(missing)
    }

    pub(super) fn step_named(&self, name: &str) -> Result<CheckpointId, GoalError> {
        let steps = self.checkpoints.iter().map(|step| (step.id.as_str(), step.description.as_str()));
        let at = find("step", name, steps, || self.steps_text())?;
        Ok(self.checkpoints[at].id.clone())
    }

    fn steps_text(&self) -> String {
        listed(self.checkpoints.iter().map(|step| (step.id.as_str(), step.description.as_str())))
    }

    pub(super) fn decision(&self, id: &DecisionId) -> Result<&Decision, GoalError> {
        let missing = || GoalError::NotFound { what: "decision", name: id.to_string(), known: self.decisions_text() };
        self.decisions.get(id).ok_or_else(missing)
    }

    pub(super) fn decision_named(&self, name: &str) -> Result<DecisionId, GoalError> {
        let decisions: Vec<&Decision> = self.decisions.iter().collect();
        let names = decisions.iter().map(|decision| (decision.id().as_str(), decision.description()));
        let at = find("decision", name, names, || self.decisions_text())?;
        Ok(decisions[at].id().clone())
    }

    fn decisions_text(&self) -> String {
        listed(self.decisions.iter().map(|decision| (decision.id().as_str(), decision.description())))
    }
}

fn find<'a>(
    what: &'static str,
    name: &str,
    entries: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    known: impl Fn() -> String,
) -> Result<usize, GoalError> {
    if let Some(at) = entries.clone().position(|(id, _)| id == name.trim()) {
        return Ok(at);
    }
    match text::find(name, entries.map(|(_, text)| text)) {
        Found::At(at) => Ok(at),
        Found::None => Err(GoalError::NotFound { what, name: name.to_owned(), known: known() }),
        Found::Several => Err(GoalError::Ambiguous { what, name: name.to_owned(), known: known() }),
    }
}

fn listed<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let entries: Vec<String> = entries.map(|(id, text)| format!("{id} ({text})")).collect();
    if entries.is_empty() { "none".to_owned() } else { entries.join(", ") }
}
