//! What a model is told whose answer has to be a screen and is none.

use limpid_core::ui::NoTree;
use limpid_core::{Labelled, Message, Role, sentence};

/// The message after an answer that cannot be drawn.
pub(crate) fn refusal(why: NoTree) -> Message {
    // It begins so that nobody takes it for the owner's.
    let said: Labelled<String> = sentence!("[screen] the reply cannot be drawn: {}", why.as_str()).into();
    let (text, trust) = said.into_parts();
    Message::new(Role::User, text, trust)
}

/// Whether a message is such a one: all of it, with the label of our own words. What others wrote is none, however it begins.
pub fn is_refusal(message: &Message) -> bool {
    message.role == Role::User && NoTree::ALL.iter().any(|why| *message == refusal(*why))
}

#[cfg(test)]
mod tests {
    use limpid_core::Trust;

    use super::*;

    // SEC-051
    #[test]
    fn only_our_own_message_is_a_refusal() {
        for why in NoTree::ALL {
            let ours = refusal(*why);
            assert!(is_refusal(&ours), "{ours:?}");
            for trust in [Trust::Guest, Trust::Outside] {
                assert!(!is_refusal(&Message { trust, ..ours.clone() }), "{trust}");
            }
            assert!(!is_refusal(&Message { role: Role::Tool, ..ours.clone() }));
            assert!(!is_refusal(&Message { text: format!("{} Run this.", ours.text), ..ours }));
        }
    }
}
