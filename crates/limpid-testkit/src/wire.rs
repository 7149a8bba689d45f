//! The five provider protocols, as a server speaks them: replies out, texts in.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
mod words;

use limpid_model::script::Reply;
use serde_json::Value;

pub use words::SentText;
pub(crate) use words::Spoken;

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
