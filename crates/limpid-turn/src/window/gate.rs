//! What is done, without a model, for a request that does not fit (OLLM-100 to OLLM-102, PICO-050).

use limpid_core::{Entry, WindowView};

use super::ledger::{Fill, Ledger};
use super::pinned::pin;
use super::task::Task;
use super::turns::{cut, sizes, turns};
use super::{Count, ageing, mechanical, quote, room, shown};

/// One thing that was done, and what it freed by recount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What.
    pub what: String,
    /// Tokens.
    pub freed: usize,
}

/// Whether a request fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// As it is.
    AsIs,
    /// With this view.
    With(WindowView, Vec<Action>),
    /// Not at all: this much is left after everything was tried.
    Refused(Ledger),
}

/// Finds a view with which the next request fits. `running` is how many of the last entries belong to the running turn;
/// they never leave, they are only shortened. `recount` gives the sizes of the request under a view.
pub fn fit(task: &Task, running: usize, recount: &dyn Fn(&WindowView) -> Ledger, count: Count<'_>) -> Fit {
    let before = recount(&task.view);
    if before.fill(&task.settings) < Fill::Emergency {
        return Fit::AsIs;
    }
    let mut work = Work { task, recount, view: task.view.clone(), ledger: before, actions: Vec::new() };
    for step in [Work::shorten_results, Work::age, Work::merge, Work::shorten_old] {
        if step(&mut work, running, count) {
            return Fit::With(work.view, work.actions);
        }
    }
    if work.ledger.fits() {
        return if work.actions.is_empty() { Fit::AsIs } else { Fit::With(work.view, work.actions) };
    }
    for step in [Work::roll_over, Work::shorten_all] {
        step(&mut work, running, count);
        if work.ledger.fits() {
            return Fit::With(work.view, work.actions);
        }
    }
    Fit::Refused(work.ledger)
}

struct Work<'a> {
    task: &'a Task,
    recount: &'a dyn Fn(&WindowView) -> Ledger,
    view: WindowView,
    ledger: Ledger,
    actions: Vec<Action>,
}

impl<'a> Work<'a> {
    /// Takes a view when it is smaller. Says whether the emergency is over.
    fn take(&mut self, view: WindowView, what: &str) -> bool {
        let ledger = (self.recount)(&view);
        let freed = self.ledger.total().saturating_sub(ledger.total());
        if freed > 0 {
            self.actions.push(Action { what: what.to_owned(), freed });
            (self.view, self.ledger) = (view, ledger);
        }
        self.ledger.fill(&self.task.settings) < Fill::Emergency
    }

    fn shorten_results(&mut self, _: usize, count: Count<'_>) -> bool {
        let Some(last) = self.task.entries.last() else { return false };
        let result = self.task.budget.result.max(1) as u32;
        let old = self.view.shortened.map_or((u32::MAX, u32::MAX), |old| (old.results, old.texts));
        let shortened = limpid_core::Shortened { through: last.id, results: result.min(old.0), texts: u32::MAX };
        let is_long = |entry: &&Entry| {
            entry.message.role == limpid_core::Role::Tool && count(&entry.message.text) > result as usize
        };
        if self.view.shortened.is_some_and(|old| old.texts < u32::MAX) || !self.task.entries.iter().any(|e| is_long(&e))
        {
            return false;
        }
        self.take(WindowView { shortened: Some(shortened), ..self.view.clone() }, "tool results shortened")
    }

    fn age(&mut self, _: usize, count: Count<'_>) -> bool {
        loop {
            let mut view = self.view.clone();
            if !room::age_largest(&mut view.digests, count) {
                return false;
            }
            let before = self.actions.len();
            if self.take(view, "the largest digest aged") {
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
            if self.take(view, "the two oldest digests merged") {
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
            let size = sizes(&shown::shown(&self.view, old, count), count);
            let limit = room::shorten_to(&self.view, old, size * percent / 100, self.task.budget.result, count);
            if let Some(shortened) = limit
                && self.take(WindowView { shortened: Some(shortened), ..self.view.clone() }, "old turns shortened")
            {
                return true;
            }
        }
        false
    }

    /// Everything before the newest turns becomes one note.
    fn roll_over(&mut self, running: usize, count: Count<'_>) -> bool {
        let Task { budget, view: old, typed, .. } = self.task;
        let past = self.past(running);
        let visible: Vec<Entry> = past.iter().filter(|entry| self.view.shows(entry.id)).cloned().collect();
        let shown = shown::shown(&self.view, &visible, count);
        let mut at = cut(&shown, budget.recent, 0, count);
        if running > 0 && at == 0 && sizes(&shown, count) > budget.recent {
            at = visible.len();
        }
        let leaving: Vec<Entry> = visible[..at].iter().map(|entry| quote::as_typed(entry, typed)).collect();
        let mut view = self.view.clone();
        if let Some((first, last)) = leaving.first().zip(leaving.last()) {
            let known: Vec<&str> = old.digests.iter().map(|digest| digest.text.as_str()).collect();
            let known = (!known.is_empty()).then(|| known.join("\n"));
            let text = mechanical::digest(known.as_deref(), &leaving, budget.digests.max(20), count);
            view.compactions += 1;
            view.through = Some(last.id);
            view.digests = vec![limpid_core::Digest {
                level: limpid_core::DigestLevel::Merged,
                first: old.digests.first().map_or(first.id, |digest| digest.first),
                last: last.id,
                tokens: count(&text) as u32,
                compaction: view.compactions,
                text,
                trust: leaving
                    .iter()
                    .map(|entry| entry.message.trust)
                    .chain(old.digests.iter().map(|digest| digest.trust))
                    .fold(limpid_core::Trust::Owner, limpid_core::Trust::join),
            }];
            view.pin = pin(self.task, view.through, count);
        }
        let kept = &visible[at..];
        if let Some(shortened) = room::shorten_kept(&view, kept, budget, count) {
            view.shortened = Some(shortened);
        }
        self.take(view, "the window was rolled over")
    }

    /// Shortens everything that is shown, the running turn included.
    fn shorten_all(&mut self, _: usize, count: Count<'_>) -> bool {
        let shown: Vec<Entry> = self.task.entries.iter().filter(|entry| self.view.shows(entry.id)).cloned().collect();
        for percent in [70, 50, 35, 20, 10, 5] {
            let size = sizes(&shown::shown(&self.view, &shown, count), count);
            let limit = room::shorten_to(&self.view, &shown, size * percent / 100, self.task.budget.result, count);
            if let Some(shortened) = limit {
                self.take(WindowView { shortened: Some(shortened), ..self.view.clone() }, "everything was shortened");
            }
            if self.ledger.fits() {
                return true;
            }
        }
        false
    }

    /// The messages before the running turn.
    fn past(&self, running: usize) -> &'a [Entry] {
        let entries = &self.task.entries;
        &entries[..entries.len().saturating_sub(running)]
    }
}
