//! What a person says.

use limpid_core::Labelled;
use limpid_runtime::ui::live;
use limpid_runtime::{Agent, ChatRequest, ConversationChoice};

use crate::cli::TalkArgs;
use crate::failure::Failure;

/// What is said at once.
#[derive(Default)]
pub(super) struct Said {
    /// What the owner typed.
    pub(super) text: String,
    /// What goes with it, and who wrote it.
    pub(super) handed_in: Option<Labelled<String>>,
    /// What of the text was piped or pasted in and the owner says is their own.
    pub(super) made_mine: Option<String>,
    /// What the person is told of it.
    pub(super) notice: Option<&'static str>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// What a typed number says, such as `2` or `1 day: Tomorrow`, where the newest answer has a screen with that number. Its words
/// are the model's, and have the label of that answer.
///
/// # Errors
/// When the store cannot be read.
pub(super) async fn pressed(
    agent: &Agent,
    conversation: &ConversationChoice,
    line: &str,
) -> Result<Option<Said>, Failure> {
    if !line.trim_start().starts_with(|letter: char| letter.is_ascii_digit()) {
        return Ok(None);
    }
    let Some(here) = agent.directory().find(conversation).await? else { return Ok(None) };
    let pressed = live(agent, &here.id).await?.and_then(|live| live.typed(line));
    Ok(pressed.map(|pressed| Said { handed_in: Some(pressed.said), ..Said::default() }))
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
