//! Which conversations answer with screens: all where the owner wants it, and interactive ones, as far as profile and model can.

use limpid_config::{Config, UiSetting};
use limpid_core::ToolProtocol;
use limpid_model::ModelCard;
use limpid_prompt::Profile;
use limpid_prompt::inputs::UiMode;
use limpid_store::{Audience, ConversationKind};

use crate::error::AgentError;

/// The path of chats whose model is elsewhere.
const REMOTE: &str = "chat-remote";

/// What the prompts of profiles that teach screens ask for.
const FIELD: &str = "ui_mode";

/// What answers of a conversation may hold, where its prompts say how.
pub fn ui_mode(
    config: &Config,
    (kind, audience): (ConversationKind, Audience),
    card: &ModelCard,
    (profile, path): (&Profile, &str),
) -> UiMode {
    if card.tools == ToolProtocol::None || audience == Audience::Strangers || !teaches(profile, path) {
        return UiMode::None;
    }
    match kind {
        ConversationKind::Interactive if !card.local => UiMode::Interactive,
        ConversationKind::Chat | ConversationKind::Heartbeat if config.chat.ui_mode == UiSetting::Dynamic => {
            UiMode::Dynamic
        }
        _ => UiMode::None,
    }
}

/// Whether screens in answers of a conversation are drawn. What is filled into a form goes to whoever gets the answers, so none is
/// drawn where these are strangers.
pub fn draws(config: &Config, kind: ConversationKind, audience: Audience) -> bool {
    let wants = kind == ConversationKind::Interactive || config.chat.ui_mode == UiSetting::Dynamic;
    wants && audience != Audience::Strangers
}

/// Whether a conversation may be interactive.
///
/// # Errors
/// Why it may not.
pub fn may_be_interactive(card: &ModelCard, profile: &Profile) -> Result<(), AgentError> {
    let why = match () {
        () if card.local => {
            format!("`{}` runs on this machine and is too small for it; choose another with /model", card.id)
        }
        () if card.tools == ToolProtocol::None => {
            format!("`{}` cannot call tools; choose another with /model", card.id)
        }
        () if !teaches(profile, REMOTE) => {
            format!("the profile `{}` does not teach it; choose another with /profile", profile.name())
        }
        () => return Ok(()),
    };
    Err(AgentError::Invalid(format!("There is no interactive mode here: {why}.")))
}

fn teaches(profile: &Profile, path: &str) -> bool {
    profile.path(path).is_ok_and(|path| profile.quotes(path, FIELD))
}
