//! The one place where something reaches people: an answer's events by way of [`Border`], and messages that
//! nobody waits for by way of their conversation's worker, under its lease, between two turns, each exactly once.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use limpid_core::{ConversationId, Message, Role, Trust};
use limpid_store::{
    Audience, ConversationKind, Delivery, DeliveryId, DeliveryOrigin, Lease, Listed, NewConversation, NewDelivery,
    NewMessage, StoreError,
};

pub(crate) use crate::conversation::visible_events::Border;

use crate::agent::{Agent, Inner};
use crate::conversation::actor::{Command, Worker};
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::notifications::Notice;

/// The id of the one conversation that takes reports.
const HEARTBEAT: &str = "heartbeat";

/// The title of that conversation.
const TITLE: &str = "Heartbeat";

impl Agent {
    /// Delivers what waits to be delivered, and returns when what this process could deliver is, and is told on its bus.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn deliver_waiting(&self) -> Result<(), AgentError> {
        let mut conversations = self.inner.deliver_pending().await?;
        // What a worker has just put into its conversation waits no more, but may not be told yet.
        conversations.extend(self.inner.workers.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned());
        for conversation in conversations {
            self.settled(&conversation).await;
        }
        Ok(())
    }

    /// What was delivered and the owner has not seen, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn unread(&self) -> Result<Listed<Delivery>, AgentError> {
        Ok(self.inner.store.unread_deliveries().await?)
    }

    /// What is unread of the conversation that takes reports, oldest first, as it stands there; it is read from here on.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn read_reports(&self) -> Result<Vec<Delivery>, AgentError> {
        let mut unread = self.unread().await?.rows;
        unread.retain(|delivery| delivery.new.conversation.as_str() == HEARTBEAT);
        for delivery in &mut unread {
            for text in [&mut delivery.new.title, &mut delivery.new.text] {
                *text = self.inner.as_told(std::mem::take(text));
            }
        }
        self.dismiss_reports().await?;
        Ok(unread)
    }

    /// Takes what is unread of the conversation that takes reports for read, without showing it; it stays there. Says how
    /// many reports that were.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn dismiss_reports(&self) -> Result<u64, AgentError> {
        self.seen(&ConversationId::new(HEARTBEAT)).await
    }

    /// The owner has seen what a conversation holds. Says how many deliveries were unread.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn seen(&self, conversation: &ConversationId) -> Result<u64, AgentError> {
        Ok(self.inner.store.mark_read(conversation, self.now_ms()).await?)
    }

    /// The owner has seen one delivery, whole. False: it was read before.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn seen_delivery(&self, delivery: i64) -> Result<bool, AgentError> {
        Ok(self.inner.store.mark_delivery_read(DeliveryId(delivery), self.now_ms()).await?)
    }
}

impl Inner {
    /// A text as it is delivered: without known secrets and the word for "nothing to report".
    pub(crate) fn as_told(&self, text: String) -> String {
        self.context.as_told(text)
    }

    /// The conversation that takes reports, made when it is missing.
    pub(crate) async fn heartbeat_conversation(&self) -> Result<ConversationId, AgentError> {
        let id = ConversationId::new(HEARTBEAT);
        if self.store.conversation(&id).await?.is_some() {
            return Ok(id);
        }
        let new = NewConversation {
            id: id.clone(),
            kind: ConversationKind::Heartbeat,
            title: TITLE.to_owned(),
            profile: self.config.agent.profile.clone(),
            mode: None,
            model: None,
            audience: Audience::Owner,
            now_ms: self.now_ms(),
        };
        match self.store.create_conversation(new).await {
            // Another process was faster.
            Ok(_) | Err(StoreError::Exists { .. }) => Ok(id),
            Err(error) => Err(error.into()),
        }
    }

    /// Who reads what is reported.
    pub(crate) async fn audience_of_reports(&self) -> Result<Audience, AgentError> {
        let found = self.store.conversation(&ConversationId::new(HEARTBEAT)).await?;
        Ok(found.map_or(Audience::Owner, |found| found.audience))
    }

