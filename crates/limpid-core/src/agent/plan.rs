//! Planned tasks of agents: how each stands, by what those that it needs have come to.

use std::collections::BTreeMap;

use crate::{AgentState, PlannedId};

/// Where a planned task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlannedState {
    /// Nobody has started it.
    Planned,
    /// It was started and waits for others.
    Waiting,
    /// It was started and waits for nothing but its turn.
    Queued,
    /// Others that it needs came to nothing.
    Blocked,
    /// An agent works on it.
    Running,
    /// It has its result.
    Done,
    /// Its agent came to nothing, or it got none.
    Failed,
}

impl PlannedState {
    /// The state's name, as it is shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Waiting => "waiting",
            Self::Queued => "queued",
            Self::Blocked => "blocked",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Whether something is still to come of it by itself.
    pub const fn is_under_way(self) -> bool {
        matches!(self, Self::Waiting | Self::Queued | Self::Running)
    }
}

/// What is known of a planned task by itself.
#[derive(Clone, Debug)]
pub struct PlannedFacts<'t> {
    /// Which.
    pub id: PlannedId,
    /// Those that it needs, all with lower numbers.
    pub needs: &'t [PlannedId],
    /// Whether it was started.
    pub is_started: bool,
    /// Whether its newest try got no agent and gets none.
    pub is_refused: bool,
    /// The state of the agent of its newest try.
    pub agent: Option<AgentState>,
}

/// Where each task of a plan stands, with those that block it. Tasks come in the order of their numbers.
pub fn states<'t>(
    tasks: impl IntoIterator<Item = PlannedFacts<'t>>,
) -> BTreeMap<PlannedId, (PlannedState, Vec<PlannedId>)> {
    let mut states: BTreeMap<PlannedId, (PlannedState, Vec<PlannedId>)> = BTreeMap::new();
    for task in tasks {
        let state = match task.agent {
            Some(AgentState::Done) => PlannedState::Done,
            Some(agent) if agent.is_over() => PlannedState::Failed,
            Some(_) => PlannedState::Running,
            None if task.is_refused => PlannedState::Failed,
            None if task.is_started => PlannedState::Waiting,
            None => PlannedState::Planned,
        };
        let is_open = matches!(state, PlannedState::Waiting | PlannedState::Planned);
        let of = |id: &PlannedId| states.get(id).map_or(PlannedState::Failed, |(state, _)| *state);
        let blocks = |id: &&PlannedId| matches!(of(id), PlannedState::Failed | PlannedState::Blocked);
        let blocked_by: Vec<PlannedId> = task.needs.iter().filter(|id| is_open && blocks(id)).copied().collect();
        let state = match state {
            _ if !blocked_by.is_empty() => PlannedState::Blocked,
            PlannedState::Waiting if task.needs.iter().all(|id| of(id) == PlannedState::Done) => PlannedState::Queued,
            other => other,
        };
        states.insert(task.id, (state, blocked_by));
    }
    states
}

/// The places of tasks in an order in which each comes after those that it needs; `needs` has, for each place, the places that it
/// needs. None: some of them need each other.
pub fn order(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut order = Vec::new();
    while order.len() < needs.len() {
        let is_next = |at: &usize| !order.contains(at) && needs[*at].iter().all(|need| order.contains(need));
        let next = (0..needs.len()).find(is_next)?;
        order.push(next);
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn facts(id: i64, needs: &[PlannedId], is_started: bool, agent: Option<AgentState>) -> PlannedFacts<'_> {
        PlannedFacts { id: PlannedId(id), needs, is_started, is_refused: false, agent }
    }

    // KOSHI-044
    #[test]
    fn a_task_that_failed_blocks_what_needs_it_and_what_needs_that() {
        let needs: Vec<Vec<PlannedId>> =
            [vec![], vec![1], vec![2], vec![]].map(|ids: Vec<i64>| ids.into_iter().map(PlannedId).collect()).into();
        let with = |first: Option<AgentState>| {
            let agents = [first, None, None, None];
            let all = (0..4).map(|at| facts(at as i64 + 1, &needs[at], true, agents[at]));
            states(all).into_values().map(|(state, by)| (state.as_str(), by.len())).collect::<Vec<_>>()
        };
        assert_eq!(with(Some(AgentState::Failed)), [("failed", 0), ("blocked", 1), ("blocked", 1), ("queued", 0)]);
        assert_eq!(with(Some(AgentState::Done)), [("done", 0), ("queued", 0), ("waiting", 0), ("queued", 0)]);
        assert_eq!(with(Some(AgentState::Running)), [("running", 0), ("waiting", 0), ("waiting", 0), ("queued", 0)]);
        assert_eq!(with(None), [("queued", 0), ("waiting", 0), ("waiting", 0), ("queued", 0)]);
    }

    proptest! {
        // KOSHI-044
        #[test]
        fn an_order_has_each_task_once_and_behind_what_it_needs(
            needs in prop::collection::vec(prop::collection::vec(0_usize..8, 0..3), 8),
        ) {
            match order(&needs) {
                Some(found) => {
                    let mut sorted = found.clone();
                    sorted.sort_unstable();
                    prop_assert_eq!(sorted, (0..8).collect::<Vec<_>>());
                    for (at, place) in found.iter().enumerate() {
                        prop_assert!(needs[*place].iter().all(|need| found[..at].contains(need)));
                    }
                }
                // Somewhere each one needs another one, which comes back to itself.
                None => {
                    let mut left: Vec<usize> = (0..8).collect();
                    while let Some(at) = left.iter().position(|at| needs[*at].iter().all(|need| !left.contains(need))) {
                        left.remove(at);
                    }
                    prop_assert!(!left.is_empty());
                }
            }
        }
    }
}
