//! Updates of a session, as an editor shows them. Every text in them is written out where a screen would follow it.

use std::sync::PoisonError;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Notice, NoticeSeverity, SessionNotification, SessionUpdate,
};
use limpid_prompt::shown::{shown, shown_line};

use crate::session::Session;

/// A text as an editor gets it.
pub(crate) fn text(text: &str) -> ContentBlock {
    ContentBlock::from(shown(text).into_owned())
}

impl Session {
    /// Sends an update. An editor that is gone hears nothing, which its connection tells of.
    pub(crate) fn send(&self, update: SessionUpdate) {
        let _ = self.connection.send_notification(SessionNotification::new(self.id.as_str().to_owned(), update));
    }

    /// More of the answer.
    pub(crate) fn answer(&self, more: &str) {
        if !more.is_empty() {
            let more = self.unloaded.lock().unwrap_or_else(PoisonError::into_inner).push(more);
            self.send(SessionUpdate::AgentMessageChunk(ContentChunk::new(text(&more))));
        }
    }

    /// More of what the model thinks.
    pub(crate) fn thought(&self, more: &str) {
        self.send(SessionUpdate::AgentThoughtChunk(ContentChunk::new(text(more))));
    }

    /// What the owner has said.
    pub(crate) fn said(&self, said: &str) {
        self.send(SessionUpdate::UserMessageChunk(ContentChunk::new(text(said))));
    }

    /// Something that the owner should know: as such where the editor has a place for it, else beside the answer.
    pub(crate) fn notice(&self, what: &str) {
        if self.takes_notices {
            self.send(SessionUpdate::Notice(Notice::new(NoticeSeverity::Info, shown_line(what))));
        } else {
            self.thought(&format!("{what}\n"));
        }
    }
}
