//! What a person sets in a conversation. Its worker does it under the conversation's lease, between two turns: while a
//! reply streams it waits until the reply has ended.

pub(crate) mod audience;
pub mod skills;
pub(crate) mod undo;
pub mod window;

use std::sync::Arc;

use limpid_core::mode::Trigger;
use limpid_core::{ConversationId, WindowSize};
use limpid_store::Audience;
use tokio::sync::oneshot;

use crate::agent::Inner;
use crate::conversation::actor::{Command, Worker};
use crate::services::error::AgentError;

/// Something to be set.
#[derive(Clone, Debug)]
pub(crate) enum Setting {
    /// A mode.
    Mode { to: String, trigger: Trigger, confidence: Option<u8> },
    /// A window, or the model's own.
    Window(Option<WindowSize>),
    /// The last turn is taken out of the window.
    Undo,
    /// The turn that was taken out last is put back.
    Redo,
    /// Who reads the conversation.
    Audience(Audience),
}

/// What became of something that was to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It holds from the next message on. Says what was there before: the mode, or the message that was taken out.
    Changed(String),
    /// It was so before.
    Same,
    /// A reply is under way; it will hold when that has ended.
    Later,
}

/// Something to be set, and who waits to hear of it.
pub(crate) struct Settle {
    setting: Setting,
    done: Option<oneshot::Sender<Result<Settled, AgentError>>>,
}

impl Settle {
    /// Something that nobody waits for.
    pub(crate) fn silently(setting: Setting) -> Self {
        Self { setting, done: None }
    }
}

impl Inner {
    /// Sets something in a conversation; returns when it holds, or when it is known to hold after the running turn.
    pub(crate) async fn arrange(
        self: &Arc<Self>,
        id: &ConversationId,
        setting: Setting,
    ) -> Result<Settled, AgentError> {
        let (done, settled) = oneshot::channel();
        self.command(id, Command::Settle(Settle { setting, done: Some(done) }));
        let lost = |_| Err(AgentError::Invalid("the conversation cannot be written to; try again".to_owned()));
        settled.await.unwrap_or_else(lost)
    }

    async fn set(&self, id: &ConversationId, setting: Setting) -> Result<Settled, AgentError> {
        match setting {
            Setting::Mode { to, trigger, confidence } => self.switch_mode(id, &to, trigger, confidence).await,
            Setting::Window(size) => self.resize(id, size).await,
            Setting::Undo => self.undo_turn(id).await,
            Setting::Redo => self.redo_turn(id).await,
            Setting::Audience(audience) => self.set_audience(id, audience).await,
        }
    }
}

impl Worker {
    /// Puts something off until the running turn has ended, and says so to whoever waits.
    pub(crate) fn put_off(&mut self, settle: Settle) {
        if let Some(done) = settle.done {
            let _ = done.send(Ok(Settled::Later));
        }
        self.settling.push(Settle::silently(settle.setting));
    }

    /// Sets everything that waits for it; no turn is running.
    pub(crate) async fn settle(&mut self) {
        for Settle { setting, done } in std::mem::take(&mut self.settling) {
            let settled = self.inner.set(&self.conversation, setting).await;
            // Whoever asked may be gone; what changed is told on the bus.
            let _ = done.map(|done| done.send(settled));
        }
    }
}
