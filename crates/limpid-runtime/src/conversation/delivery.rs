//! The one place where something reaches people: an answer's events by way of [`Border`], and messages that
//! nobody waits for by way of their conversation's worker, under its lease, between two turns, each exactly once.

use std::sync::PoisonError;

use limpid_core::{Message, Role, Trust};
use limpid_store::{Delivery, DeliveryOrigin, Lease, NewMessage};

pub(crate) use crate::conversation::visible_events::Border;

use crate::agent::{Agent, Inner};
use crate::conversation::actor::Worker;
use crate::services::deliveries::visible_text;
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::notifications::Notice;

impl Agent {
    /// Delivers what waits to be delivered, and returns when what this process could deliver is, and is told on its bus.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn deliver_waiting(&self) -> Result<(), AgentError> {
        self.inner.deliver_waiting().await
    }
}

impl Inner {
    pub(crate) async fn deliver_waiting(&self) -> Result<(), AgentError> {
        let mut conversations = self.deliveries.wake_pending().await?;
        // What a worker has just put into its conversation waits no more, but may not be told yet.
        conversations.extend(self.workers.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned());
        for conversation in conversations {
            self.settled(&conversation).await;
        }
        Ok(())
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
        let Inner { store, notifications, .. } = &*self.inner;
        let text = visible_text(&self.inner.redactor, delivery.new.text);
        let (body, said) = (text.clone(), text.clone());
        let repeats = delivery.new.origin == DeliveryOrigin::Message && self.was_answered(&text).await?;
        let messages = if text.trim().is_empty() || repeats {
            Vec::new()
        } else {
            as_turn(delivery.new.origin, text, delivery.new.trust)
        };
        let is_shown = !messages.is_empty();
        let title = visible_text(&self.inner.redactor, delivery.new.title);
        let notice = Notice { id: self.conversation.to_string(), title: title.clone(), body, link: None };
        let notice = Some(notice).filter(|_| is_shown);
        let notice = notice.and_then(|notice| notifications.prepare(&self.conversation, notice));
        let pushers = notice.as_ref().map(|_| notifications.pushers()).unwrap_or_default();
        let now_ms = self.inner.host.now_ms();
        if store.deliver(lease, delivery.id, messages, pushers, now_ms).await? && is_shown {
            if let Some(notice) = notice {
                notifications.send(&self.conversation, delivery.id, notice);
            }
            let origin = delivery.new.origin.to_string();
            let change = EventKind::Delivered { origin, title, text: said, delivery: delivery.id.0 };
            notifications.announce(&self.conversation, delivery.id, change);
        }
        Ok(())
    }

    /// Whether the newest answer of this conversation says the same, so that the owner has read it.
    async fn was_answered(&self, text: &str) -> Result<bool, AgentError> {
        let last = self.inner.store.last_message(&self.conversation).await?;
        let answer = last.filter(|row| row.message.role == Role::Assistant);
        Ok(answer.is_some_and(|row| visible_text(&self.inner.redactor, row.message.text.clone()).trim() == text.trim()))
    }
}

/// A delivery as a turn: providers want every answer to follow a question, so what it comes from stands in its place.
fn as_turn(origin: DeliveryOrigin, text: String, trust: Trust) -> Vec<NewMessage> {
    let asked = Message { trust: Trust::File, ..Message::new(Role::User, origin.marker()) };
    let answer = Message { trust, ..Message::new(Role::Assistant, text) };
    vec![NewMessage { typed: Some(String::new()), ..NewMessage::new(asked) }, NewMessage::new(answer)]
}
