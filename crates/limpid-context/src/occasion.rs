//! What a prompt is made for.

use jiff::Timestamp;
use limpid_core::{Entry, Trust};
use limpid_model::ModelCard;
use limpid_store::Conversation;

use crate::window_state::WindowState;

/// What a prompt is for.
#[derive(Clone, Copy)]
pub struct Occasion<'a> {
    /// The conversation, where there is one.
    pub conversation: Option<&'a Conversation>,
    /// The name of the profile.
    pub profile: &'a str,
    /// The path of the profile; none: the one of a conversation with the model.
    pub path: Option<&'a str>,
    /// The mode.
    pub mode: &'a str,
    /// The model, with the window that it has.
    pub card: &'a ModelCard,
    /// Tier and window of the conversation, before this prompt.
    pub window: &'a WindowState,
    /// The newest message, as it was typed.
    pub text: &'a str,
    /// Who wrote the newest message.
    pub trust: Trust,
    /// The tag around the newest message, where one was made for it.
    pub boundary: Option<&'a str>,
    /// Messages before the newest that are answered with it.
    pub unanswered: &'a [Entry],
    /// When the turn began: the one reading of the clock.
    pub now: Timestamp,
    /// Whether it is made to fit the window.
    pub fit: Fit,
}

impl<'a> Occasion<'a> {
    /// A look at a conversation between two turns: what its next request would be made from, without a new message.
    pub const fn between_turns(
        conversation: &'a Conversation,
        mode: &'a str,
        card: &'a ModelCard,
        window: &'a WindowState,
        now: Timestamp,
    ) -> Self {
        Self {
            conversation: Some(conversation),
            profile: conversation.profile.as_str(),
            path: None,
            mode,
            card,
            window,
            text: "",
            trust: Trust::Owner,
            boundary: None,
            unanswered: &[],
            now,
            fit: Fit::AsIs,
        }
    }
}

/// Whether a prompt is only measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// What there is, at whatever size.
    AsIs,
    /// What would be sent.
    ToWindow,
}
