//! Talking to the agent: a message goes in, events come out.

mod changes;
mod choose;
mod put_away;
mod request;
mod turn_handle;

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use limpid_config::Redactor;
use limpid_core::attached::{self, AttachedFile};
use limpid_core::{ConversationId, Labelled, Trust};
use limpid_services::error::AgentError;
use limpid_store::{Audience, Conversation, InboundId, NewInbound, NewRaisedLabel, RaisingAct};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::actor::Actor;
use crate::actors::{ActorHandle, Actors, Command};
use crate::deps::ConversationDeps;
use crate::event::TurnEvent;
use crate::listeners::{Answerer, Listener};
use crate::settings::ChangeRequest;
use crate::visible_events::VisibleEvents;

pub use request::ChatRequest;
pub use turn_handle::TurnHandle;

/// The conversations that this process works on, an actor for each.
#[derive(Clone)]
pub struct Conversations {
    pub(super) deps: Arc<ConversationDeps>,
    actors: Arc<Actors>,
}

/// Conversations that may be gone.
#[derive(Clone)]
pub struct WeakConversations {
    deps: Weak<ConversationDeps>,
    actors: Weak<Actors>,
}

impl WeakConversations {
    /// The conversations; none when nobody holds them any more.
    pub fn upgrade(&self) -> Option<Conversations> {
        Some(Conversations { deps: self.deps.upgrade()?, actors: self.actors.upgrade()? })
    }
}

/// What is done with a message that a turn has taken already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Whoever sent it is told so.
    IsTold,
    /// Whoever sent it waits for the end of that turn.
    IsWaitedFor,
}

impl Conversations {
    /// Conversations that nobody works on yet.
    pub fn new(deps: ConversationDeps) -> Self {
        Self { deps: Arc::new(deps), actors: Arc::default() }
    }

    /// The same, for somebody who may outlive them.
    pub fn downgrade(&self) -> WeakConversations {
        WeakConversations { deps: Arc::downgrade(&self.deps), actors: Arc::downgrade(&self.actors) }
    }

    /// What they work with.
    pub fn deps(&self) -> &ConversationDeps {
        &self.deps
    }

    /// Sends a message. It is kept before anything runs; when a turn of its conversation is running, it
    /// steers that turn at its next tool border, else the next turn answers it.
    ///
    /// # Errors
    /// When conversation, profile, mode or model do not exist, or the store cannot keep the message.
    pub async fn chat(&self, mut request: ChatRequest) -> Result<TurnHandle, AgentError> {
        let (text, handed_in) = (std::mem::take(&mut request.text), self.handed_in(&mut request)?);
        let said = Labelled::new(text, Trust::Owner);
        // What was handed in and made the owner's own stands in the text too.
        let typed = request.made_mine.is_none() && !said.value().trim().is_empty();
        let mut texts: Vec<Labelled<String>> =
            handed_in.into_iter().chain([said]).filter(|text| !text.value().trim().is_empty()).collect();
        let Some(newest) = texts.pop() else {
            return Err(AgentError::Invalid("there is nothing to say; give a message".to_owned()));
        };
        // To a stranger nothing is confirmed.
        let redactor = if request.by_stranger { Redactor::default() } else { self.deps.redactor().clone() };
        let clean = |text: Labelled<String>| {
            let (text, trust) = text.into_parts();
            Labelled::new(redactor.clean(text), trust)
        };
        let (newest, before) = (clean(newest), texts.pop().map(clean));
        // Until the message is kept: one that is sent twice at the same time begins one conversation.
        let _beginning = match request.begins_with_key() {
            true => Some(self.actors.beginning.lock().await),
            false => None,
        };
        choose::find_begun(&self.deps, &mut request, &newest, before.as_ref()).await?;
        let own = self.conversation_for(&request).await?;
        let goes_to_strangers = own.audience == Audience::Strangers;
        if goes_to_strangers != request.by_stranger {
            let why = match goes_to_strangers {
                true => {
                    "answers in this conversation go to whoever asks a program of yours, so you cannot say anything in it; begin your own"
                }
                false => "this conversation is not one of a program at which nobody sits",
            };
            return Err(AgentError::Invalid(why.to_owned()));
        }
        if request.by_stranger {
            // Nothing is kept that will not be answered.
            self.deps.spending.check_background_and_tell(request.path.as_deref(), true).await?;
        }
        let conversation = own.id;
        if let Some(shown) = request.made_mine.take() {
            let (shown, now_ms) = (self.deps.redactor().clean(shown), self.deps.host().now_ms());
            let (subject, source) = (conversation.as_str().to_owned(), "chat".to_owned());
            let raised = NewRaisedLabel { act: RaisingAct::Mine, subject, shown, source, now_ms };
            self.deps.store().raise_label(raised).await?;
        }
        let inbound = |key: Option<String>, text: Labelled<String>, typed: bool| {
            let (text, trust) = text.into_parts();
            let now_ms = self.deps.host().now_ms();
            let base = self.deps.config().files.base_text().into();
            NewInbound { conversation: conversation.clone(), key, text, trust, typed, base, now_ms }
        };
        // What is handed in is delivered again with its message alone, and has no key of its own.
        let before = before.map(|text| inbound(None, text, false));
        let new = inbound(request.key, newest, typed);
        let answerer = match (request.can_answer, request.by_stranger || request.hides_notices) {
            (true, _) => Answerer::Person,
            (false, true) => Answerer::Nobody,
            (false, false) => Answerer::Reader,
        };
        let (message, events) = self.accept(before, new, request.path, answerer, Taken::IsTold).await?;
        Ok(TurnHandle { conversations: self.clone(), conversation, message, events: VisibleEvents::new(events) })
    }