    /// Tells the owner something, once a key, in a conversation or where reports go.
    pub(crate) async fn notice(
        self: &Arc<Self>,
        conversation: Option<&ConversationId>,
        key: &str,
        title: &str,
        text: String,
    ) -> Result<bool, AgentError> {
        let conversation = match conversation {
            Some(conversation) => conversation.clone(),
            None => self.heartbeat_conversation().await?,
        };
        let fresh = self
            .store
            .enqueue(NewDelivery {
                key: key.to_owned(),
                conversation,
                origin: DeliveryOrigin::Notice,
                title: title.to_owned(),
                text,
                trust: Trust::Owner,
                now_ms: self.now_ms(),
            })
            .await?;
        self.deliver_pending().await?;
        Ok(fresh)
    }

    /// Wakes the workers of the conversations for which something waits to be delivered, and names these.
    pub(crate) async fn deliver_pending(self: &Arc<Self>) -> Result<BTreeSet<ConversationId>, AgentError> {
        let pending = self.store.pending_deliveries(None).await?.rows;
        let conversations: BTreeSet<ConversationId> =
            pending.into_iter().map(|delivery| delivery.new.conversation).collect();
        for conversation in &conversations {
            self.command(conversation, Command::Wake);
        }
        Ok(conversations)
    }
}

impl Worker {
    /// Puts what waits for this conversation into it; no turn is running.
    pub(crate) async fn deliver(&self, lease: &Lease) -> Result<(), AgentError> {
        for delivery in self.inner.store.pending_deliveries(Some(&self.conversation)).await?.rows {
            self.deliver_one(lease, delivery).await?;
        }
        Ok(())
    }

    async fn deliver_one(&self, lease: &Lease, delivery: Delivery) -> Result<(), AgentError> {
        let Inner { store, bus, notifiers, .. } = &*self.inner;
        let text = self.inner.as_told(delivery.new.text);
        let (body, said) = (text.clone(), text.clone());
        let repeats = delivery.new.origin == DeliveryOrigin::Message && self.was_answered(&text).await?;
        let messages = if text.trim().is_empty() || repeats {
            Vec::new()
        } else {
            as_turn(delivery.new.origin, text, delivery.new.trust)
        };
        let is_shown = !messages.is_empty();
        let title = self.inner.as_told(delivery.new.title);
        let notice = Notice { id: self.conversation.to_string(), title: title.clone(), body, link: None };
        let told = is_shown && !self.inner.is_client_open();
        let notice = notifiers.shortened(&self.conversation, notice).filter(|_| told);
        let pushers = notice.as_ref().map(|_| notifiers.pushers()).unwrap_or_default();
        let now_ms = self.inner.now_ms();
        if store.deliver(lease, delivery.id, messages, pushers, now_ms).await? && is_shown {
            if let Some(notice) = notice {
                notifiers.notify(&self.conversation, delivery.id, notice);
            }
            if self.inner.is_first_told(delivery.id) {
                let origin = delivery.new.origin.to_string();
                let change = EventKind::Delivered { origin, title, text: said, delivery: delivery.id.0 };
                bus.send(Some(&self.conversation), change);
            }
            self.inner.wake_clients();
        }
        Ok(())
    }

    /// Whether the newest answer of this conversation says the same, so that the owner has read it.
    async fn was_answered(&self, text: &str) -> Result<bool, AgentError> {
        let last = self.inner.store.last_message(&self.conversation).await?;
        let answer = last.filter(|row| row.message.role == Role::Assistant);
        Ok(answer.is_some_and(|row| self.inner.as_told(row.message.text.clone()).trim() == text.trim()))
    }
}

/// A delivery as a turn: providers want every answer to follow a question, so what it comes from stands in its place.
fn as_turn(origin: DeliveryOrigin, text: String, trust: Trust) -> Vec<NewMessage> {
    let asked = Message { trust: Trust::File, ..Message::new(Role::User, origin.marker()) };
    let answer = Message { trust, ..Message::new(Role::Assistant, text) };
    vec![NewMessage { typed: Some(String::new()), ..NewMessage::new(asked) }, NewMessage::new(answer)]
}
