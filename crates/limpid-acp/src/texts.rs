//! The texts of the protocol, made here alone. They are Markdown to an editor, so each of them is a [`Drawn`].

use agent_client_protocol::v1::schema::{
    AvailableCommand, Content, ContentBlock, ContentChunk, Notice, NoticeSeverity, PermissionOption,
    PermissionOptionKind, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionConfigSelectOption, SessionInfo,
    SessionInfoUpdate, ToolCall, ToolCallContent, ToolCallUpdateFields,
};
use agent_client_protocol::{Error, ErrorCode};
use limpid_core::CallId;
use limpid_prompt::shown::Drawn;

/// A text.
fn text(text: Drawn) -> ContentBlock {
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

/// A piece of a text.
pub(crate) fn chunk(words: Drawn) -> ContentChunk {
    ContentChunk::new(text(words))
}

/// Something that the owner should know.
pub(crate) fn notice(what: &str) -> Notice {
    Notice::new(NoticeSeverity::Info, Drawn::line(what))
}

/// A session that is called otherwise.
pub(crate) fn retitled(title: Drawn) -> SessionInfoUpdate {
    SessionInfoUpdate::new().title(String::from(title))
}
