//! What is said to the agent.

use limpid_core::attached::AttachedFile;
use limpid_core::{Effort, Labelled};
use limpid_services::directory::ConversationChoice;

/// A message to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatRequest {
    /// The conversation that it belongs to.
    pub conversation: ConversationChoice,
    /// What the owner says.
    pub text: String,
    /// What is handed in with it, such as piped input or a long paste, and who wrote it. It stands before the text, as a
    /// message of its own.
    pub handed_in: Option<Labelled<String>>,
    /// Files that are handed in with it. They stand before what else is, and count as anybody's text.
    pub files: Vec<AttachedFile>,
    /// What of the text was handed in and the owner says is their own: it was not typed, and is kept as that.
    pub made_mine: Option<String>,
    /// Whether a new conversation is an interactive one: each answer is a screen.
    pub interactive: bool,
    /// Whether others read a new conversation too.
    pub others_read: bool,
    /// The profile from here on; absent: the conversation's.
    pub profile: Option<String>,
    /// The mode from here on; absent: the conversation's.
    pub mode: Option<String>,
    /// The model from here on, as `provider/id`; absent: the conversation's.
    pub model: Option<String>,
    /// How much the models are to reason from here on; absent: as the conversation says.
    pub effort: Option<Effort>,
    /// The path for this message; absent: that of the model's kind.
    pub path: Option<String>,
    /// What makes it the same message when it is delivered again in its conversation; where it begins one, together with what it says.
    pub key: Option<String>,
    /// Whether a person listens who answers questions ([`TurnEvent::ApprovalRequested`](crate::TurnEvent::ApprovalRequested)); without one, what needs an
    /// answer is kept as a draft.
    pub can_answer: bool,
    /// Whether whoever asks is given the answer alone: what the owner is told once waits for another turn of theirs.
    pub hides_notices: bool,
    /// Whether it comes from somebody behind a program at which nobody sits. What they say goes into conversations whose answers go
    /// to them, and nothing else does.
    pub by_stranger: bool,
}

impl ChatRequest {
    /// Whether it begins a conversation with a message that may be delivered again.
    pub(super) fn begins_with_key(&self) -> bool {
        self.conversation == ConversationChoice::New && self.key.is_some()
    }
}
