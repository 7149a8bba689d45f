//! What a person changes in a conversation. Its actor does it under the conversation's lease, between two turns: while a
//! reply streams it waits until the reply has ended.

mod audience;
mod mode;
mod outcome;
pub(crate) mod skills;
mod undo;
pub(crate) mod window;

use std::sync::Arc;

use limpid_core::mode::Trigger;
use limpid_core::{MessageId, WindowSize};
use limpid_services::error::AgentError;
use limpid_store::{Audience, Lease};
use tokio::sync::oneshot;

pub(crate) use mode::suggest_mode;
pub use outcome::ChangeOutcome;
pub use window::Tiers;

use crate::compaction::{Compaction, CompactionReport, restore_snapshot, undo_compaction};
use crate::deps::ConversationDeps;

/// Something to be changed.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// The mode.
    Mode { to: String, trigger: Trigger, confidence: Option<u8> },
    /// The window, or the model's own.
    Window(Option<WindowSize>),
    /// Who reads the conversation.
    Audience(Audience),
    /// The last turn is taken out of the window.
    UndoTurn,
    /// The turn of a message and all after it are taken out; the second is the newest message that was seen.
    TakeOut(MessageId, MessageId),
    /// The turn that was taken out last is put back.
    RedoTurn,
    /// Older messages become a digest, however full the window is.
    Compact,
    /// The conversation is shown as before the newest change of its window.
    UndoCompaction,
    /// The conversation is shown as in a snapshot.
    RestoreSnapshot(i64),
}

/// What whoever waits for a change hears.
pub(crate) enum Changed {
    /// What became of it.
    Outcome(ChangeOutcome),
    /// What a change of what is shown came to.
    Shown(CompactionReport),
}

/// A change, and who waits to hear of it.
pub(crate) struct ChangeRequest {
    change: Change,
    done: Option<oneshot::Sender<Result<Changed, AgentError>>>,
}

impl ChangeRequest {
    /// A change that nobody waits for.
    pub(crate) fn silent(change: Change) -> Self {
        Self { change, done: None }
    }

    /// A change whose outcome is told.
    pub(crate) fn answered(change: Change) -> (Self, oneshot::Receiver<Result<Changed, AgentError>>) {
        let (done, outcome) = oneshot::channel();
        (Self { change, done: Some(done) }, outcome)
    }

    /// The change for after the running turn. Whoever waits is told so at once, but for changes whose outcome is a report. What
    /// names the newest message is refused: the turn makes newer ones.
    pub(crate) fn defer(mut self) -> Option<Self> {
        if matches!(self.change, Change::TakeOut(..)) {
            let why = "an answer is under way; stop it or wait for its end, then send the edited message again";
            self.finish(Err(AgentError::Invalid(why.to_owned())));
            return None;
        }
        let reports = matches!(self.change, Change::Compact | Change::UndoCompaction | Change::RestoreSnapshot(_));
        if let Some(done) = self.done.take_if(|_| !reports) {
            let _ = done.send(Ok(Changed::Outcome(ChangeOutcome::Deferred)));
        }
        Some(self)
    }

    /// Whether it says that others read the conversation too.
    pub(crate) fn is_for_others(&self) -> bool {
        matches!(self.change, Change::Audience(Audience::Group))
    }

    /// Tells whoever waits. They may be gone; what changed is told on the bus.
    pub(crate) fn finish(self, outcome: Result<Changed, AgentError>) {
        if let Some(done) = self.done {
            let _ = done.send(outcome);
        }
    }
}

/// Makes a change; no turn is running. One that models are asked for is returned to be waited for.
pub(crate) async fn make(deps: &Arc<ConversationDeps>, lease: &Lease, request: ChangeRequest) -> Option<Compaction> {
    let id = &lease.conversation;
    let outcome = match request.change.clone() {
        Change::Compact => {
            let finish = |done: Result<_, _>| request.finish(done.map(Changed::Shown));
            return Some(Compaction::by_hand(deps, lease, finish));
        }
        Change::UndoCompaction => undo_compaction(deps, lease).await.map(Changed::Shown),
        Change::RestoreSnapshot(snapshot) => restore_snapshot(deps, lease, snapshot).await.map(Changed::Shown),
        Change::Mode { to, trigger, confidence } => {
            mode::switch_mode(deps, id, &to, trigger, confidence).await.map(Changed::Outcome)
        }
        Change::Window(size) => window::resize(deps, id, size).await.map(Changed::Outcome),
        Change::Audience(audience) => audience::set_audience(deps, lease, audience).await.map(Changed::Outcome),
        Change::UndoTurn => undo::undo_turn(deps, id).await.map(Changed::Outcome),
        Change::TakeOut(from, newest) => undo::take_out(deps, id, from, newest).await.map(Changed::Outcome),
        Change::RedoTurn => undo::redo_turn(deps, id).await.map(Changed::Outcome),
    };
    request.finish(outcome);
    None
}
