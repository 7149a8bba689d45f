//! How providers of one protocol differ.

use limpid_core::Role;
use serde::Deserialize;

use crate::openai_names::is_openai_reasoning;

/// In what providers of one protocol differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// The limit of the reply is called `max_completion_tokens`, not `max_tokens`.
    pub completion_limit: bool,
    /// A name for the conversation is taken as `prompt_cache_key`.
    pub cache_key: bool,
    /// Names of calls are nine letters or digits.
    pub nine_letter_ids: bool,
    /// The name of the conversation goes in the header `x-grok-conv-id`.
    pub grok_header: bool,
    /// Tokens are counted unasked, and `stream_options` is refused.
    pub counts_unasked: bool,
    /// `cache_control` marks are taken in the parts of a message.
    pub cache_marks: bool,
}

/// What the author of a message is called: OpenAI's reasoning models, whoever serves them, have developers for a system.
pub(super) fn role_word(role: Role, model: &str) -> &'static str {
    match role {
        Role::System if is_openai_reasoning(model) => "developer",
        role => role.as_str(),
    }
}
