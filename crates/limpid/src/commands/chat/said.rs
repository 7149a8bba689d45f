//! What a person says.

use limpid_core::Labelled;
use limpid_runtime::{ChatRequest, ConversationChoice};

use crate::cli::TalkArgs;

/// What is said at once.
#[derive(Default)]
pub(super) struct Said {
    /// What the owner typed.
    pub(super) text: String,
    /// What goes with it, and who wrote it.
    pub(super) handed_in: Option<Labelled<String>>,
    /// What of the text was piped or pasted in and the owner says is their own.
    pub(super) made_mine: Option<String>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// What is asked of the agent for it.
pub(super) fn request(talk: &TalkArgs, conversation: ConversationChoice, said: Said, can_answer: bool) -> ChatRequest {
    ChatRequest {
        conversation,
        text: said.text,
        handed_in: said.handed_in,
        made_mine: said.made_mine,
        profile: talk.profile.clone(),
        mode: talk.mode.clone(),
        model: talk.model.clone(),
        effort: talk.effort,
        can_answer,
        ..ChatRequest::default()
    }
}
