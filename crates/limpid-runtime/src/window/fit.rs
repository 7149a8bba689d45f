//! The gate before every request: what does not fit is made smaller, without a model, or refused with its sizes.

use std::sync::Arc;

use limpid_core::{Entry, FailureClass, Message, MessageId, UsableWindow, WindowView};
use limpid_model::{ModelCard, ModelError};
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::inputs::Inputs;
use limpid_store::{Lease, NewWindowEvent};
use limpid_turn::window::{Action, Deed, Fill, Fit, Ledger, Note, Task, fit, note_of};

use super::new_texts::NewTexts;
use super::past::{Past, running};
use super::room::Room;
use super::sizes::Sizes;
use super::summary::Asking;
use crate::agent::Inner;
use crate::bus::Change;
use crate::context::Gathered;
use crate::drive::Driver;
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::models::Models;
use crate::reach::place_found;

/// Times that a smaller request follows one that a provider found too large.
const OVERFLOWS: u32 = 2;

/// What runs while a request is fitted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Running<'a> {
    pub(crate) messages: &'a [Message],
    pub(crate) ids: &'a [MessageId],
}

/// What may be done so that a request fits.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    /// What is shown less is written under it.
    pub(crate) lease: &'a Lease,
    /// Who is asked for the note of a rollover.
    pub(crate) models: &'a Models,
}

/// A request that is to fit.
#[derive(Clone, Copy)]
pub(crate) struct Fitting<'a> {
    /// Who works on the conversation; none, where it is only looked at.
    pub(crate) work: Option<Work<'a>>,
    pub(crate) sizes: &'a Sizes,
    pub(crate) now: Running<'a>,
    /// Whether the model's window is known; what does not fit a window that is guessed is sent all the same.
    pub(crate) is_known: bool,
}

impl Inner {
    /// Changes the view, if it must, so that the next request fits; then puts what it shows into the inputs.
    async fn fit(&self, fitting: Fitting<'_>, past: &mut Past, inputs: &mut Inputs) -> Result<Ledger, AgentError> {
        let Fitting { sizes, now, is_known, .. } = fitting;
        show(now, past, inputs);
        let whole = sizes.ledger(inputs)?;
        if whole.fill(&sizes.settings) < Fill::Emergency {
            return Ok(whole);
        }
        // Another view begins another stretch. The message that told of a changed goal may be gone, so the beginning is
        // made anew and shows it; it is counted as such.
        let mut sizes = sizes.clone();
        sizes.inputs.changed.stored = None;
        let sizes = &sizes;
        let fitting = Fitting { sizes, ..fitting };
        let added = now.messages.iter().zip(now.ids).map(|(message, id)| Entry { id: *id, message: message.clone() });
        let ahead: Vec<Entry> = past.stored_unanswered().cloned().chain(added).collect();
        let task = sizes.task(past, &ahead)?;
        let before = sizes.recount(&task.view, &task.entries, ahead.len());
        match self.fitted(fitting, &task, ahead.len(), past).await? {
            Fit::AsIs => {}
            Fit::With(view, actions) if self.config.window.is_on() => {
                let after = sizes.recount(&view, &task.entries, ahead.len());
                let change = Shrunk { before, after, actions, view: view.clone() };
                if let Some(work) = fitting.work {
                    self.shrink(work.lease, &task, past, change).await?;
                }
                past.entries.retain(|entry| view.through.is_none_or(|through| entry.id > through));
                past.view = view;
                inputs.changed.stored = None;
            }
            Fit::With(..) | Fit::Refused(_) if whole.fits() => {}
            Fit::With(..) => return Err(refused(sizes, inputs, &whole, "compaction is off").into()),
            Fit::Refused(_) if !is_known => {}
            Fit::Refused(ledger) => {
                return Err(refused(sizes, inputs, &ledger, "nothing more can be shortened").into());
            }
        }
        show(now, past, inputs);
        sizes.ledger(inputs)
    }

