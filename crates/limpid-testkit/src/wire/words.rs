//! Texts of requests and events of replies.

use serde_json::Value;

/// One text of a request, and who speaks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentText {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// The text, byte for byte.
    pub text: String,
}

/// A reply in a protocol's words.
pub(crate) struct Spoken {
    /// The events that carry something.
    pub(crate) pieces: Vec<String>,
    /// The events that say that it is over.
    pub(crate) end: Vec<String>,
}

impl SentText {
    pub(super) fn new(role: &str, text: impl Into<String>) -> Self {
        // What OpenAI's reasoning models call the system.
        let role = if role == "developer" { "system" } else { role };
        Self { role: role.to_owned(), text: text.into() }
    }
}

/// The text of a content that is a string or a list of blocks.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Arguments in two pieces, as servers stream them.
pub(super) fn halves(arguments: &str) -> [&str; 2] {
    let middle = (arguments.len() / 2..=arguments.len()).find(|at| arguments.is_char_boundary(*at));
    let (first, second) = arguments.split_at(middle.unwrap_or(arguments.len()));
    [first, second]
}

/// One server-sent event without a name.
pub(super) fn data(payload: &Value) -> String {
    format!("data: {payload}\n\n")
}

/// One server-sent event, named by the `type` of its payload.
pub(super) fn event(payload: &Value) -> String {
    format!("event: {}\n{}", payload["type"].as_str().unwrap_or_default(), data(payload))
}
