//! The five provider protocols, as a server speaks them: replies out, texts in.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;

use limpid_model::script::Reply;
use serde_json::Value;

/// A provider protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI Chat Completions and everything compatible.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
}

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

impl Wire {
    /// Every protocol.
    pub const ALL: [Self; 5] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The protocol's name, as `Prepared::protocol` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The protocol that a path asks for.
    pub fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        [
            ("/chat/completions", Self::OpenAiChat),
            ("/responses", Self::OpenAiResponses),
            ("/messages", Self::Anthropic),
            (":streamGenerateContent", Self::Gemini),
            ("/api/chat", Self::Ollama),
        ]
        .into_iter()
        .find_map(|(end, wire)| path.ends_with(end).then_some(wire))
    }

    /// A reply as the body of this protocol's stream, whole.
    pub fn body(self, reply: &Reply, model: &str) -> String {
        let Spoken { pieces, end } = self.speak(reply, model);
        pieces.into_iter().chain(end).collect()
    }

    /// The texts of a request's messages, in their order.
    pub fn texts(self, body: &Value) -> Vec<SentText> {
        match self {
            Self::OpenAiChat | Self::Ollama => openai_chat::texts(body),
            Self::OpenAiResponses => openai_responses::texts(body),
            Self::Anthropic => anthropic::texts(body),
            Self::Gemini => gemini::texts(body),
        }
    }

    pub(crate) fn speak(self, reply: &Reply, model: &str) -> Spoken {
        match self {
            Self::OpenAiChat => openai_chat::speak(reply, model),
            Self::OpenAiResponses => openai_responses::speak(reply, model),
            Self::Anthropic => anthropic::speak(reply, model),
            Self::Gemini => gemini::speak(reply, model),
            Self::Ollama => ollama::speak(reply, model),
        }
    }

    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }

    /// What keeps a connection open without saying anything.
    pub(crate) const fn comment(self) -> &'static str {
        match self {
            Self::Ollama => "\n",
            _ => ": keep-alive\n\n",
        }
    }
}

impl SentText {
    fn new(role: &str, text: impl Into<String>) -> Self {
        // What OpenAI's reasoning models call the system.
        let role = if role == "developer" { "system" } else { role };
        Self { role: role.to_owned(), text: text.into() }
    }
}

/// The text of a content that is a string or a list of blocks.
fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Arguments in two pieces, as servers stream them.
fn halves(arguments: &str) -> [&str; 2] {
    let middle = (arguments.len() / 2..=arguments.len()).find(|at| arguments.is_char_boundary(*at));
    let (first, second) = arguments.split_at(middle.unwrap_or(arguments.len()));
    [first, second]
}

/// One server-sent event without a name.
fn data(payload: &Value) -> String {
    format!("data: {payload}\n\n")
}

/// One server-sent event, named by the `type` of its payload.
fn event(payload: &Value) -> String {
    format!("event: {}\n{}", payload["type"].as_str().unwrap_or_default(), data(payload))
}
