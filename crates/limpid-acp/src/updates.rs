//! What an editor is told, as it shows it. Its texts are Markdown to it, so each of them is a [`Drawn`]: the texts of the protocol are made
//! here alone.

use std::sync::{MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{
    AvailableCommand, Content, ContentBlock, ContentChunk, Notice, NoticeSeverity, PermissionOption,
    PermissionOptionKind, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionConfigSelectOption, SessionInfo,
    SessionInfoUpdate, SessionNotification, SessionUpdate, ToolCall, ToolCallContent, ToolCallUpdateFields,
};
use agent_client_protocol::{Error, ErrorCode};
use limpid_core::CallId;
use limpid_prompt::shown::{Drawn, DrawnPieces};

use crate::session::Session;

/// A text.
pub(crate) fn text(text: Drawn) -> ContentBlock {
    ContentBlock::from(String::from(text))
}

/// A text as the content of a call.
pub(crate) fn content(words: Drawn) -> ToolCallContent {
    ToolCallContent::Content(Content::new(text(words)))
}

/// A call with its title.
pub(crate) fn call(id: &CallId, title: Drawn) -> ToolCall {
    ToolCall::new(id.as_str().to_owned(), title)
}

/// A question with its title.
pub(crate) fn titled(title: Drawn) -> ToolCallUpdateFields {
    ToolCallUpdateFields::new().title(String::from(title))
}

/// An answer that can be chosen.
pub(crate) fn option(id: &str, name: Drawn, kind: PermissionOptionKind) -> PermissionOption {
    PermissionOption::new(id.to_owned(), name, kind)
}

/// A step of a plan.
pub(crate) fn step(words: Drawn, priority: PlanEntryPriority, status: PlanEntryStatus) -> PlanEntry {
    PlanEntry::new(words, priority, status)
}

/// A value of a setting.
pub(crate) fn value(value: &str) -> SessionConfigSelectOption {
    SessionConfigSelectOption::new(value.to_owned(), Drawn::line(value))
}

/// A command with its help.
pub(crate) fn command(name: String, help: &str) -> AvailableCommand {
    AvailableCommand::new(name, Drawn::line(help))
}

/// A session of a list with its title.
pub(crate) fn listed(info: SessionInfo, title: &str) -> SessionInfo {
    info.title((!title.is_empty()).then(|| String::from(Drawn::line(title))))
}

/// What went wrong.
pub(crate) fn error(code: ErrorCode, why: &str) -> Error {
    Error::new(code, Drawn::new(why))
}

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
        self.send(SessionUpdate::UserMessageChunk(ContentChunk::new(text(Drawn::new(said)))));
        self.begin_texts();
    }

    /// Something that the owner should know: as such where the editor has a place for it, else beside the answer.
    pub(crate) fn notice(&self, what: &str) {
        if self.takes_notices {
            self.send(SessionUpdate::Notice(Notice::new(NoticeSeverity::Info, Drawn::line(what))));
        } else {
            self.thought(&format!("{what}\n"));
        }
    }

    /// Tells the title.
    pub(crate) fn titled(&self, title: Drawn, updated: Option<String>) {
        let info = SessionInfoUpdate::new().title(String::from(title)).updated_at(updated);
        self.send(SessionUpdate::SessionInfoUpdate(info));
    }

    fn send_answer(&self, more: Drawn) {
        if !more.is_empty() {
            self.send(SessionUpdate::AgentMessageChunk(ContentChunk::new(text(more))));
        }
    }

    fn send_thought(&self, more: Drawn) {
        if !more.is_empty() {
            self.send(SessionUpdate::AgentThoughtChunk(ContentChunk::new(text(more))));
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
