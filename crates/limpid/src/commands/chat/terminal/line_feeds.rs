//! Lines that end with a line feed, as programs write them, where a keyboard sends a carriage return.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use crossterm::event::Event;
use reedline::{EditCommand, EditMode, Emacs, KeyCode, KeyModifiers, PromptEditMode, ReedlineEvent, ReedlineRawEvent};

use crate::commands::chat::pastes::Pastes;

/// Keys of which a line feed enters what was typed, as Enter does, unless more comes with it. The editor takes keys that
/// come together in one go and forgets those behind an Enter, so a line feed among them is a line break of a paste.
pub(super) struct LineFeeds {
    pub(super) keys: Emacs,
    /// Whether a line feed came last. The editor asks once it has taken everything that came.
    pub(super) is_last: Arc<AtomicBool>,
    /// Where pastes are noted.
    pub(super) pastes: Pastes,
    /// Prints above the editor.
    pub(super) above: SyncSender<String>,
}

impl EditMode for LineFeeds {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = Event::from(event);
        let is_line_feed = matches!(&event, Event::Key(key) if is_line_feed(key.code, key.modifiers));
        if matches!(event, Event::Key(_) | Event::Paste(_)) {
            self.is_last.store(is_line_feed, Ordering::Relaxed);
        }
        match &event {
            Event::Paste(text) => self.tell(self.pastes.add(&with_line_feeds(text))),
            Event::Key(key) if is_mine(key.code, key.modifiers) => {
                self.tell(Some(self.pastes.are_mine().to_owned()));
                return ReedlineEvent::None;
            }
            _ => {}
        }
        if is_line_feed {
            return ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        }
        ReedlineRawEvent::try_from(event).map_or(ReedlineEvent::None, |event| self.keys.parse_event(event))
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.keys.edit_mode()
    }
}

impl LineFeeds {
    /// Nobody waits for it: where the queue is full it is not told.
    fn tell(&self, text: Option<String>) {
        if let Some(text) = text {
            let _ = self.above.try_send(text);
        }
    }
}

/// The key that says that a paste is the owner's own: Alt-M.
pub(in crate::commands::chat) fn is_mine(code: KeyCode, modifiers: KeyModifiers) -> bool {
    matches!(code, KeyCode::Char('m' | 'M')) && modifiers.contains(KeyModifiers::ALT)
}

/// A paste as it stands in the line: with line feeds.
pub(in crate::commands::chat) fn with_line_feeds(paste: &str) -> String {
    paste.replace("\r\n", "\n").replace('\r', "\n")
}

/// A terminal that passes keys on as they are calls a line feed Ctrl-J.
pub(in crate::commands::chat) fn is_line_feed(code: KeyCode, modifiers: KeyModifiers) -> bool {
    code == KeyCode::Char('j') && modifiers == KeyModifiers::CONTROL
}