    /// What the gate finds. Where it rolls the window over, a model is asked for the note, unless one was asked for a
    /// summary since the newest answer: nobody waits longer than for one compaction.
    async fn fitted(&self, fitting: Fitting<'_>, task: &Task, running: usize, past: &Past) -> Result<Fit, AgentError> {
        let Fitting { work, sizes, .. } = fitting;
        let count = |text: &str| sizes.count(text);
        let recount = |view: &_| sizes.recount(view, &task.entries, running);
        let fitted = fit(task, running, Note::Mechanical, &recount, &count);
        let rolls = matches!(&fitted, Fit::With(_, actions) if is_rolled(actions));
        let Some(Work { lease, models }) = work.filter(|_| rolls && self.config.window.is_on()) else {
            return Ok(fitted);
        };
        if self.was_tried(lease, past).await? {
            return Ok(fitted);
        }
        let Some((ask, source)) = note_of(task, running, &count) else { return Ok(fitted) };
        let asking = Asking { models, conversation: &lease.conversation, sizes };
        let Some(note) = self.note(&asking, &ask, source).await else { return Ok(fitted) };
        let written = fit(task, running, Note::Written(&note), &recount, &count);
        Ok(if matches!(written, Fit::With(..)) { written } else { fitted })
    }

    /// Keeps the moment, then shows less from here on.
    async fn shrink(&self, lease: &Lease, task: &Task, past: &Past, change: Shrunk) -> Result<(), AgentError> {
        let Shrunk { before, after, actions, view } = change;
        let (before, after) = (before.conversation(), after.conversation());
        let steps: Vec<String> = actions.iter().map(shown_action).collect();
        self.keep_automatic(lease, past, "before shortening").await?;
        let event = NewWindowEvent {
            kind: if is_rolled(&actions) { "rollover" } else { "emergency" }.to_owned(),
            newest: task.entries.last().map(|entry| entry.id),
            before: before as u64,
            after: after as u64,
            steps: steps.clone(),
            view: Some(view),
            failure: None,
        };
        self.store.write_window(lease, event, self.now_ms()).await?;
        self.bus.send(Some(&lease.conversation), Change::CompactionFinished { before, after, steps });
        Ok(())
    }
}

/// A view that shows less, and what it took.
struct Shrunk {
    before: Ledger,
    after: Ledger,
    actions: Vec<Action>,
    view: WindowView,
}

/// Puts what a view shows of past and running turn into the inputs of a prompt.
fn show(now: Running<'_>, past: &Past, inputs: &mut Inputs) {
    past.show(inputs);
    let shown = running(&past.view, now.messages, now.ids);
    inputs.in_flight = shown.iter().map(|entry| crate::convert::in_flight(&entry.message)).collect();
}

impl Inner {
    /// Makes the first request of a turn fit its window: the past is shortened, then the newest message. Returns what a
    /// person should know.
    pub(crate) async fn make_room(
        &self,
        lease: &Lease,
        gathered: &mut Gathered,
        models: &Models,
        counter: WindowEstimate,
    ) -> Result<Ledger, AgentError> {
        let card = models[0].info();
        let is_known = card.usable_window.is_some();
        let Gathered { inputs, past, profile, path, notices, .. } = gathered;
        let sizes = Sizes::new(profile, path, inputs, past, counter, card);
        let work = Some(Work { lease, models });
        let fitting = Fitting { work, sizes: &sizes, now: Running::default(), is_known };
        let (ledger, shortened) = self.fit_with_new(fitting, past, inputs).await?;
        notices.extend(shortened);
        Ok(ledger)
    }

    /// Shows what the next request would be, without writing anything and without asking a model: where a turn would ask
    /// for a note, the mechanical one stands. What no turn could send is shown whole.
    pub(crate) async fn fit_for_view(&self, gathered: &mut Gathered, card: &ModelCard) -> Result<(), AgentError> {
        let counter = self.counter(card).await?;
        let Gathered { inputs, past, profile, path, .. } = gathered;
        let whole = (past.clone(), inputs.clone());
        let sizes = Sizes::new(profile, path, inputs, past, counter, card);
        let is_known = card.usable_window.is_some();
        let fitting = Fitting { work: None, sizes: &sizes, now: Running::default(), is_known };
        let fitted = self.fit_with_new(fitting, past, inputs).await;
        if matches!(fitted, Err(AgentError::Model(_))) {
            (*past, *inputs) = whole;
            past.show(inputs);
            return Ok(());
        }
        fitted.map(|_| ())
    }

    /// Makes a request fit by the calibrated estimate, or else without what was learned: that may shorten a request and
    /// refuses none, since only a request that is sent corrects it.
    async fn fit_with_new(
        &self,
        fitting: Fitting<'_>,
        past: &mut Past,
        inputs: &mut Inputs,
    ) -> Result<(Ledger, Vec<String>), AgentError> {
        let whole = (past.unanswered.clone(), inputs.user_message.clone());
        let fitted = self.fit_by_estimate(fitting, past, inputs).await;
        if !matches!(fitted, Err(AgentError::Model(_))) || !fitting.sizes.counter.is_calibrated() {
            return fitted;
        }
        (past.unanswered, inputs.user_message) = whole;
        let mut sizes = fitting.sizes.clone();
        sizes.counter = WindowEstimate::default();
        self.fit_by_estimate(Fitting { sizes: &sizes, ..fitting }, past, inputs).await
    }

