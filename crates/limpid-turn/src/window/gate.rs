//! What is done, without a model, for a request that does not fit.

use limpid_core::{Entry, WindowView};

use super::context_size::{ContextSize, Fill};
use super::rollover::{Note, Rollover};
use super::task::{Ask, Task};
use super::turns::{sizes, turns};
use super::{Count, ageing, room, shown};

/// One thing that was done, and what it freed by recount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// What.
    pub what: FitAction,
    /// Tokens.
    pub freed: usize,
}

/// What can be done for a request that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitAction {
    /// Results of tools are shown as head and tail.
    Results,
    /// The largest digest says less.
    Aged,
    /// Two digests are one.
    Merged,
    /// Turns before the newest are shown as head and tail.
    OldTurns,
    /// Everything but the newest turns is one note.
    RolledOver,
    /// The running turn is shown as head and tail too.
    Everything,
}

impl FitAction {
    /// What was done, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Results => "tool results shortened",
            Self::Aged => "the largest digest aged",
            Self::Merged => "the two oldest digests merged",
            Self::OldTurns => "old turns shortened",
            Self::RolledOver => "the window was rolled over",
            Self::Everything => "everything was shortened",
        }
    }
}

/// Whether a request fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// As it is.
    AsIs,
    /// With this view.
    With(WindowView, Vec<Action>),
    /// Not at all: this much is left after everything was tried.
    Refused(ContextSize),
}

/// Finds a view with which the next request fits. `running` is how many of the last entries belong to the running turn;
/// they never leave, they are only shortened. `recount` gives the sizes of the request under a view.
pub fn fit(
    task: &Task,
    running: usize,
    note: Note<'_>,
    recount: &dyn Fn(&WindowView) -> ContextSize,
    count: Count<'_>,
) -> Fit {
    let before = recount(&task.view);
    if before.fill(&task.settings) < Fill::Emergency {
        return Fit::AsIs;
    }
    let mut work = Work { task, recount, view: task.view.clone(), size: before, actions: Vec::new() };
    for step in [Work::shorten_results, Work::age, Work::merge, Work::shorten_old] {
        if step(&mut work, running, count) {
            return Fit::With(work.view, work.actions);
        }
    }
    if work.size.fits() {
        return if work.actions.is_empty() { Fit::AsIs } else { Fit::With(work.view, work.actions) };
    }
    // What was shortened so far did not help: the newest turns are better whole.
    (work.view, work.size, work.actions) = (task.view.clone(), before, Vec::new());
    let rollover = Rollover::of(task, running, count);
    work.take(rollover.view(task, note, count), FitAction::RolledOver);
    if !work.size.fits() {
        work.shorten_all(count);
    }
    if work.size.fits() { Fit::With(work.view, work.actions) } else { Fit::Refused(work.size) }
}

/// What a model is asked for the note of a rollover that [`fit`] has found to be needed, and the tokens of what the note
/// stands for; none when no message leaves.
pub fn note_of(task: &Task, running: usize, count: Count<'_>) -> Option<(Ask, usize)> {
    Rollover::of(task, running, count).ask(task, count)
}

struct Work<'a> {
    task: &'a Task,
    recount: &'a dyn Fn(&WindowView) -> ContextSize,
    view: WindowView,
    size: ContextSize,
    actions: Vec<Action>,
}

impl<'a> Work<'a> {
    /// Takes a view when it is smaller. Says whether the emergency is over.
    fn take(&mut self, view: WindowView, what: FitAction) -> bool {
        let size = (self.recount)(&view);
        let freed = self.size.total().saturating_sub(size.total());
        if freed > 0 {
            self.actions.push(Action { what, freed });
            (self.view, self.size) = (view, size);
        }
        self.size.fill(&self.task.settings) < Fill::Emergency
    }

    fn shorten_results(&mut self, _: usize, count: Count<'_>) -> bool {
        let Some(last) = self.task.entries.last() else { return false };
        if self.view.shortened.is_some_and(|old| old.texts < u32::MAX) {
            return false;
        }
        let whole = WindowView { shortened: None, ..self.view.clone() };
        let result = self.task.budget.result.max(1);
        let Some(limit) = room::results_within(&whole, &self.task.entries, result, count) else { return false };
        let results = self.view.shortened.map_or(limit, |old| old.results.min(limit));
        let shortened = limpid_core::Shortened { through: last.id, results, texts: u32::MAX };
        self.take(WindowView { shortened: Some(shortened), ..self.view.clone() }, FitAction::Results)
    }

    fn age(&mut self, _: usize, count: Count<'_>) -> bool {
        loop {
            let mut view = self.view.clone();
            if !room::age_largest(&mut view.digests, count) {
                return false;
            }
            let before = self.actions.len();
            if self.take(view, FitAction::Aged) {
                return true;
            }
            if self.actions.len() == before || self.actions.len() > 8 {
                return false;
            }
        }
    }

    fn merge(&mut self, _: usize, count: Count<'_>) -> bool {
        while let [older, newer, ..] = self.view.digests.as_slice() {
            let one = ageing::merged(older, newer, None, self.task.budget.digests, count);
            let mut view = self.view.clone();
            view.digests.splice(0..2, [one]);
            let before = self.actions.len();
            if self.take(view, FitAction::Merged) {
                return true;
            }
            if self.actions.len() == before {
                return false;
            }
        }
        false
    }

    /// Shortens what stands before the newest turn.
    fn shorten_old(&mut self, running: usize, count: Count<'_>) -> bool {
        let past = self.past(running);
        let start = turns(past).last().map_or(0, |turn| turn.start);
        let old = &past[..if running > 0 { past.len() } else { start }];
        for percent in [50, 25, 10] {
            let size = sizes(&shown::shown(&self.view, old), count);
            let limit = room::shorten_to(&self.view, old, size * percent / 100, self.task.budget.result, count);
            if let Some(shortened) = limit
                && self.take(WindowView { shortened: Some(shortened), ..self.view.clone() }, FitAction::OldTurns)
            {
                return true;
            }
        }
        false
    }

    /// Shortens everything that is shown, the running turn included.
    fn shorten_all(&mut self, count: Count<'_>) {
        let shown: Vec<Entry> = self.task.entries.iter().filter(|entry| self.view.shows(entry.id)).cloned().collect();
        for percent in [70, 50, 35, 20, 10, 5] {
            let size = sizes(&shown::shown(&self.view, &shown), count);
            let limit = room::shorten_to(&self.view, &shown, size * percent / 100, self.task.budget.result, count);
            if let Some(shortened) = limit {
                self.take(WindowView { shortened: Some(shortened), ..self.view.clone() }, FitAction::Everything);
            }
            if self.size.fits() {
                return;
            }
        }
    }

    /// The messages before the running turn.
    fn past(&self, running: usize) -> &'a [Entry] {
        let entries = &self.task.entries;
        &entries[..entries.len().saturating_sub(running)]
    }
}

#[cfg(test)]
mod tests;
