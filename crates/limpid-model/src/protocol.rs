//! Provider protocols: each is two pure functions, from a call to body bytes and from a stream to events.

mod anthropic;
mod collect;
mod effort;
mod frames;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
mod think;

use serde::Deserialize;

use crate::abilities::EffortForm;
use crate::errors::Fault;
use crate::model::{ModelEvent, StateRule};
use crate::wire::{CallIds, CallNames, NameRules, WireCall};

pub(crate) use frames::{Frames, MAX_FRAME};

/// The window that an Ollama server is asked for when nobody said how large it is to be, in tokens. Its own default is so
/// small that it cuts prompts in silence.
pub(crate) const MOST_UNASKED: u32 = 32_768;

#[cfg(test)]
mod tests;

/// A protocol that a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// OpenAI Chat Completions and everything compatible.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
}

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

/// A stream that is being read: payloads in, events out.
pub(crate) trait Decoder: Send + Sync {
    /// Takes the payload of one frame.
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault>;

    /// Ends the reply: what was held back, what was counted, and why it is over.
    ///
    /// A stream that broke off before its end is a fault, and none of its calls are reported (LES-141).
    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault>;
}

impl Protocol {
    /// The protocol's name, as [`crate::Prepared::protocol`] has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The path after the base URL.
    pub(crate) fn path(self, model: &str) -> String {
        match self {
            Self::OpenaiChat => "/chat/completions".to_owned(),
            Self::OpenaiResponses => "/responses".to_owned(),
            Self::Anthropic => "/messages".to_owned(),
            Self::Gemini => format!("/models/{model}:streamGenerateContent?alt=sse"),
            Self::Ollama => "/api/chat".to_owned(),
        }
    }

    /// The path that lists the models.
    pub(crate) const fn list_path(self) -> &'static str {
        match self {
            Self::Ollama => "/api/tags",
            _ => "/models",
        }
    }

    /// The body of a call, byte for byte.
    pub(crate) fn body(self, call: &WireCall<'_>, dialect: Dialect) -> String {
        match self {
            Self::OpenaiChat => openai_chat::body(call, dialect),
            Self::OpenaiResponses => openai_responses::body(call),
            Self::Anthropic => anthropic::body(call),
            Self::Gemini => gemini::body(call),
            Self::Ollama => ollama::body(call),
        }
    }

    /// Which names of tools and calls are taken.
    pub(crate) const fn names(self, dialect: Dialect) -> NameRules {
        let calls = match self {
            Self::Anthropic => CallNames::Plain,
            Self::OpenaiChat if dialect.nine_letter_ids => CallNames::Nine,
            Self::OpenaiChat | Self::OpenaiResponses => CallNames::Short,
            Self::Gemini | Self::Ollama => CallNames::Any,
        };
        NameRules { calls, letter_first: matches!(self, Self::Gemini) }
    }

    /// Reads a reply's stream.
    pub(crate) fn decoder(self, ids: CallIds, rule: StateRule) -> Box<dyn Decoder> {
        match self {
            Self::OpenaiChat => Box::new(openai_chat::Stream::new(ids, rule.in_chat)),
            Self::OpenaiResponses => Box::new(openai_responses::Stream::new(ids)),
            Self::Anthropic => Box::new(anthropic::Stream::new(ids)),
            Self::Gemini => Box::new(gemini::Stream::new(ids)),
            Self::Ollama => Box::new(ollama::Stream::new(ids)),
        }
    }

    /// Which state a model of this protocol gets back.
    pub(crate) fn state_rule(self, known: StateRule) -> StateRule {
        let reads = match self {
            Self::OpenaiChat => known.in_chat,
            Self::OpenaiResponses | Self::Anthropic | Self::Gemini => true,
            Self::Ollama => false,
        };
        StateRule {
            protocol: reads.then_some(self.name()),
            // Reasoning that is plain text is read by any model, and Claude models leave out what they cannot read.
            of_provider: matches!(self, Self::OpenaiChat | Self::Anthropic),
            bound: Some(known.bound.unwrap_or(self == Self::Anthropic)),
            in_chat: known.in_chat,
        }
    }

    /// How its models are told how much to reason, where nothing else is known.
    pub(crate) const fn effort_form(self) -> EffortForm {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses | Self::Gemini => EffortForm::Level,
            Self::Anthropic => EffortForm::Adaptive,
            Self::Ollama => EffortForm::Switch,
        }
    }

    /// How the stream is cut into frames.
    pub(crate) fn frames(self) -> Frames {
        match self {
            Self::Ollama => Frames::lines(),
            _ => Frames::events(),
        }
    }
}
