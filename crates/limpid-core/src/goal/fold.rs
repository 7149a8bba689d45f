//! From the log to the goals of a conversation: the state is `fold(log)` and nothing else.

use std::collections::BTreeMap;

use super::{Artifact, Checkpoint, CheckpointStatus, Goal, GoalEvent, GoalRecord, GoalStatus};
use crate::{GoalId, Trust};

/// The goals of a conversation. At most one is active; it, or one that was completed last, is what prompts show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goals {
    goals: Vec<Goal>,
    shown: Option<GoalId>,
}

/// A record that did not fit what came before it, and was left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record `{name}` of goal {goal} does not fit what came before it: {reason}")]
pub struct Misfit {
    /// The event's name.
    pub name: &'static str,
    /// The goal.
    pub goal: GoalId,
    /// Why.
    pub reason: String,
}

impl Goals {
    /// The state after a log. A record that does not fit costs itself only.
    pub fn fold<'a>(log: impl IntoIterator<Item = &'a GoalRecord>) -> (Self, Vec<Misfit>) {
        let log: Vec<&GoalRecord> = log.into_iter().collect();
        // The states that some record goes back to.
        let mut moments: BTreeMap<u64, Self> = log.iter().filter_map(|record| moment(record)).collect();
        let (mut goals, mut misfits) = (Self::default(), Vec::new());
        for (record, at) in log.into_iter().zip(0..) {
            if let Some(moment) = moments.get_mut(&at) {
                moment.clone_from(&goals);
            }
            let earlier = moment(record).filter(|(records, _)| *records <= at);
            match earlier.and_then(|(records, _)| moments.get(&records)) {
                Some(earlier) => goals.restore(earlier.clone()),
                None => misfits.extend(goals.apply(record).err()),
            }
        }
        (goals, misfits)
    }

    /// Stands again as it did at an earlier moment of the same log. Nothing is lost that was made for good: goals that
    /// were made since wait, and decisions that were locked since stand.
    pub(super) fn restore(&mut self, earlier: Self) {
        let later = std::mem::replace(self, earlier);
        for goal in later.goals {
            match self.goal_mut(&goal.id) {
                // What is kept has the label of the goal that it was locked in.
                Some(own) => {
                    if own.decisions.keep_locked(&goal.decisions) {
                        own.trust = own.trust.join(goal.trust);
                    }
                }
                None => {
                    let waits = goal.status == GoalStatus::Active;
                    self.goals.push(Goal { status: if waits { GoalStatus::Paused } else { goal.status }, ..goal });
                }
            }
        }
    }

    /// Who wrote the least trusted text of any of them: the label of whatever lists them.
    pub fn trust(&self) -> Trust {
        self.goals.iter().map(Goal::trust).fold(Trust::Owner, Trust::join)
    }

    /// Takes in one record.
    ///
    /// # Errors
    /// When it does not fit; then nothing has changed.
    pub fn apply(&mut self, record: &GoalRecord) -> Result<(), Misfit> {
        let done = match &record.event {
            GoalEvent::Created { .. } => self.create(record),
            GoalEvent::Paused { goal } => self.pause(goal),
            GoalEvent::Resumed { goal } => self.resume(goal),
            GoalEvent::Cleared { goal } => self.clear(goal),
            GoalEvent::Restored { .. } => Err("the log has no such moment".to_owned()),
            event => match self.goal_mut(event.goal()) {
                Some(goal) => goal.take(record),
                None => Err("there is no such goal".to_owned()),
            },
        };
        let misfit = |reason| Misfit { name: record.event.name(), goal: record.event.goal().clone(), reason };
        done.map_err(misfit)
    }

    /// The goal that is worked on: the seed's `getActiveGoal`.
    pub fn active(&self) -> Option<&Goal> {
        self.goals.iter().find(|goal| goal.status == GoalStatus::Active)
    }

    /// The goal that prompts show: the active one, or the one that was completed last until a new task.
    pub fn shown(&self) -> Option<&Goal> {
        self.shown.as_ref().and_then(|id| self.goal(id))
    }

    /// One goal.
    pub fn goal(&self, id: &GoalId) -> Option<&Goal> {
        self.goals.iter().find(|goal| goal.id == *id)
    }

    /// Every goal of the conversation, oldest first: the seed's `getGoalHistory`.
    pub fn history(&self) -> &[Goal] {
        &self.goals
    }

    fn goal_mut(&mut self, id: &GoalId) -> Option<&mut Goal> {
        self.goals.iter_mut().find(|goal| goal.id == *id)
    }

    fn create(&mut self, record: &GoalRecord) -> Result<(), String> {
        let GoalEvent::Created { goal, description, priority } = &record.event else { return Ok(()) };
        if self.goal(goal).is_some() {
            return Err("there is a goal of this name".to_owned());
        }
        self.pause_active();
        self.goals.push(Goal {
            id: goal.clone(),
            description: description.clone(),
            priority: *priority,
            status: GoalStatus::Active,
            created_ms: record.at_ms,
            completed_ms: None,
            summary: None,
            by_its_steps: false,
            turn: record.turn.clone(),
            trust: record.trust,
            checkpoints: Vec::new(),
            decisions: super::Decisions::default(),
            artifacts: Vec::new(),
        });
        self.shown = Some(goal.clone());
        Ok(())
    }

    fn pause_active(&mut self) {
        for goal in self.goals.iter_mut().filter(|goal| goal.status == GoalStatus::Active) {
            goal.status = GoalStatus::Paused;
        }
    }

    fn pause(&mut self, id: &GoalId) -> Result<(), String> {
        let goal = self.goal_mut(id).filter(|goal| goal.status == GoalStatus::Active);
        goal.ok_or("it is not active")?.status = GoalStatus::Paused;
        self.shown = None;
        Ok(())
    }

    fn resume(&mut self, id: &GoalId) -> Result<(), String> {
        if self.goal(id).is_none_or(|goal| goal.status == GoalStatus::Active) {
            return Err("it does not wait".to_owned());
        }
        self.pause_active();
        if let Some(goal) = self.goal_mut(id) {
            goal.open();
        }
        self.shown = Some(id.clone());
        Ok(())
    }

    fn clear(&mut self, id: &GoalId) -> Result<(), String> {
        if self.shown.as_ref() != Some(id) {
            return Err("it is not shown".to_owned());
        }
        self.pause_active();
        self.shown = None;
        Ok(())
    }
}

