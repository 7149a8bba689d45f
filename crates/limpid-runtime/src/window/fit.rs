//! The gate before every request: what does not fit is made smaller, without a model, or refused with its sizes
//! (OLLM-100 to OLLM-102, PICO-050).

use std::sync::Arc;

use limpid_core::{Entry, FailureClass, Message, MessageId, UsableWindow};
use limpid_model::{ModelCard, ModelError};
use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::Inputs;
use limpid_store::{Lease, NewWindowEvent};
use limpid_turn::window::shown::shorten;
use limpid_turn::window::{Action, Fill, Fit, Ledger, fit};

use super::past::{Past, running};
use super::sizes::Sizes;
use crate::agent::Inner;
use crate::bus::Change;
use crate::drive::Driver;
use crate::error::AgentError;
use crate::gather::Gathered;
use crate::reach::place_found;

/// Times that a smaller request follows one that a provider found too large (PICO-050).
const OVERFLOWS: u32 = 2;

/// What runs while a request is fitted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Running<'a> {
    pub(crate) messages: &'a [Message],
    pub(crate) ids: &'a [MessageId],
}

impl Inner {
    /// Changes the view, if it must, so that the next request fits; then puts what it shows into the inputs.
    pub(crate) async fn fit(
        &self,
        lease: &Lease,
        sizes: &Sizes,
        past: &mut Past,
        inputs: &mut Inputs,
        now: Running<'_>,
        is_known: bool,
    ) -> Result<Ledger, AgentError> {
        let count = |text: &str| sizes.count(text);
        let ahead: Vec<Entry> =
            now.messages.iter().zip(now.ids).map(|(message, id)| Entry { id: *id, message: message.clone() }).collect();
        past.show(inputs, &count);
        let shown = running(&past.view, now.messages, now.ids, &count);
        inputs.in_flight = shown.iter().map(|entry| crate::convert::in_flight(&entry.message)).collect();
        let ledger = sizes.ledger(inputs)?;
        if ledger.fill(&sizes.settings) < Fill::Emergency {
            return Ok(ledger);
        }
        let task = sizes.task(past, &ahead)?;
        let recount = |view: &_| sizes.recount(view, &task.entries, ahead.len());
        let before = recount(&task.view);
        let fitted = fit(&task, ahead.len(), &recount, &count);
        match fitted {
            Fit::AsIs => {}
            Fit::With(view, actions) if self.config.window.is_on() => {
                let after = recount(&view);
                self.keep_automatic(lease, past, "before shortening").await?;
                let event = NewWindowEvent {
                    kind: "emergency".to_owned(),
                    newest: task.entries.last().map(|entry| entry.id),
                    before: before.conversation() as u64,
                    after: after.conversation() as u64,
                    steps: actions.iter().map(shown_action).collect(),
                    view: Some(view.clone()),
                    failure: None,
                };
                self.store.write_window(lease, event, self.now_ms()).await?;
                let steps = actions.iter().map(shown_action).collect();
                let change =
                    Change::CompactionFinished { before: before.conversation(), after: after.conversation(), steps };
                self.bus.send(Some(&lease.conversation), change);
                past.entries.retain(|entry| view.through.is_none_or(|through| entry.id > through));
                past.view = view;
                // The message that told of a changed goal may be gone; the beginning is made anew and shows it.
                inputs.changed.stored = None;
            }
            Fit::With(..) if before.fits() => {}
            Fit::With(..) => return Err(refused(sizes, inputs, &before, "compaction is off").into()),
            Fit::Refused(_) if !is_known => {}
            Fit::Refused(ledger) => {
                return Err(refused(sizes, inputs, &ledger, "nothing more can be shortened").into());
            }
        }
        past.show(inputs, &count);
        let ahead = running(&past.view, now.messages, now.ids, &count);
        inputs.in_flight = ahead.iter().map(|entry| crate::convert::in_flight(&entry.message)).collect();
        sizes.ledger(inputs)
    }
}

