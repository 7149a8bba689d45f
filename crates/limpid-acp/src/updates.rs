//! What an editor is told while a session goes on.

use std::sync::{MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{SessionNotification, SessionUpdate};
use limpid_prompt::shown::{Drawn, DrawnPieces};

use crate::session::Session;
use crate::texts::{chunk, notice, retitled};

/// The texts of a session that come in pieces.
#[derive(Default)]
pub(crate) struct Streams {
    answer: DrawnPieces,
    thought: DrawnPieces,
}

impl Session {
    /// Sends an update. An editor that is gone hears nothing, which its connection tells of.
    pub(crate) fn send(&self, update: SessionUpdate) {
        // What an editor shows between texts comes behind what was held back of them.
        if let SessionUpdate::ToolCall(_) | SessionUpdate::UserMessageChunk(_) | SessionUpdate::Notice(_) = &update {
            self.end_texts();
        }
        let _ = self.connection.send_notification(SessionNotification::new(self.id.as_str().to_owned(), update));
    }

    /// More of the answer.
    pub(crate) fn answer(&self, more: &str) {
        let (thought, more) = {
            let mut streams = self.streams();
            (streams.thought.pause(), streams.answer.push(more))
        };
        self.send_thought(thought);
        self.send_answer(more);
    }

    /// More of what the model thinks.
    pub(crate) fn thought(&self, more: &str) {
        let (answer, more) = {
            let mut streams = self.streams();
            (streams.answer.pause(), streams.thought.push(more))
        };
        self.send_answer(answer);
        self.send_thought(more);
    }

    /// Sends what was held back of texts: something else comes, or nothing more.
    pub(crate) fn end_texts(&self) {
        let (thought, answer) = {
            let mut streams = self.streams();
            (streams.thought.pause(), streams.answer.pause())
        };
        self.send_thought(thought);
        self.send_answer(answer);
    }

    /// Ends the texts, so that the next ones are texts of their own: the owner has said something in between.
    pub(crate) fn begin_texts(&self) {
        self.end_texts();
        *self.streams() = Streams::default();
    }

    /// What the owner has said.
    pub(crate) fn said(&self, said: &str) {
        self.send(SessionUpdate::UserMessageChunk(chunk(Drawn::new(said))));
        self.begin_texts();
    }

    /// Something that the owner should know: as such where the editor has a place for it, else beside the answer.
    pub(crate) fn notice(&self, what: &str) {
        if self.takes_notices {
            self.send(SessionUpdate::Notice(notice(what)));
        } else {
            self.thought(&format!("{what}\n"));
        }
    }

    /// Tells the title.
    pub(crate) fn titled(&self, title: Drawn, updated: Option<String>) {
        let info = retitled(title).updated_at(updated);
        self.send(SessionUpdate::SessionInfoUpdate(info));
    }

    fn send_answer(&self, more: Drawn) {
        if !more.is_empty() {
            self.send(SessionUpdate::AgentMessageChunk(chunk(more)));
        }
    }

    fn send_thought(&self, more: Drawn) {
        if !more.is_empty() {
            self.send(SessionUpdate::AgentThoughtChunk(chunk(more)));
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
