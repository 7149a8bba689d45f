//! The rules of goals, under the seed's names. A manager works on a copy of the state; what it did comes
//! out as events, and the state is that of the log.

use super::error::GoalError;
use super::fold::Goals;
use super::text::{described, folded, one_line};
use super::{Goal, GoalAuthor, GoalEvent, GoalRecord, GoalStatus, Priority, Progress, Room};
use crate::{CheckpointId, DecisionId, GoalId, Trust, TurnId};

/// Who changes goals, when, and in which room.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// By which way.
    pub by: GoalAuthor,
    /// Who wrote the least trusted text behind it.
    pub trust: Trust,
    /// The turn that it belongs to.
    pub turn: Option<&'a TurnId>,
    /// Whether the change was let through by whoever decides about calls. Without that, no text of others moves a goal.
    pub permitted: bool,
    /// When, in milliseconds since 1970.
    pub now_ms: i64,
    /// The room that the prompt has for a goal.
    pub room: Room<'a>,
}

/// The rules over the goals of one conversation.
#[derive(Debug)]
pub struct GoalManager<'a> {
    before: Goals,
    pub(super) goals: Goals,
    pub(super) change: Change<'a>,
    records: Vec<GoalRecord>,
}

impl<'a> GoalManager<'a> {
    /// A manager over the goals as they stand.
    pub fn new(goals: Goals, change: Change<'a>) -> Self {
        Self { before: goals.clone(), goals, change, records: Vec::new() }
    }

    /// Ends the change: a goal whose steps are all done is completed (judged once, after everything). Returns
    /// the state and the records that lead to it; a change that comes to nothing has none.
    pub fn finish(mut self) -> (Goals, Vec<GoalRecord>) {
        let stepped = |record: &GoalRecord| {
            matches!(record.event, GoalEvent::CheckpointAdded { .. } | GoalEvent::CheckpointSet { .. })
        };
        if self.records.iter().any(stepped)
            && let Some(goal) = self.goals.active()
            && goal.progress().total > 0
            && goal.progress().completed == goal.progress().total
        {
            // The step that led here was let through.
            let _ = self.record(GoalEvent::Completed { goal: goal.id.clone(), summary: None });
        }
        if self.goals == self.before { (self.before, Vec::new()) } else { (self.goals, self.records) }
    }

    /// The goals as this change leaves them so far.
    pub const fn goals(&self) -> &Goals {
        &self.goals
    }

    /// The goal that is worked on.
    pub fn active_goal(&self) -> Option<&Goal> {
        self.goals.active()
    }

    /// Every goal, oldest first.
    pub fn goal_history(&self) -> &[Goal] {
        self.goals.history()
    }

    /// How far a goal is.
    ///
    /// # Errors
    /// When there is no such goal.
    pub fn goal_progress(&self, goal: &GoalId) -> Result<Progress, GoalError> {
        Ok(self.existing(goal)?.progress())
    }

    /// Makes a goal; the active one pauses. The active goal itself is not made again, and one that waits is
    /// resumed.
    ///
    /// # Errors
    /// When the description is blank, too long, or does not fit the prompt.
    pub fn create_goal(&mut self, description: &str, priority: Priority) -> Result<GoalId, GoalError> {
        let description = described("goal", description)?;
        let same = |goal: &&Goal| folded(&goal.description) == folded(&description);
        let open = self.goals.history().iter().filter(same).find(|goal| goal.status != GoalStatus::Completed);
        if let Some(goal) = open {
            let id = goal.id.clone();
            return self.resume_goal(&id).map(|()| id);
        }
        self.change.room.check_texts(&description, &[])?;
        let goal = GoalId::new(format!("g{}", self.goals.history().len() + 1));
        self.record(GoalEvent::Created { goal: goal.clone(), description, priority })?;
        Ok(goal)
    }

    /// Has the active goal wait; it leaves the prompt.
    ///
    /// # Errors
    /// When there is no such goal, or it is completed.
    pub fn pause_goal(&mut self, goal: &GoalId) -> Result<(), GoalError> {
        match self.existing(goal)?.status {
            GoalStatus::Paused => Ok(()),
            GoalStatus::Active => {
                self.record(GoalEvent::Paused { goal: goal.clone() })?;
                Ok(())
            }
            status @ GoalStatus::Completed => {
                Err(GoalError::Status { goal: goal.clone(), status, advice: "only an active goal can pause" })
            }
        }
    }

    /// Goes on with a goal that waits or was completed, as it was; the active one pauses.
    ///
    /// # Errors
    /// When there is no such goal, or its line and locked decisions do not fit the prompt.
    pub fn resume_goal(&mut self, goal: &GoalId) -> Result<(), GoalError> {
        let known = self.existing(goal)?;
        if known.status == GoalStatus::Active {
            return Ok(());
        }
        self.change.room.check(known)?;
        self.record(GoalEvent::Resumed { goal: goal.clone() })?;
        Ok(())
    }

