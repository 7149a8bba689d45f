//! The rules of goals, under the seed's names. A manager works on a copy of the state; what it did comes
//! out as events, and the state is that of the log.

use super::decision::refusal;
use super::fold::Goals;
use super::text::{self, Found, folded, one_line};
use super::{
    ArtifactAction, ArtifactKind, CheckpointStatus, Decision, DecisionLocked, Goal, GoalAuthor, GoalEvent, GoalRecord,
    GoalStatus, MAX_DESCRIPTION, MAX_PATH, Priority, Progress, Room,
};
use crate::{CheckpointId, DecisionId, GoalId, Trust, TurnId};

/// Why a change of goals was refused: what was wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// A change needs a goal and none is shown.
    #[error("there is no goal; create or resume one first")]
    NoGoal,
    /// No goal waits that could be gone on with.
    #[error("no goal is paused; name the one to go on with: {known}")]
    NothingWaits {
        /// What there is.
        known: String,
    },
    /// There is no such thing.
    #[error("there is no {what} `{name}`; there are: {known}")]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// How it was named.
        name: String,
        /// What there is.
        known: String,
    },
    /// A text means more than one step or goal.
    #[error("`{name}` may mean several {what}s; name one of them whole: {known}")]
    Ambiguous {
        /// What kind of thing.
        what: &'static str,
        /// How it was named.
        name: String,
        /// What there is.
        known: String,
    },
    /// Somebody else's text may be behind the change.
    #[error(
        "text of others was read in this conversation, so goals change only when the owner says so; change it with \
         `limpid goal` or a goal tool, or begin again with /clean"
    )]
    Tainted,
    /// The decision stands.
    #[error(transparent)]
    DecisionLocked(#[from] DecisionLocked),
    /// A text is too long.
    #[error("the {what} has {chars} characters; at most {limit} are kept, so say it shorter")]
    TooLong {
        /// What it is.
        what: &'static str,
        /// How long it is.
        chars: usize,
        /// How long it may be.
        limit: usize,
    },
    /// A text says nothing.
    #[error("the {what} is blank")]
    Blank {
        /// What it is.
        what: &'static str,
    },
    /// The goal's line and its locked decisions would not fit the prompt.
    #[error(
        "the goal has {allotment} tokens of the prompt; its frame takes {frame}, its line {line} and {locked} locked \
         decisions {decisions}; use shorter texts, fewer locks or a larger window"
    )]
    DoesNotFit {
        /// Tokens that the goal block may take.
        allotment: usize,
        /// Tokens of headings and the like.
        frame: usize,
        /// Tokens of the goal's line.
        line: usize,
        /// Tokens of the locked decisions.
        decisions: usize,
        /// How many they are.
        locked: usize,
    },
    /// The goal does not stand as the change needs it.
    #[error("goal {goal} is {status}; {advice}")]
    Status {
        /// The goal.
        goal: GoalId,
        /// How it stands.
        status: GoalStatus,
        /// What to do.
        advice: &'static str,
    },
}

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
    goals: Goals,
    change: Change<'a>,
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
        let Some(step) = known.checkpoints.iter().find(|step| step.id == *checkpoint) else {
            return Err(GoalError::NotFound { what: "step", name: checkpoint.to_string(), known: steps_of(known) });
        };
        if step.status != status {
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
            goals => GoalError::NothingWaits { known: goals_of(goals) },
        })
    }

    /// The step of a goal that a name or a text means.
    ///
    /// # Errors
    /// When none or several are meant.
    pub fn find_checkpoint(&self, goal: &GoalId, name: &str) -> Result<CheckpointId, GoalError> {
        let known = self.existing(goal)?;
        let steps = known.checkpoints.iter().map(|step| (step.id.as_str(), step.description.as_str()));
        let at = find("step", name, steps, || steps_of(known))?;
        Ok(known.checkpoints[at].id.clone())
    }

    /// The decision of a goal that a name or a text means.
    ///
    /// # Errors
    /// When none or several are meant.
    pub fn find_decision(&self, goal: &GoalId, name: &str) -> Result<DecisionId, GoalError> {
        let known = self.existing(goal)?;
        let decisions: Vec<&Decision> = known.decisions.iter().collect();
        let names = decisions.iter().map(|decision| (decision.id().as_str(), decision.description()));
        let at = find("decision", name, names, || known.decisions_text())?;
        Ok(decisions[at].id().clone())
    }

    /// The goal that a name or a text means.
    ///
    /// # Errors
    /// When none or several are meant.
    pub fn find_goal(&self, name: &str) -> Result<GoalId, GoalError> {
        let goals = self.goals.history();
        let names = goals.iter().map(|goal| (goal.id.as_str(), goal.description.as_str()));
        let at = find("goal", name, names, || goals_of(goals))?;
        Ok(goals[at].id.clone())
    }

    pub(super) fn existing(&self, id: &GoalId) -> Result<&Goal, GoalError> {
        let missing =
            || GoalError::NotFound { what: "goal", name: id.to_string(), known: goals_of(self.goals.history()) };
        self.goals.goal(id).ok_or_else(missing)
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

    /// Every change passes here, so that none of a turn that read a stranger's text goes around whoever decides.
    fn record(&mut self, event: GoalEvent) -> Result<(), GoalError> {
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

/// The number after the highest of these names; names are never given twice, also where earlier ones were taken back.
fn next<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.filter_map(|name| name.get(1..)?.parse::<usize>().ok()).max().unwrap_or(0) + 1
}

impl Goal {
    fn decision(&self, id: &DecisionId) -> Result<&Decision, GoalError> {
        let missing = || GoalError::NotFound { what: "decision", name: id.to_string(), known: self.decisions_text() };
        self.decisions.get(id).ok_or_else(missing)
    }

    fn decisions_text(&self) -> String {
        listed(self.decisions.iter().map(|decision| (decision.id().as_str(), decision.description())))
    }
}

fn described(what: &'static str, text: &str) -> Result<String, GoalError> {
    let text = one_line(text);
    if text.is_empty() { Err(GoalError::Blank { what }) } else { limited(what, text, MAX_DESCRIPTION) }
}

fn limited(what: &'static str, text: String, limit: usize) -> Result<String, GoalError> {
    let chars = text.chars().count();
    if chars <= limit { Ok(text) } else { Err(GoalError::TooLong { what, chars, limit }) }
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

fn steps_of(goal: &Goal) -> String {
    listed(goal.checkpoints.iter().map(|step| (step.id.as_str(), step.description.as_str())))
}

fn goals_of(goals: &[Goal]) -> String {
    listed(goals.iter().map(|goal| (goal.id.as_str(), goal.description.as_str())))
}

fn listed<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let entries: Vec<String> = entries.map(|(id, text)| format!("{id} ({text})")).collect();
    if entries.is_empty() { "none".to_owned() } else { entries.join(", ") }
}
