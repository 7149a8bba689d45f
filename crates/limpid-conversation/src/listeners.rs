//! Those who wait for answers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use limpid_store::InboundId;
use tokio::sync::mpsc::UnboundedSender;

use crate::event::TurnEvent;

/// Where the events of one accepted message go.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    message: InboundId,
    events: UnboundedSender<TurnEvent>,
    /// Whether a person who may answer questions listens.
    can_answer: bool,
}

impl Listener {
    pub(crate) fn new(message: InboundId, events: UnboundedSender<TurnEvent>, can_answer: bool) -> Self {
        Self { message, events, can_answer }
    }

    /// The message whose answer it waits for.
    pub(crate) fn message(&self) -> InboundId {
        self.message
    }

    /// Whoever does not listen any more misses nothing that is not kept.
    pub(crate) fn send(&self, event: TurnEvent) {
        let _ = self.events.send(event);
    }
}

/// Those who wait for answers in one conversation: to the messages of the running turn, and to later ones. Its actor and
/// its turn share it.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    active: Vec<Listener>,
    later: Vec<Listener>,
    /// Messages whose answer was stopped before it began.
    stopped: Vec<InboundId>,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, listener: Option<Listener>) {
        self.lock().later.extend(listener);
    }

    /// These messages are answered by the running turn.
    pub(crate) fn activate(&self, taken: &[InboundId]) {
        let mut waiting = self.lock();
        let (active, later) = waiting.later.drain(..).partition(|listener| taken.contains(&listener.message));
        waiting.later = later;
        waiting.active.extend::<Vec<Listener>>(active);
    }

    pub(crate) fn send(&self, event: &TurnEvent) {
        self.lock().active.iter().for_each(|listener| listener.send(event.clone()));
    }

    /// Tells everybody who waits for an answer, be it of this turn or of a later one.
    pub(crate) fn notice_all(&self, text: &str) {
        let waiting = self.lock();
        let all = waiting.active.iter().chain(&waiting.later);
        all.for_each(|listener| listener.send(TurnEvent::Notice(text.to_owned())));
    }

    /// Whether somebody waits for the answer of a later turn.
    pub(crate) fn somebody_waits(&self) -> bool {
        !self.lock().later.is_empty()
    }

    /// Whether somebody listens to the running turn.
    pub(crate) fn is_heard(&self) -> bool {
        self.lock().active.iter().any(|listener| !listener.events.is_closed())
    }

    /// Whether somebody listens to it who can answer a question.
    pub(crate) fn can_answer(&self) -> bool {
        self.lock().active.iter().any(|listener| listener.can_answer && !listener.events.is_closed())
    }

    /// Waits until nobody listens any more who could answer a question.
    pub(crate) async fn nobody_answers(&self) {
        let able: Vec<_> =
            self.lock().active.iter().filter(|one| one.can_answer).map(|one| one.events.clone()).collect();
        join_all(able.iter().map(UnboundedSender::closed)).await;
    }

    /// The last event of the running turn.
    pub(crate) fn finish(&self, event: &TurnEvent) {
        let active = std::mem::take(&mut self.lock().active);
        active.iter().for_each(|listener| listener.send(event.clone()));
    }

    /// The last event for everybody.
    pub(crate) fn finish_all(&self, event: &TurnEvent) {
        let mut waiting = self.lock();
        let all: Vec<_> = waiting.active.drain(..).collect();
        let later: Vec<_> = waiting.later.drain(..).collect();
        drop(waiting);
        all.iter().chain(&later).for_each(|listener| listener.send(event.clone()));
    }

    /// Takes those out who wait for the answer of a later turn.
    pub(crate) fn take_later(&self) -> Vec<Listener> {
        std::mem::take(&mut self.lock().later)
    }

    /// The answer to a message is to be stopped when it begins.
    pub(crate) fn stop_later(&self, message: InboundId) {
        self.lock().stopped.push(message);
    }

    /// Whether one of these messages was stopped before its answer began; from then on it counts as done.
    pub(crate) fn take_stopped(&self, messages: &[InboundId]) -> bool {
        let stopped = &mut self.lock().stopped;
        let before = stopped.len();
        stopped.retain(|message| !messages.contains(message));
        stopped.len() < before
    }
}
