//! The actors of a process, how each is reached, and what it is told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_core::ConversationId;
use limpid_store::{Inbound, InboundId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, RwLock};

use crate::event::ApprovalAnswer;
use crate::listeners::{Listener, Listeners};
use crate::question_id::QuestionId;
use crate::settings::ChangeRequest;

/// What an actor is told.
pub(crate) enum Command {
    /// A message was accepted.
    Message { inbound: Inbound, listener: Option<Listener>, path: Option<String> },
    /// Something is to be changed.
    Change(ChangeRequest),
    /// The running turn is to stop. A message that no turn has taken is taken back.
    Cancel(Option<InboundId>),
    /// The owner answered a question about a call.
    Answer { question: QuestionId, answer: ApprovalAnswer },
    /// There may be something to do.
    Wake,
}

/// The actors of a process.
#[derive(Default)]
pub(crate) struct Actors {
    handles: Mutex<HashMap<ConversationId, Arc<ActorHandle>>>,
    /// Rings when an actor has ended.
    pub(crate) ended: Notify,
    /// Held while a conversation begins with a message that may be delivered again.
    pub(crate) beginning: tokio::sync::Mutex<()>,
}

/// How the actor of a conversation is reached.
#[derive(Default)]
pub(crate) struct ActorHandle {
    /// Held for reading while a message is accepted and its actor told, and for writing while the actor looks at what
    /// waits: so nobody answers a message before its listener is known.
    pub(crate) accepting: RwLock<()>,
    /// Those who wait for answers in the conversation.
    pub(crate) listeners: Arc<Listeners>,
    /// None while no actor runs.
    commands: Mutex<Option<UnboundedSender<Command>>>,
}

impl Actors {
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<ConversationId, Arc<ActorHandle>>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn handle(&self, conversation: &ConversationId) -> Arc<ActorHandle> {
        Arc::clone(self.lock().entry(conversation.clone()).or_default())
    }

    pub(crate) fn is_running(&self, conversation: &ConversationId) -> bool {
        self.lock()
            .get(conversation)
            .is_some_and(|handle| handle.lock().as_ref().is_some_and(|commands| !commands.is_closed()))
    }

    /// Tells an actor something when there is one, and says whether there is.
    pub(crate) fn tell(&self, conversation: &ConversationId, command: Command) -> bool {
        let handle = self.lock().get(conversation).cloned();
        let commands = handle.as_ref().and_then(|handle| handle.lock().clone());
        commands.is_some_and(|commands| commands.send(command).is_ok())
    }

    /// Ends an actor unless somebody has told it something. Says whether it has ended.
    pub(crate) fn end(
        &self,
        conversation: &ConversationId,
        handle: &Arc<ActorHandle>,
        commands: &UnboundedReceiver<Command>,
    ) -> bool {
        let mut running = handle.lock();
        if !commands.is_empty() {
            return false;
        }
        *running = None;
        drop(running);
        self.let_go(conversation, handle);
        self.ended.notify_waiters();
        true
    }

    /// Ends an actor whatever it was told; returns that.
    pub(crate) fn abandon(
        &self,
        conversation: &ConversationId,
        handle: &Arc<ActorHandle>,
        commands: &mut UnboundedReceiver<Command>,
    ) -> Vec<Command> {
        let mut running = handle.lock();
        let told = std::iter::from_fn(|| commands.try_recv().ok()).collect();
        *running = None;
        drop(running);
        self.let_go(conversation, handle);
        self.ended.notify_waiters();
        told
    }

    /// Forgets a handle that leads to no actor and that nobody else holds.
    pub(crate) fn let_go(&self, conversation: &ConversationId, handle: &Arc<ActorHandle>) {
        let mut handles = self.lock();
        // This one, and the map's.
        if Arc::strong_count(handle) == 2 && handle.lock().is_none() {
            handles.remove(conversation);
        }
    }
}

impl ActorHandle {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<UnboundedSender<Command>>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
