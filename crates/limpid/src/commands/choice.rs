//! Which conversation is meant.

use limpid_core::ConversationId;
use limpid_runtime::ConversationChoice;

/// The conversation that a word of the command line means.
pub(super) fn choice(word: Option<&str>, default: &ConversationChoice) -> ConversationChoice {
    match word {
        None => default.clone(),
        Some("new") => ConversationChoice::New,
        Some("last") => ConversationChoice::Last,
        Some(id) => ConversationChoice::Id(ConversationId::new(id)),
    }
}
