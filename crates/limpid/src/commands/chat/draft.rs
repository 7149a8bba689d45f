//! What somebody has typed and not sent, as the keys made it.

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

use super::pastes::Pastes;
use super::terminal::line_feeds::{is_line_feed, is_mine, with_line_feeds};

/// The command that leaves the chat.
const LEAVE: &str = "/exit";

/// What somebody has typed and not sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    /// Where pastes are noted.
    pub(super) pastes: Pastes,
    /// Whether line breaks of it came with other keys: it was pasted, and the terminal did not say so.
    has_burst: bool,
}

/// What keys came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A text to be sent.
    Text(String),
    /// The answer is to stop.
    Stop,
}

impl Typed {
    /// The text that is to be sent.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Stop => None,
        }
    }
}

impl Draft {
    pub(super) fn new(pastes: Pastes) -> Self {
        Self { pastes, ..Self::default() }
    }

    /// Takes in keys that came together. An Enter between letters of one burst is a line break of a paste.
    pub(super) fn take(&mut self, keys: &[Event]) -> Vec<Typed> {
        let mut typed = Vec::new();
        for (at, event) in keys.iter().enumerate() {
            let key = match event {
                Event::Paste(text) => {
                    let text = with_line_feeds(text);
                    self.pastes.add(&text);
                    self.text.push_str(&text);
                    continue;
                }
                Event::Key(key) if key.kind != KeyEventKind::Release => key,
                _ => continue,
            };
            let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
            match key.code {
                KeyCode::Enter if !is_plain => self.push('\n'),
                code if code == KeyCode::Enter || is_line_feed(code, key.modifiers) => {
                    match keys[at + 1..].iter().any(is_text) {
                        true => {
                            self.text.push('\n');
                            self.has_burst = true;
                        }
                        false => typed.push(Typed::Text(self.sent())),
                    }
                }
                KeyCode::Char(letter) if is_plain => self.push(letter),
                code if is_mine(code, key.modifiers) => {
                    self.has_burst = false;
                    self.pastes.are_mine();
                }
                KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => typed.push(Typed::Stop),
                // Whoever leaves in the middle of an answer leaves after it.
                KeyCode::Char('d') if key.modifiers.contains(KeyModifiers::CONTROL) && self.text.is_empty() => {
                    typed.push(Typed::Text(LEAVE.to_owned()));
                }
                KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => self.text.clear(),
                KeyCode::Char('w') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                    let kept = self.text.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
                    self.text.truncate(kept);
                }
                KeyCode::Tab => self.push('\t'),
                KeyCode::Backspace => drop(self.text.pop()),
                KeyCode::Esc => typed.push(Typed::Stop),
                _ => {}
            }
        }
        if typed.is_empty() {
            self.pastes.see(&self.text);
        }
        typed
    }

    fn push(&mut self, letter: char) {
        self.text.push(letter);
    }

    /// Begins with a line that was entered and what came right behind it.
    pub(super) fn of_burst(&mut self, line: &str) {
        self.text = format!("{line}\n");
        self.has_burst = true;
    }

    /// Takes out what is sent.
    pub(super) fn sent(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        if std::mem::take(&mut self.has_burst) {
            self.pastes.add(&text);
        }
        text
    }
}

fn is_text(event: &Event) -> bool {
    match event {
        Event::Paste(_) => true,
        Event::Key(key) => matches!(key.code, KeyCode::Char(_) | KeyCode::Tab) && key.kind != KeyEventKind::Release,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    fn keys(text: &str) -> Vec<Event> {
        let key = |letter: char| match letter {
            '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
            '\r' => KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL),
            '\u{4}' => KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL),
            '\u{8}' => KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE),
            '\u{1b}' => KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE),
            '\u{17}' => KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL),
            letter => KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE),
        };
        text.chars().map(|letter| Event::Key(key(letter))).collect()
    }

    // TERM-003 TERM-019
    #[test]
    fn a_burst_of_keys_is_one_text_and_the_last_enter_sends_it() {
        let mut draft = Draft::default();
        assert_eq!(draft.take(&keys("one\ntwo\nthree\n")), [Typed::Text("one\ntwo\nthree".to_owned())]);
        assert_eq!(draft.take(&keys("one\ntwo")), []);
        assert_eq!(draft.text, "one\ntwo");
        assert_eq!(draft.take(&keys("\n")), [Typed::Text("one\ntwo".to_owned())]);
        assert_eq!(draft.text, "");
    }

    // TERM-003 TERM-019
    #[test]
    fn a_line_feed_enters_as_enter_does_and_ctrl_d_leaves_where_nothing_is_typed() {
        let mut draft = Draft::default();
        assert_eq!(draft.take(&keys("one\rtwo\r")), [Typed::Text("one\ntwo".to_owned())]);
        assert_eq!(draft.take(&keys("\u{4}")), [Typed::Text("/exit".to_owned())]);
    }

    // TERM-001 TERM-003
    #[test]
    fn a_marked_paste_waits_for_enter_and_a_stop_keeps_what_was_typed() {
        let mut draft = Draft::default();
        let mut pasted = vec![Event::Paste("one\r\ntwo\rthree\n".to_owned())];
        assert_eq!(draft.take(&pasted), []);
        assert_eq!(draft.text, "one\ntwo\nthree\n");
        draft.text.clear();
        assert_eq!(draft.take(&keys("wait a mint\u{8}ute\u{1b}")), [Typed::Stop]);
        assert_eq!(draft.text, "wait a minute");
        assert_eq!(draft.take(&keys("\u{4}")), [], "there is a draft");
        assert_eq!(draft.take(&keys("\u{17}moment")), []);
        assert_eq!(draft.text, "wait a moment");
        pasted.extend(keys("\n"));
        assert_eq!(draft.take(&pasted), [Typed::Text("wait a momentone\ntwo\nthree\n".to_owned())]);
    }
}