    /// Makes a request fit. Where changing the view is not enough, the messages that it answers are shown as head and
    /// tail, the owner's newest last; the second answer says so.
    async fn fit_by_estimate(
        &self,
        fitting: Fitting<'_>,
        past: &mut Past,
        inputs: &mut Inputs,
    ) -> Result<(Ledger, Vec<String>), AgentError> {
        let mut fitted = self.fit(fitting, past, inputs).await;
        let new = NewTexts::of(past, inputs);
        let mut sizes = fitting.sizes.clone();
        for (which, share) in new.steps() {
            let Err(AgentError::Model(_)) = &fitted else { break };
            if !new.shorten(which, share, &sizes, past, inputs)? {
                continue;
            }
            sizes.take_new(past, inputs);
            fitted = self.fit(Fitting { sizes: &sizes, ..fitting }, past, inputs).await;
        }
        Ok((fitted?, new.notices(past, inputs, &sizes)))
    }
}

impl Driver<'_> {
    /// Makes the next request fit the window of the model that is asked first.
    pub(crate) async fn make_room(&mut self) -> Result<Ledger, AgentError> {
        let inner = Arc::clone(&self.worker.inner);
        if let Some(finder) = self.tools.finder() {
            place_found(&mut self.inputs.tools, &finder.found().await);
        }
        let Some(model) = self.models.first().map(Arc::clone) else {
            return Err(AgentError::Invalid("there is no model to ask".to_owned()));
        };
        let card = model.info();
        let counter = match self.counters.get(&card.name()) {
            Some(counter) => counter.clone(),
            None => inner.counter(card).await?,
        };
        let mut sizes = Sizes::new(&self.profile, &self.path, &self.inputs, &self.past, counter, card);
        let is_known = card.usable_window.is_some() || self.overflow.usable.is_some();
        if let Some(believed) = self.overflow.usable {
            sizes.usable = UsableWindow(believed.min(sizes.usable.0));
        }
        let now = Running { messages: self.machine.in_flight(), ids: &self.in_flight };
        let work = Some(Work { lease: self.lease, models: &self.models });
        let fitting = Fitting { work, sizes: &sizes, now, is_known };
        let (ledger, notices) = inner.fit_with_new(fitting, &mut self.past, &mut self.inputs).await?;
        for notice in notices {
            self.worker.listeners.send(&AgentEvent::Notice(notice));
        }
        self.worker.room = Some(Room::new(&ledger, &self.profile, &self.past, now.messages.len()));
        Ok(ledger)
    }

    /// Takes in that a provider found a request of this size too large. Says whether to try a smaller one.
    pub(crate) fn overflowed(&mut self, total: usize) -> bool {
        self.overflow.times += 1;
        self.overflow.usable = u32::try_from(total * 9 / 10).ok();
        self.overflow.times <= OVERFLOWS
    }
}

fn is_rolled(actions: &[Action]) -> bool {
    actions.iter().any(|action| action.what == Deed::RolledOver)
}

fn shown_action(action: &Action) -> String {
    format!("{}: {} tokens freed", action.what.as_str(), action.freed)
}

/// The refusal of a request, with every size.
fn refused(sizes: &Sizes, inputs: &Inputs, ledger: &Ledger, why: &str) -> ModelError {
    let list = |sizes: &[(String, usize)]| {
        sizes.iter().map(|(name, tokens)| format!("{name} {tokens}")).collect::<Vec<_>>().join(", ")
    };
    let parts = ledger.parts().map(|(name, tokens)| (name.to_owned(), tokens));
    let UsableWindow(usable) = ledger.usable;
    let message = format!(
        "the request has about {} tokens and an answer needs {}, but the model can use {usable}, and {why}: {}; the \
         largest sections are {}; begin a new conversation, compact this one (`/compact`), shorten one of these, or \
         choose a model with a larger window",
        ledger.total(),
        ledger.reserve(),
        list(&parts),
        list(&sizes.largest(inputs)),
    );
    ModelError::new(FailureClass::Overflow, message)
}
