//! Those who wait for answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use limpid_core::form::AskOwner;
use limpid_core::{ConversationId, TurnId};
use limpid_store::InboundId;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use crate::actors::ActorHandle;
use crate::event::{FormQuestion, QuestionPart, TurnEvent};

/// Who can answer questions of the turn that answers a message.
#[derive(Clone)]
pub(crate) enum Answerer {
    /// Nobody, and what the owner is to know reaches no person either.
    Nobody,
    /// Nobody, but the owner reads what they are told.
    Reader,
    /// The person who listens.
    Person,
    /// Whoever listens to the chat that the agent of this conversation works for.
    Chat(Arc<ActorHandle>, ConversationId),
}

/// Where the events of one accepted message go.
#[derive(Clone)]
pub(crate) struct Listener {
    message: InboundId,
    events: UnboundedSender<TurnEvent>,
    answerer: Answerer,
}

impl Listener {
    pub(crate) fn new(message: InboundId, events: UnboundedSender<TurnEvent>, answerer: Answerer) -> Self {
        Self { message, events, answerer }
    }

    /// The message whose answer it waits for.
    pub(crate) fn message(&self) -> InboundId {
        self.message
    }

    /// Whoever does not listen any more misses nothing that is not kept.
    pub(crate) fn send(&self, event: TurnEvent) {
        if let (TurnEvent::ApprovalRequested { parts, .. }, Answerer::Chat(chat, own)) = (&event, &self.answerer) {
            let asked = |part: &QuestionPart| QuestionPart { id: part.id.asked_by(own), ..part.clone() };
            let parts = parts.iter().map(asked).collect();
            chat.listeners.send(&TurnEvent::ApprovalRequested { parts, can_clean: false });
        }
        let _ = self.events.send(event);
    }

    /// Puts a form where somebody can answer it.
    fn ask(&self, question: &FormQuestion) {
        match &self.answerer {
            Answerer::Nobody | Answerer::Reader => {}
            Answerer::Person => drop(self.events.send(TurnEvent::FormAsked(question.clone()))),
            Answerer::Chat(chat, _) => chat.listeners.put(question),
        }
    }

    fn can_answer(&self) -> bool {
        !self.events.is_closed()
            && match &self.answerer {
                Answerer::Nobody | Answerer::Reader => false,
                Answerer::Person => true,
                Answerer::Chat(chat, _) => chat.listeners.can_answer(),
            }
    }

    /// Waits until nobody is there who could answer.
    fn nobody_answers(&self) -> BoxFuture<'static, ()> {
        let Self { events, answerer, .. } = self.clone();
        async move {
            match answerer {
                Answerer::Nobody | Answerer::Reader => {}
                Answerer::Person => events.closed().await,
                Answerer::Chat(chat, _) => chat.listeners.nobody_answers().await,
            }
        }
        .boxed()
    }
}

/// Those who wait for answers in one conversation: to the messages of the running turn, and to later ones. Its actor and
/// its turn share it.
#[derive(Default)]
pub(crate) struct Listeners {
    waiting: Mutex<Waiting>,
    /// Rings when a turn is over.
    finished: Notify,
}

#[derive(Default)]
struct Waiting {
    active: Vec<Listener>,
    later: Vec<Listener>,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Whether the owner listens to it and reads what they are told: what is said once is said then. Of an agent's turn they hear
    /// in its chat alone.
    pub(crate) fn owner_reads(&self) -> bool {
        let reads = |one: &Listener| matches!(one.answerer, Answerer::Reader | Answerer::Person);
        self.lock().active.iter().any(|one| reads(one) && !one.events.is_closed())
    }

    /// Whether somebody listens to it who can answer a question.
    pub(crate) fn can_answer(&self) -> bool {
        self.lock().active.iter().any(Listener::can_answer)
    }

    /// Puts a form to everybody who can answer it.
    fn put(&self, question: &FormQuestion) {
        self.lock().active.iter().for_each(|listener| listener.ask(question));
    }

    /// Waits until nobody listens any more who could answer a question.
    pub(crate) async fn nobody_answers(&self) {
        // Listened to before the look, so that an end between the two is not missed.
        let finished = self.finished.notified();
        tokio::pin!(finished);
        finished.as_mut().enable();
        let able: Vec<_> =
            self.lock().active.iter().filter(|one| one.can_answer()).map(Listener::nobody_answers).collect();
        tokio::select! {
            _ = join_all(able) => {}
            () = finished => {}
        }
    }

    /// The last event of the running turn.
    pub(crate) fn finish(&self, event: &TurnEvent) {
        let active = std::mem::take(&mut self.lock().active);
        active.iter().for_each(|listener| listener.send(event.clone()));
        self.finished.notify_waiters();
    }

    /// The last event for whoever waits for the answer to a message that no turn has taken.
    pub(crate) fn finish_later(&self, message: InboundId, event: &TurnEvent) {
        let mut waiting = self.lock();
        let (over, later) = waiting.later.drain(..).partition(|listener| listener.message == message);
        waiting.later = later;
        drop(waiting);
        let over: Vec<Listener> = over;
        over.iter().for_each(|listener| listener.send(event.clone()));
    }

    /// The messages whose answers are waited for and that no turn has taken.
    pub(crate) fn later(&self) -> Vec<InboundId> {
        self.lock().later.iter().map(Listener::message).collect()
    }

    /// The last event for everybody.
    pub(crate) fn finish_all(&self, event: &TurnEvent) {
        let mut waiting = self.lock();
        let all: Vec<_> = waiting.active.drain(..).collect();
        let later: Vec<_> = waiting.later.drain(..).collect();
        drop(waiting);
        all.iter().chain(&later).for_each(|listener| listener.send(event.clone()));
        self.finished.notify_waiters();
    }

    /// Takes those out who wait for the answer of a later turn.
    pub(crate) fn take_later(&self) -> Vec<Listener> {
        std::mem::take(&mut self.lock().later)
    }
}

/// The way from a turn to whoever listens to it. Where nobody can answer, and where whoever could goes away, the answer is no.
pub(crate) fn ask_owner(turn: TurnId, listeners: Arc<Listeners>) -> AskOwner {
    AskOwner::new(turn, move |form| {
        let (question, wait) = FormQuestion::new(form);
        listeners.put(&question);
        drop(question);
        wait.answer().boxed()
    })
}