    /// What is handed in with a message. Secrets are gone before a file is measured, so that it is found by its length again.
    fn handed_in(&self, request: &mut ChatRequest) -> Result<Option<Labelled<String>>, AgentError> {
        let handed_in = request.handed_in.take();
        let files = std::mem::take(&mut request.files);
        if files.is_empty() {
            return Ok(handed_in);
        }
        if let Some(why) = attached::unfit(&files) {
            return Err(AgentError::Invalid(why));
        }
        let clean = |text: String| self.deps.redactor().clean(text);
        let files = files.into_iter().map(|file| AttachedFile { name: clean(file.name), text: clean(file.text) });
        let (words, trust) = handed_in.map_or((String::new(), Trust::Outside), Labelled::into_parts);
        let text = attached::framed(&files.collect::<Vec<_>>(), &clean(words));
        Ok(Some(Labelled::outside(text).join(trust)))
    }

    /// The conversation of a request, made or changed as it says. Everything is checked before anything is written.
    ///
    /// Another mode is the actor's to switch to, before the next turn.
    ///
    /// # Errors
    /// When the conversation, the profile, the mode or the model does not exist, or the store cannot be written.
    pub async fn conversation_for(&self, request: &ChatRequest) -> Result<Conversation, AgentError> {
        let (conversation, change) = choose::choose(&self.deps, request).await?;
        if let Some(change) = change {
            self.command(&conversation.id, Command::Change(ChangeRequest::silent(change)));
        }
        Ok(conversation)
    }

    /// Stores a message and what goes before it, then tells its conversation. The events are those of the turn that answers
    /// it.
    pub(crate) async fn accept(
        &self,
        before: Option<NewInbound>,
        new: NewInbound,
        path: Option<String>,
        answerer: Answerer,
        taken: Taken,
    ) -> Result<(InboundId, UnboundedReceiver<TurnEvent>), AgentError> {
        let conversation = new.conversation.clone();
        let handle = self.actors.handle(&conversation);
        let accepting = handle.accepting.read().await;
        // The actor asks for its lease while the message is stored, best in the same commit; it looks for messages after that.
        self.send(&conversation, &handle, Command::Wake);
        tokio::task::yield_now().await;
        let (handed_in, accepted) = match before {
            Some(before) => self.deps.store().accept_with(before, new).await?,
            None => (None, self.deps.store().accept(new).await?),
        };
        if let Some(handed_in) = handed_in.filter(|handed_in| handed_in.fresh) {
            let command = Command::Message { inbound: handed_in.inbound, listener: None, path: None };
            self.send(&conversation, &handle, command);
        }
        let (sender, events) = unbounded_channel();
        let message = accepted.inbound.id;
        let listener = Listener::new(message, sender, answerer);
        listener.send(TurnEvent::Accepted { conversation: conversation.clone() });
        if taken == Taken::IsTold && !accepted.fresh && accepted.inbound.turn.is_some() {
            listener.send(TurnEvent::Interrupted(
                "this message was delivered before; its answer is in the conversation".into(),
            ));
        } else {
            let command = Command::Message { inbound: accepted.inbound, listener: Some(listener), path };
            self.send(&conversation, &handle, command);
        }
        drop(accepting);
        self.actors.let_go(&conversation, &handle);
        Ok((message, events))
    }

