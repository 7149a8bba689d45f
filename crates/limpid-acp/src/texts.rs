//! The texts of the protocol, made here alone. They are Markdown to an editor, so each of them is a [`Drawn`].
//! Paths are opened as well and cannot be written out: one that is not drawn as it is stands in no message.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    AvailableCommand, Content, ContentBlock, ContentChunk, Diff, Notice, NoticeSeverity, PermissionOption,
    PermissionOptionKind, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionConfigSelectOption, SessionInfo,
    SessionInfoUpdate, ToolCall, ToolCallContent, ToolCallLocation, ToolCallUpdateFields,
};
use agent_client_protocol::{Error, ErrorCode};
use limpid_core::CallId;
use limpid_prompt::shown::{Drawn, shown, shown_line};

/// A text.
fn text(text: Drawn) -> ContentBlock {
    ContentBlock::from(String::from(text))
}

/// A text as the content of a call.
pub(crate) fn content(words: Drawn) -> ToolCallContent {
    ToolCallContent::Content(Content::new(text(words)))
}

/// A file that a call touches; none where its path is not drawn as it is.
pub(crate) fn location(path: &Path) -> Option<ToolCallLocation> {
    plain_place(path).map(ToolCallLocation::new)
}

/// What a call changes in a file; a line that tells of it where the path is not drawn as it is.
pub(crate) fn difference(path: &Path, old: Option<&str>, new: &str) -> ToolCallContent {
    match plain_place(path) {
        Some(path) => {
            let old = old.map(|old| shown(old).into_owned());
            ToolCallContent::Diff(Diff::new(path, shown(new)).old_text(old))
        }
        None => {
            let path = shown_line(&path.display().to_string());
            let why = "its name has signs that steer what is drawn";
            content(Drawn::line(&format!("There is a change to {path}. It cannot be shown here, for {why}.")))
        }
    }
}

/// A path that an editor draws as it is.
fn plain_place(path: &Path) -> Option<&Path> {
    let text = path.to_str()?;
    (shown_line(text) == text).then_some(path)
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

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-089
    #[test]
    fn a_path_that_is_not_drawn_as_it_is_stands_in_no_message() {
        for path in ["/w/a\nb", "/w/a\tb", "/w/\u{1b}]8;;x\u{7}", "/w/sh.\u{202e}fdp", "/w/a\u{200b}b"] {
            assert!(location(Path::new(path)).is_none(), "{path:?}");
            let change = difference(Path::new(path), Some("old"), "new");
            let ToolCallContent::Content(Content { content: ContentBlock::Text(told), .. }) = &change else {
                panic!("{path:?}: {change:?}");
            };
            assert_eq!(told.text, shown_line(&told.text));
            assert!(told.text.contains("cannot be shown"), "{}", told.text);
        }
        for path in ["/w/a b.txt", "/w/日本語/é.md"] {
            assert_eq!(location(Path::new(path)).unwrap().path, Path::new(path));
            let change = difference(Path::new(path), None, "new");
            assert!(matches!(&change, ToolCallContent::Diff(diff) if diff.path == Path::new(path)), "{change:?}");
        }
    }
}
