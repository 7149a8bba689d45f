//! What a model is told whose answer has to be a screen and is none.

use limpid_core::ui::NoTree;
use limpid_core::{Labelled, Message, Role, sentence};

/// How such a message begins, so that nobody takes it for the owner's.
const MARK: &str = "[screen] ";

/// The message after an answer that cannot be drawn.
pub(crate) fn refusal(why: NoTree) -> Message {
    let said: Labelled<String> = sentence!("[screen] the reply cannot be drawn: {}", why.as_str()).into();
    let (text, trust) = said.into_parts();
    Message::new(Role::User, text, trust)
}

/// Why an answer was refused, where a message says so.
pub fn refused(text: &str) -> Option<&str> {
    text.strip_prefix(MARK)
}
