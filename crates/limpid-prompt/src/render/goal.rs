//! A goal made to fit its allotment. Its line and its locked decisions always stay; of the rest, the oldest
//! artifacts go first, then finished steps, open decisions and far steps, until it fits.
//!
//! Entries are measured by the plain estimate and with a fixed extra, whatever the profile writes around them: so the
//! same goal reads the same in every turn, and what was locked once fits everywhere.

use std::borrow::Cow;

use limpid_core::Tier;
use limpid_core::goal::Room;
use limpid_core::goal::allotment::FRAME;

use crate::count::{Estimate, TokenCounter as _};
use crate::inputs::{ArtifactInput, CheckpointInput, CheckpointStatus, DecisionInput, GoalInput, Inputs};

/// The goals of a prompt as far as there is room for them.
pub(super) struct Fitted<'a> {
    goal: Option<Cow<'a, GoalInput>>,
    /// What the stored text shows, when that is told apart.
    stored: Option<Option<Cow<'a, GoalInput>>>,
}

impl<'a> Fitted<'a> {
    pub(super) fn new(inputs: &'a Inputs, tier: Tier) -> Self {
        let fit = |goal: &'a Option<GoalInput>| goal.as_ref().map(|goal| fitted(goal, tier));
        let stored = inputs.changed.stored.as_ref().map(|stored| fit(&stored.goal));
        Self { goal: fit(&inputs.goal), stored }
    }

    pub(super) fn goal(&self) -> Option<&GoalInput> {
        self.goal.as_deref()
    }

    pub(super) fn stored(&self) -> Option<&GoalInput> {
        self.stored.as_ref().map_or_else(|| self.goal(), Option::as_deref)
    }
}

fn fitted(goal: &GoalInput, tier: Tier) -> Cow<'_, GoalInput> {
    let room = Room { allotment: tier.goal_allotment() as usize, count: &|text| Estimate::default().count(text) };
    let entries = texts(goal).map(|text| room.entry(text)).sum::<usize>();
    let mut over = (FRAME + entries).saturating_sub(room.allotment);
    if over == 0 {
        return Cow::Borrowed(goal);
    }
    let mut left = goal.clone();
    let GoalInput { artifacts, checkpoints, decisions, more, .. } = &mut left;
    let mut drop = |text: &str| {
        let goes = over > 0;
        over = over.saturating_sub(if goes { room.entry(text) } else { 0 });
        goes
    };
    more.artifacts += cut(artifacts, Ends::First, |_| true, |artifact| drop(&artifact.path));
    let is_done = |step: &CheckpointInput| step.status == CheckpointStatus::Completed;
    let is_far = |step: &CheckpointInput| step.status == CheckpointStatus::Pending;
    more.checkpoints += cut(checkpoints, Ends::First, is_done, |step| drop(&step.description));
    more.decisions += cut(decisions, Ends::First, |open| !open.locked, |open| drop(&open.description));
    more.checkpoints += cut(checkpoints, Ends::Last, is_far, |step| drop(&step.description));
    more.checkpoints += cut(checkpoints, Ends::Last, |_| true, |step| drop(&step.description));
    Cow::Owned(left)
}

/// From which end entries go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    First,
    Last,
}

/// Takes entries out, one after the other, while `drop` says so; returns how many.
fn cut<T>(entries: &mut Vec<T>, from: Ends, may_go: impl Fn(&T) -> bool, mut drop: impl FnMut(&T) -> bool) -> u32 {
    let mut gone = 0;
    let mut judge = |entry: &T| {
        let goes = may_go(entry) && drop(entry);
        gone += u32::from(goes);
        !goes
    };
    if from == Ends::First {
        entries.retain(&mut judge);
    } else {
        entries.reverse();
        entries.retain(&mut judge);
        entries.reverse();
    }
    gone
}

/// The texts of a goal that take a line each.
fn texts(goal: &GoalInput) -> impl Iterator<Item = &str> {
    let steps = goal.checkpoints.iter().map(|CheckpointInput { description, .. }| description.as_str());
    let decisions = goal.decisions.iter().map(|DecisionInput { description, .. }| description.as_str());
    let artifacts = goal.artifacts.iter().map(|ArtifactInput { path, .. }| path.as_str());
    std::iter::once(goal.description.as_str()).chain(steps).chain(decisions).chain(artifacts)
}
