//! Puts messages that nobody waits for into their conversation: its actor does so, under its lease, between two turns, each
//! exactly once. An answer's events reach people by way of `visible_events.rs`.

use limpid_core::{ConversationId, Labelled, Message, Role, Trust};
use limpid_prompt::boundary::for_readers;
use limpid_services::deliveries::visible_text;
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_services::notifications::Matter;
use limpid_store::{Delivery, DeliveryOrigin, Lease, NewMessage};

use crate::deps::ConversationDeps;

/// Messages that are put into a conversation at a time. More of them let the owner's turn, which may wait, go first.
const AT_ONCE: usize = 8;

/// Puts what waits for a conversation into it, the oldest first, and says whether more wait; no turn is running.
pub(crate) async fn deliver_waiting(deps: &ConversationDeps, lease: &Lease) -> Result<bool, AgentError> {
    let mut waiting = deps.store().pending_deliveries(Some(&lease.conversation)).await?.rows.into_iter();
    for delivery in waiting.by_ref().take(AT_ONCE) {
        deliver_one(deps, lease, delivery).await?;
    }
    Ok(waiting.len() > 0)
}

async fn deliver_one(deps: &ConversationDeps, lease: &Lease, delivery: Delivery) -> Result<(), AgentError> {
    let conversation = &lease.conversation;
    let (store, notifications) = (deps.store(), &deps.notifications);
    let text = visible_text(deps.redactor(), delivery.new.text);
    let (body, said) = (text.clone(), text.clone());
    let repeats = delivery.new.origin == DeliveryOrigin::Message && was_answered(deps, conversation, &text).await?;
    let messages = if text.trim().is_empty() || repeats {
        Vec::new()
    } else {
        let boundary = delivery.new.trust.is_foreign().then(|| deps.host().tag());
        as_turn(delivery.new.origin, text, delivery.new.trust, boundary)
    };
    let is_shown = !messages.is_empty();
    let title = visible_text(deps.redactor(), delivery.new.title);
    let of_delivery = |text: String| Labelled::new(text, delivery.new.trust);
    let matter = Matter::of(&delivery.new.key, delivery.new.origin);
    let notice =
        is_shown.then(|| notifications.prepare(conversation, &matter, of_delivery(title.clone()), of_delivery(body)));
    let notice = notice.flatten();
    let pending_notifications = notice.as_ref().map(|_| notifications.pending_notifications()).unwrap_or_default();
    let now_ms = deps.host().now_ms();
    if store.deliver(lease, delivery.id, messages, pending_notifications, now_ms).await? && is_shown {
        if let Some(notice) = notice {
            notifications.send(conversation, delivery.id, notice);
        }
        let origin = delivery.new.origin.to_string();
        let change =
            EventKind::Delivered { origin, title, text: for_readers(&said).into_owned(), delivery: delivery.id.0 };
        notifications.announce(conversation, delivery.id, change);
    }
    Ok(())
}

/// Whether the newest answer of this conversation says the same, so that the owner has read it.
async fn was_answered(deps: &ConversationDeps, conversation: &ConversationId, text: &str) -> Result<bool, AgentError> {
    let last = deps.store().last_message(conversation).await?;
    let answer = last.filter(|row| row.message.role == Role::Assistant);
    Ok(answer.is_some_and(|row| visible_text(deps.redactor(), row.message.text.clone()).trim() == text.trim()))
}

/// A delivery as a turn: providers want every answer to follow a question, so what it comes from stands in its place. Foreign
/// text has a boundary, since no model of this conversation wrote it.
fn as_turn(origin: DeliveryOrigin, text: String, trust: Trust, boundary: Option<String>) -> Vec<NewMessage> {
    let asked = Message::new(Role::User, origin.marker(), Trust::File);
    let answer = Message { boundary, ..Message::new(Role::Assistant, text, trust) };
    vec![NewMessage { typed: Some(String::new()), ..NewMessage::new(asked) }, NewMessage::new(answer)]
}
