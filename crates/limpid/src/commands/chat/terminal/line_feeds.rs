//! Lines that end with a line feed, as programs write them, where a keyboard sends a carriage return.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::Event;
use reedline::{EditCommand, EditMode, Emacs, KeyCode, KeyModifiers, PromptEditMode, ReedlineEvent, ReedlineRawEvent};

/// Keys of which a line feed enters what was typed, as Enter does, unless more comes with it. The editor takes keys that
/// come together in one go and forgets those behind an Enter, so a line feed among them is a line break of a paste.
pub(super) struct LineFeeds {
    pub(super) keys: Emacs,
    /// Whether a line feed came last. The editor asks once it has taken everything that came.
    pub(super) is_last: Arc<AtomicBool>,
}

impl EditMode for LineFeeds {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = Event::from(event);
        let is_line_feed = matches!(&event, Event::Key(key) if is_line_feed(key.code, key.modifiers));
        if matches!(event, Event::Key(_) | Event::Paste(_)) {
            self.is_last.store(is_line_feed, Ordering::Relaxed);
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

/// A terminal that passes keys on as they are calls a line feed Ctrl-J.
pub(in crate::commands::chat) fn is_line_feed(code: KeyCode, modifiers: KeyModifiers) -> bool {
    code == KeyCode::Char('j') && modifiers == KeyModifiers::CONTROL
}
