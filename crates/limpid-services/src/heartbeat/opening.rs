//! The opening of a heartbeat's prompt: the owner's own words, or the profile's in their place.

use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::{HeartbeatInput, Inputs};
use limpid_prompt::{Profile, RenderRequest};

use crate::error::AgentError;
use crate::heartbeat::PATH;

/// Stands for the owner's words where a profile puts them; nobody writes it.
const MARK: &str = "\u{f8ff}";

/// What a heartbeat's prompt opens with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatOpening {
    /// The owner's own words, when they set some.
    pub custom: Option<String>,
    /// What the profile says without them; none when it has no place for an opening.
    pub default: Option<String>,
}

impl HeartbeatOpening {
    /// The words that a run is sent.
    pub fn text(&self) -> Option<&str> {
        self.default.as_ref()?;
        self.custom.as_deref().or(self.default.as_deref())
    }
}

/// The profile's own opening; none when it has no place for one.
///
/// # Errors
/// When the profile cannot be rendered.
pub fn default_opening(profile: &Profile) -> Result<Option<String>, AgentError> {
    let render = |prompt: &str| rendered(profile, prompt).map_err(|error| AgentError::Prompt(error.to_string()));
    Ok(replaced(&render("")?, &render(MARK)?))
}

/// The text of a heartbeat's prompt with this opening and nothing else.
fn rendered(profile: &Profile, prompt: &str) -> Result<String, limpid_prompt::RenderError> {
    let heartbeat = HeartbeatInput { prompt: Some(prompt.to_owned()), ..HeartbeatInput::default() };
    let inputs = Inputs { heartbeat, ..Inputs::default() };
    let request = RenderRequest { path: PATH, inputs: &inputs, counter: &Estimate::default(), count_tokens: false };
    let prompt = profile.render(request)?;
    Ok(prompt.messages().iter().map(limpid_prompt::PromptMessage::text).collect::<Vec<_>>().join("\n"))
}

/// What stands in the one text in the place where the mark stands in the other.
fn replaced(default: &str, marked: &str) -> Option<String> {
    let (before, after) = marked.split_once(MARK)?;
    let text = default.strip_prefix(before)?.strip_suffix(after)?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // KAI-074
    #[test]
    fn the_default_is_what_the_owners_words_would_replace() {
        assert_eq!(replaced("A.\nLook.\nZ.", "A.\n\u{f8ff}\nZ.").as_deref(), Some("Look."));
        assert_eq!(replaced("A.", "A."), None, "the profile has no place for it");
        assert_eq!(replaced("A.\n\nZ.", "A.\n\u{f8ff}\nZ."), None);
    }
}
