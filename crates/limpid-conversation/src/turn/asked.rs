//! The accepted messages that a turn answers.

use limpid_context::UNSTORED;
use limpid_core::{Entry, FailureClass, Message, Role};
use limpid_services::error::AgentError;
use limpid_services::host::Host;
use limpid_store::{Inbound, InboundId, NewMessage};

/// They are made once, so that the boundary around a stranger's words is the same in the request and in the store.
pub(crate) struct Asked {
    earlier: Vec<(InboundId, Message)>,
    newest: (InboundId, Message),
}

impl Asked {
    /// The messages that wait, oldest first; none when none does.
    pub(crate) fn of(host: &Host, waiting: &[Inbound]) -> Option<Self> {
        let message = |inbound: &Inbound| (inbound.id, message_of(inbound, || host.tag()));
        let mut earlier: Vec<(InboundId, Message)> = waiting.iter().map(message).collect();
        let newest = earlier.pop()?;
        Some(Self { earlier, newest })
    }

    /// The newest as it was accepted.
    pub(crate) fn newest(&self) -> &Message {
        &self.newest.1
    }

    /// Those before the newest, as no turn has stored them yet.
    pub(crate) fn earlier(&self) -> Vec<Entry> {
        self.earlier.iter().map(|(_, message)| Entry { id: UNSTORED, message: message.clone() }).collect()
    }

    pub(crate) fn ids(&self) -> Vec<InboundId> {
        self.all().map(|(id, _)| *id).collect()
    }

    /// Leaves the newer half to a later turn. Says whether there was more than one message.
    pub(crate) fn put_off_half(&mut self) -> bool {
        self.earlier.truncate((self.earlier.len() + 1).div_ceil(2));
        self.earlier.pop().map(|newest| self.newest = newest).is_some()
    }

    /// The messages as the store takes them, each with what a model reads of it.
    pub(crate) fn as_sent(&self, sent: impl Iterator<Item = Message>) -> Vec<NewMessage> {
        let row = |((id, typed), sent): (&(InboundId, Message), Message)| NewMessage {
            typed: (sent.text != typed.text).then(|| typed.text.clone()),
            inbound: Some(*id),
            ..NewMessage::new(sent)
        };
        self.all().zip(sent).map(row).collect()
    }

    /// The messages as the store takes them when no model reads them.
    pub(crate) fn as_accepted(&self) -> Vec<NewMessage> {
        self.as_sent(self.all().map(|(_, message)| message.clone()))
    }

    fn all(&self) -> impl Iterator<Item = &(InboundId, Message)> {
        self.earlier.iter().chain([&self.newest])
    }
}

/// An accepted message as one of the conversation.
pub(crate) fn message_of(inbound: &Inbound, boundary: impl FnOnce() -> String) -> Message {
    let boundary = inbound.trust.is_foreign().then(boundary);
    Message { boundary, ..Message::new(Role::User, inbound.text.clone(), inbound.trust) }
}

/// Whether a request was too large for its window.
pub(crate) fn is_overflow(error: &AgentError) -> bool {
    matches!(error, AgentError::Model(error) if error.class == FailureClass::Overflow)
}
