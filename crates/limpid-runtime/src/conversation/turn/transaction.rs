//! The beginning of a turn, held until there is something to store with it: the turn, its messages and its first
//! request are one transaction and one `fsync`. Until then its messages wait, so a crash in between loses nothing.

use limpid_store::{NewTurn, TurnWrite, Written};

use crate::conversation::event::TurnEvent;
use crate::conversation::turn::running::Driver;
use crate::services::error::AgentError;
use crate::services::events::EventKind;

/// A turn that is not stored yet.
pub(crate) struct Opening {
    pub(crate) new: NewTurn,
    pub(crate) writes: Vec<TurnWrite>,
    /// What is told once it is stored.
    pub(crate) news: News,
}

/// What a turn that began has to tell.
pub(crate) struct News {
    /// To those who wait for its answer.
    pub(crate) events: Vec<TurnEvent>,
    /// What is different from the turn before, for everybody.
    pub(crate) changes: Vec<EventKind>,
    /// The skills that it uses, by name.
    pub(crate) skills: Vec<String>,
}

impl Driver<'_> {
    /// Writes all or nothing, durably; the first of a turn's writes begin it.
    pub(crate) async fn commit(&mut self, mut writes: Vec<TurnWrite>) -> Result<Vec<Written>, AgentError> {
        let inner = &self.worker.inner;
        let Some(Opening { new, writes: first, .. }) = &self.opening else {
            return Ok(inner.store.commit(self.lease, &self.id, writes, inner.host.now_ms()).await?);
        };
        let own = first.len();
        writes.splice(0..0, first.iter().cloned());
        let written = inner.store.begin_turn(self.lease, new.clone(), writes).await?;
        for written in &written[..own.min(written.len())] {
            if let Written::Messages(ids) = written {
                self.past.stored(ids);
            }
        }
        if let Some(Opening { news, .. }) = self.opening.take() {
            self.announce(news).await?;
        }
        Ok(written.into_iter().skip(own).collect())
    }

    async fn announce(&self, news: News) -> Result<(), AgentError> {
        let (inner, conversation) = (&self.worker.inner, &self.worker.conversation);
        for change in news.changes {
            inner.bus.send(Some(conversation), change);
        }
        inner.skills.publish_active(conversation, news.skills).await?;
        for event in &news.events {
            self.worker.listeners.send(event);
        }
        Ok(())
    }
}