impl Goal {
    fn open(&mut self) {
        self.status = GoalStatus::Active;
        self.completed_ms = None;
        self.summary = None;
        self.by_its_steps = false;
    }

    /// Takes in a record about this goal alone.
    fn take(&mut self, record: &GoalRecord) -> Result<(), String> {
        match &record.event {
            GoalEvent::Completed { summary, .. } => {
                let by_steps = self.status == GoalStatus::Completed && self.by_its_steps;
                if self.status == GoalStatus::Completed && !(by_steps && summary.is_some()) {
                    return Err("it is completed".to_owned());
                }
                self.status = GoalStatus::Completed;
                self.completed_ms = self.completed_ms.filter(|_| by_steps).or(Some(record.at_ms));
                self.by_its_steps = summary.is_none();
                self.summary.clone_from(summary);
            }
            GoalEvent::Reopened { .. } if self.status == GoalStatus::Completed => self.open(),
            GoalEvent::Reopened { .. } => return Err("it is not completed".to_owned()),
            GoalEvent::CheckpointAdded { .. } | GoalEvent::CheckpointSet { .. } => self.take_step(record)?,
            GoalEvent::ArtifactRecorded { kind, path, action, .. } => {
                self.artifacts.push(Artifact { kind: *kind, path: path.clone(), action: *action });
            }
            _ => self.take_decision(&record.event)?,
        }
        self.trust = self.trust.join(texts_of(record));
        Ok(())
    }

    fn take_step(&mut self, record: &GoalRecord) -> Result<(), String> {
        match &record.event {
            GoalEvent::CheckpointAdded { checkpoint, description, metadata, summary, .. } => {
                if self.checkpoints.iter().any(|step| step.id == *checkpoint) {
                    return Err(format!("there is a step {checkpoint}"));
                }
                self.checkpoints.push(Checkpoint {
                    id: checkpoint.clone(),
                    description: description.clone(),
                    status: CheckpointStatus::Pending,
                    completed_ms: None,
                    metadata: metadata.clone(),
                    summary: summary.clone(),
                });
            }
            GoalEvent::CheckpointSet { checkpoint, status, .. } => {
                let step = self.checkpoints.iter_mut().find(|step| step.id == *checkpoint);
                let step = step.ok_or_else(|| format!("there is no step {checkpoint}"))?;
                step.status = *status;
                step.completed_ms = (*status == CheckpointStatus::Completed).then_some(record.at_ms);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_decision(&mut self, event: &GoalEvent) -> Result<(), String> {
        let there = match event {
            GoalEvent::DecisionRecorded { decision, description, rationale, .. } => {
                if self.decisions.get(decision).is_some() {
                    return Err(format!("there is a decision {decision}"));
                }
                self.decisions.record(decision.clone(), description, rationale);
                true
            }
            GoalEvent::DecisionRevised { decision, rationale, .. } => {
                self.decisions.revise(decision, rationale).map_err(|error| error.to_string())?
            }
            GoalEvent::DecisionLocked { decision, .. } => self.decisions.lock(decision),
            _ => true,
        };
        if there { Ok(()) } else { Err("there is no such decision".to_owned()) }
    }
}

/// The moment that a record goes back to, and a state to be filled in.
fn moment(record: &GoalRecord) -> Option<(u64, Goals)> {
    match record.event {
        GoalEvent::Restored { records, .. } => Some((records, Goals::default())),
        _ => None,
    }
}

/// The label of the texts that a record brings; one without text brings none.
fn texts_of(record: &GoalRecord) -> Trust {
    match record.event {
        GoalEvent::CheckpointSet { .. } | GoalEvent::DecisionLocked { .. } | GoalEvent::Reopened { .. } => Trust::Owner,
        _ => record.trust,
    }
}