    /// Carries on what a crash interrupted: unfinished turns, deliveries, and messages that nobody answered. What another
    /// process works on is left to it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn resume(&self) -> Result<(), AgentError> {
        let store = self.deps.store();
        let turns = store.unfinished_turns().await?.rows;
        let mut open: BTreeSet<ConversationId> = turns.into_iter().map(|turn| turn.conversation).collect();
        open.extend(store.conversations_that_wait().await?);
        open.extend(store.conversations_with_deliveries().await?);
        open.extend(self.deps.agents.recover(None).await?);
        open.iter().for_each(|conversation| self.wake(conversation));
        Ok(())
    }

    /// Who answers questions of a turn of this conversation that works for a chat.
    pub(crate) fn answerer_in(&self, chat: &ConversationId, own: &ConversationId) -> Answerer {
        Answerer::Chat(self.actors.handle(chat), own.clone())
    }

    /// Has the actor of a conversation look for something to do; it is started when there is none.
    pub fn wake(&self, conversation: &ConversationId) {
        self.command(conversation, Command::Wake);
    }

    /// Whether this process works on a conversation.
    pub fn is_at_work(&self, conversation: &ConversationId) -> bool {
        self.actors.is_running(conversation)
    }

    /// Stops the running turn of a conversation, or what models write about it. Says whether anything is under way.
    pub fn cancel(&self, conversation: &ConversationId) -> bool {
        self.actors.tell(conversation, Command::Cancel(None))
    }

    /// Waits until this process has nothing left to do in a conversation: turns, compactions after them, and
    /// notices of what was delivered.
    pub async fn wait_idle(&self, conversation: &ConversationId) {
        loop {
            // Listened to before the look, so that an actor that ends between the two is not missed.
            let ended = self.actors.ended.notified();
            if !self.actors.is_running(conversation) {
                break;
            }
            ended.await;
        }
        self.deps.notifications.sent().await;
    }

    /// Delivers what waits to be delivered, and returns when what this process could deliver is, and is told on its bus.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn deliver_waiting(&self) -> Result<(), AgentError> {
        let mut conversations = self.deps.deliveries.wake_pending().await?;
        // What an actor has just put into its conversation waits no more, but may not be told yet.
        conversations.extend(self.running());
        for conversation in conversations {
            self.wait_idle(&conversation).await;
        }
        Ok(())
    }

    /// The conversations that this process works on.
    fn running(&self) -> Vec<ConversationId> {
        self.actors.lock().iter().filter(|(_, handle)| handle.lock().is_some()).map(|(id, _)| id.clone()).collect()
    }

    /// Tells a conversation's actor something; it is started when there is none.
    pub(crate) fn command(&self, conversation: &ConversationId, command: Command) {
        let handle = self.actors.handle(conversation);
        self.send(conversation, &handle, command);
    }

    fn send(&self, conversation: &ConversationId, handle: &Arc<ActorHandle>, command: Command) {
        let mut running = handle.lock();
        let command = match running.as_ref() {
            Some(commands) => match commands.send(command) {
                Ok(()) => return,
                Err(refused) => refused.0,
            },
            None => command,
        };
        self.start(conversation, handle, &mut running, command);
    }

    fn start(
        &self,
        conversation: &ConversationId,
        handle: &Arc<ActorHandle>,
        running: &mut Option<UnboundedSender<Command>>,
        command: Command,
    ) {
        let (sender, commands) = unbounded_channel();
        // The receiver lives right here.
        let _ = sender.send(command);
        *running = Some(sender);
        let (deps, actors, handle) = (Arc::clone(&self.deps), Arc::clone(&self.actors), Arc::clone(handle));
        tokio::spawn(Actor::new(deps, actors, handle, conversation.clone(), commands).run());
    }
}
