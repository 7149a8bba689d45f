//! Where a turn writes. Everything that one event leads to is one transaction; the first of them also stores the turn
//! itself, so that a turn and its first request are one transaction and one `fsync`. Until then its messages wait, and a
//! crash in between loses nothing.

use limpid_core::{MessageId, TurnId};
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_store::{Lease, NewTurn, TurnWrite, Written};

use crate::deps::ConversationDeps;
use crate::event::TurnEvent;

/// A turn that is not stored yet.
pub(crate) struct PendingStart {
    pub(crate) new: NewTurn,
    pub(crate) writes: Vec<TurnWrite>,
    pub(crate) news: TurnNews,
}

/// What a turn that began has to tell.
#[derive(Default)]
pub(crate) struct TurnNews {
    /// To those who wait for its answer.
    pub(crate) events: Vec<TurnEvent>,
    /// What is different from the turn before, for everybody.
    pub(crate) changes: Vec<EventKind>,
    /// The skills that it uses, by name.
    pub(crate) skills: Vec<String>,
}

/// The writes of a turn, under the lease of its conversation.
pub(crate) struct TurnWriter {
    lease: Lease,
    turn: TurnId,
    start: Option<Box<PendingStart>>,
}

/// What was written.
#[must_use]
pub(crate) struct Committed {
    /// A row for each write.
    pub(crate) written: Vec<Written>,
    /// What is known only since the turn itself was stored, when this stored it.
    pub(crate) started: Option<TurnBegun>,
}

/// A turn that was stored just now.
pub(crate) struct TurnBegun {
    /// The messages that it answers, by number.
    pub(crate) messages: Vec<Vec<MessageId>>,
    pub(crate) news: TurnNews,
}

impl TurnWriter {
    /// The writes of a turn that begins with its first transaction.
    pub(crate) fn starting(lease: Lease, start: PendingStart) -> Self {
        Self { lease, turn: start.new.id.clone(), start: Some(Box::new(start)) }
    }

    /// The writes of a turn that is stored.
    pub(crate) fn of(lease: Lease, turn: TurnId) -> Self {
        Self { lease, turn, start: None }
    }

    /// The turn.
    pub(crate) fn turn(&self) -> &TurnId {
        &self.turn
    }

    /// The lease that it writes under.
    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Writes all or nothing, durably.
    pub(crate) async fn commit(
        &mut self,
        deps: &ConversationDeps,
        mut writes: Vec<TurnWrite>,
    ) -> Result<Committed, AgentError> {
        let Some(PendingStart { new, writes: first, .. }) = self.start.as_deref() else {
            let written = deps.store().commit(&self.lease, &self.turn, writes, deps.host().now_ms()).await?;
            return Ok(Committed { written, started: None });
        };
        let own = first.len();
        writes.splice(0..0, first.iter().cloned());
        let mut written = deps.store().begin_turn(&self.lease, new.clone(), writes).await?;
        let rest = written.split_off(own.min(written.len()));
        let messages = written.into_iter().filter_map(|written| match written {
            Written::Messages(ids) => Some(ids),
            _ => None,
        });
        let messages = messages.collect();
        let news = self.start.take().map(|start| start.news).unwrap_or_default();
        Ok(Committed { written: rest, started: Some(TurnBegun { messages, news }) })
    }
}