    /// Has the goals stand again as they did after so many records of their log. `earlier` is the state after
    /// these.
    ///
    /// # Errors
    /// When the goal that was shown then does not fit the prompt any more.
    pub fn restore(&mut self, earlier: Goals, records: u64) -> Result<(), GoalError> {
        if let Some(shown) = earlier.shown() {
            self.change.room.check(shown)?;
        }
        let named = earlier.shown().or_else(|| self.goals.shown()).or_else(|| self.goals.history().last());
        let Some(goal) = named.map(|goal| goal.id.clone()) else { return Ok(()) };
        self.check_permitted()?;
        self.goals.restore(earlier);
        let Change { by, trust, turn, now_ms, .. } = self.change;
        let event = GoalEvent::Restored { goal, records };
        self.records.push(GoalRecord { event, by, trust, turn: turn.cloned(), at_ms: now_ms });
        Ok(())
    }

    /// Ends a goal. It stays in the prompt until a new task. One that its steps completed takes a summary
    /// still.
    ///
    /// # Errors
    /// When there is no such goal.
    pub fn complete_goal(&mut self, goal: &GoalId, summary: &str) -> Result<(), GoalError> {
        let (known, summary) = (self.existing(goal)?, one_line(summary));
        if known.status != GoalStatus::Completed || (known.by_its_steps && !summary.is_empty()) {
            let summary = Some(summary);
            self.record(GoalEvent::Completed { goal: goal.clone(), summary })?;
        }
        Ok(())
    }

    /// Takes the shown goal out of the prompt; an active one pauses.
    ///
    /// # Errors
    /// When no goal is shown.
    pub fn clear(&mut self) -> Result<(), GoalError> {
        let goal = self.shown()?;
        self.record(GoalEvent::Cleared { goal })?;
        Ok(())
    }

    /// The goal that the prompt shows.
    ///
    /// # Errors
    /// [`GoalError::NoGoal`] when none is.
    pub fn shown(&self) -> Result<GoalId, GoalError> {
        self.goals.shown().map(|goal| goal.id.clone()).ok_or(GoalError::NoGoal)
    }

    /// The goal that was made last of those that wait.
    ///
    /// # Errors
    /// [`GoalError::NothingWaits`] with the goals that there are, or [`GoalError::NoGoal`].
    pub fn waiting(&self) -> Result<GoalId, GoalError> {
        let history = self.goals.history();
        let waiting = history.iter().rfind(|goal| goal.status == GoalStatus::Paused);
        waiting.map(|goal| goal.id.clone()).ok_or_else(|| match history {
            [] => GoalError::NoGoal,
            _ => GoalError::NothingWaits { known: self.goals.listed() },
        })
    }

    /// The step of a goal that a name or a text means.
    ///
    /// # Errors
    /// When none or several are meant.
    pub fn find_checkpoint(&self, goal: &GoalId, name: &str) -> Result<CheckpointId, GoalError> {
        self.existing(goal)?.step_named(name)
    }

    /// The decision of a goal that a name or a text means.
    ///
    /// # Errors
    /// When none or several are meant.
    pub fn find_decision(&self, goal: &GoalId, name: &str) -> Result<DecisionId, GoalError> {
        self.existing(goal)?.decision_named(name)
    }

    /// The goal that a name or a text means.
    ///
    /// # Errors
    /// When none or several are meant.
    pub fn find_goal(&self, name: &str) -> Result<GoalId, GoalError> {
        self.goals.named(name)
    }

    pub(super) fn existing(&self, id: &GoalId) -> Result<&Goal, GoalError> {
        self.goals.existing(id)
    }

    /// Every change passes here, so that none of a turn that read a stranger's text goes around whoever decides.
    pub(super) fn record(&mut self, event: GoalEvent) -> Result<(), GoalError> {
        self.check_permitted()?;
        let Change { by, trust, turn, now_ms, .. } = self.change;
        let record = GoalRecord { event, by, trust, turn: turn.cloned(), at_ms: now_ms };
        // The rules above only make records that fit.
        let fits = self.goals.apply(&record);
        debug_assert_eq!(fits, Ok(()));
        self.records.push(record);
        Ok(())
    }

    const fn check_permitted(&self) -> Result<(), GoalError> {
        let Change { by, trust, permitted, .. } = self.change;
        if permitted || !trust.is_foreign() || matches!(by, GoalAuthor::Owner) {
            return Ok(());
        }
        Err(GoalError::Tainted)
    }
}