impl Inner {
    /// Makes the first request of a turn fit its window: the past is shortened, then the newest message. Returns what a
    /// person should know.
    pub(crate) async fn make_room(
        &self,
        lease: &Lease,
        gathered: &mut Gathered,
        card: &ModelCard,
        counter: Estimate,
    ) -> Result<Ledger, AgentError> {
        let is_known = card.usable_window.is_some();
        let Gathered { inputs, past, profile, path, notices, .. } = gathered;
        let sizes = Sizes::new(profile, path, inputs, past, counter.clone(), card);
        let fitted = self.fit(lease, &sizes, past, inputs, Running::default(), is_known).await;
        let Err(AgentError::Model(error)) = fitted else { return fitted };
        let Some(short) = newest_shortened(&sizes, inputs)? else { return Err(error.into()) };
        let whole = std::mem::replace(&mut inputs.user_message, short);
        let sizes = Sizes::new(profile, path, inputs, past, counter, card);
        let ledger = self.fit(lease, &sizes, past, inputs, Running::default(), is_known).await?;
        notices.push(format!(
            "your message has about {} tokens; the model reads its head and its tail, and the whole is kept",
            sizes.count(&whole)
        ));
        Ok(ledger)
    }
}

impl Driver<'_> {
    /// Makes the next request fit the window of the model that is asked first.
    pub(crate) async fn make_room(&mut self) -> Result<Ledger, AgentError> {
        let inner = Arc::clone(&self.worker.inner);
        if let Some(finder) = self.tools.finder() {
            place_found(&mut self.inputs.tools, &finder.found().await);
        }
        let Some(card) = self.models.first().map(|model| model.info().clone()) else {
            return Err(AgentError::Invalid("there is no model to ask".to_owned()));
        };
        let counter = match self.counters.get(&card.name()) {
            Some(counter) => counter.clone(),
            None => inner.counter(&card).await?,
        };
        let mut sizes = Sizes::new(&self.profile, &self.path, &self.inputs, &self.past, counter, &card);
        let is_known = card.usable_window.is_some() || self.overflow.usable.is_some();
        if let Some(believed) = self.overflow.usable {
            sizes.usable = UsableWindow(believed.min(sizes.usable.0));
        }
        let now = Running { messages: self.machine.in_flight(), ids: &self.in_flight };
        let ledger = inner.fit(self.lease, &sizes, &mut self.past, &mut self.inputs, now, is_known).await?;
        self.worker.room = Some(Room::new(&ledger, &sizes, &self.past));
        Ok(ledger)
    }

    /// Takes in that a provider found a request of this size too large. Says whether to try a smaller one (PICO-050).
    pub(crate) fn overflowed(&mut self, total: usize) -> bool {
        self.overflow.times += 1;
        self.overflow.usable = u32::try_from(total * 9 / 10).ok();
        self.overflow.times <= OVERFLOWS
    }
}

/// What a turn's last request tells of the room that is left, so that most turns need no recount after their answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Whether a compaction or a warning can be due.
    pub(crate) is_tight: bool,
    /// Turns that are shown.
    pub(crate) turns: usize,
}

impl Room {
    fn new(ledger: &Ledger, sizes: &Sizes, past: &Past) -> Self {
        let most = (ledger.conversation() + ledger.reserve()) * 100;
        let is_full = most >= ledger.available() * sizes.settings.warn as usize;
        let is_long = sizes.settings.messages.is_some_and(|most| past.entries.len() + 2 > most);
        Self { is_tight: is_full || is_long, turns: past.turns() }
    }
}

/// The newest message within half of what the window has for a conversation; nothing when it fits that.
fn newest_shortened(sizes: &Sizes, inputs: &Inputs) -> Result<Option<String>, AgentError> {
    let bare = Inputs { pin: None, digests: Vec::new(), user_message: String::new(), ..sizes.inputs.clone() };
    let room = sizes.ledger(&bare)?.available() / 2;
    if sizes.count(&inputs.user_message) <= room {
        return Ok(None);
    }
    let count = |text: &str| sizes.count(text);
    Ok(Some(shorten(&inputs.user_message, room, &count)))
}

fn shown_action(action: &Action) -> String {
    format!("{}: {} tokens freed", action.what, action.freed)
}

/// The refusal of a request, with every size (LES-013, LES-080).
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
