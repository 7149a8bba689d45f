//! Provider protocols: each is two pure functions, from a call to body bytes and from a stream to events.

mod anthropic;
mod collect;
mod decoder;
mod dialect;
mod effort;
mod frames;
mod gateway;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
mod think;

use crate::abilities::EffortForm;
use crate::call_ids::CallIds;
use crate::model::StateRule;
use crate::wire::{CallNames, NameRules, SchemaRules, WireCall, Words};

use collect::Collect;
pub(crate) use decoder::Decoder;
pub use dialect::Dialect;
pub(crate) use frames::{Frames, MAX_FRAME};
pub use limpid_core::Protocol;

/// The window that an Ollama server is asked for when nobody said how large it is to be, in tokens. Its own default is so
/// small that it cuts prompts in silence.
pub(crate) const MOST_UNASKED: u32 = 32_768;

#[cfg(test)]
mod tests;

/// What a protocol makes of a call and of a reply.
pub(crate) trait Adapter: Copy {
    /// The path after the base URL.
    fn path(self, model: &str) -> String;

    /// The path that lists the models.
    fn list_path(self) -> &'static str;

    /// The path of embeddings; none where there are none.
    fn embeddings_path(self) -> Option<&'static str>;

    /// The body of a call, byte for byte.
    fn body(self, call: &WireCall<'_>, dialect: Dialect) -> String;

    /// Which names of tools and calls are taken.
    fn names(self, dialect: Dialect) -> NameRules;

    /// Which schemas of tools are taken.
    fn schemas(self) -> SchemaRules;

    /// Whether the system text is a message among the others.
    fn has_system_message(self) -> bool;

    /// Whether arguments of tools can be held to a schema in which everything is required.
    fn has_strict_tools(self) -> bool;

    /// Whether tools can be declared that are read only once they were found.
    fn has_tool_search(self) -> bool;

    /// Reads a reply's stream. `opened` is whether a text may begin inside the model's reasoning.
    fn decoder(self, ids: CallIds, rule: StateRule, opened: bool) -> Box<dyn Decoder>;

    /// Which state a model of this protocol gets back.
    fn state_rule(self, known: StateRule) -> StateRule;

    /// How its models are told how much to reason, where nothing else is known.
    fn effort_form(self) -> EffortForm;

    /// How the stream is cut into frames.
    fn frames(self) -> Frames;
}

/// What a recorded reply says, in whatever pieces its bytes came, and whether it was whole.
pub fn events_of<'a>(protocol: Protocol, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<crate::ModelEvent>, bool) {
    let mut frames = protocol.frames();
    let rule = protocol.state_rule(StateRule { in_chat: true, ..StateRule::default() });
    let mut decoder = protocol.decoder(CallIds::at(0), rule, false);
    let mut events = Vec::new();
    let mut payloads = Vec::new();
    for piece in pieces {
        let Ok(more) = frames.feed(piece) else { return (events, false) };
        payloads.extend(more);
    }
    payloads.extend(frames.finish());
    let whole = payloads.iter().try_for_each(|payload| decoder.feed(payload, &mut events));
    let whole = whole.and_then(|()| decoder.finish(&mut events));
    (events, whole.is_ok())
}

impl Adapter for Protocol {
    fn path(self, model: &str) -> String {
        match self {
            Self::OpenaiChat => "/chat/completions".to_owned(),
            Self::OpenaiResponses => "/responses".to_owned(),
            Self::Anthropic => "/messages".to_owned(),
            Self::Gemini => format!("/models/{model}:streamGenerateContent?alt=sse"),
            Self::Ollama => "/api/chat".to_owned(),
        }
    }

    fn list_path(self) -> &'static str {
        match self {
            Self::Ollama => "/api/tags",
            _ => "/models",
        }
    }

    fn embeddings_path(self) -> Option<&'static str> {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses => Some("/embeddings"),
            Self::Ollama => Some("/v1/embeddings"),
            Self::Anthropic | Self::Gemini => None,
        }
    }

    fn body(self, call: &WireCall<'_>, dialect: Dialect) -> String {
        match self {
            Self::OpenaiChat => openai_chat::body(call, dialect),
            Self::OpenaiResponses => openai_responses::body(call),
            Self::Anthropic => anthropic::body(call),
            Self::Gemini => gemini::body(call),
            Self::Ollama => ollama::body(call),
        }
    }

    fn names(self, dialect: Dialect) -> NameRules {
        let calls = match self {
            Self::Anthropic => CallNames::Plain,
            Self::OpenaiChat if dialect.nine_letter_ids => CallNames::Nine,
            Self::OpenaiChat | Self::OpenaiResponses => CallNames::Short,
            Self::Gemini | Self::Ollama => CallNames::Any,
        };
        NameRules { calls, letter_first: matches!(self, Self::Gemini) }
    }

    fn schemas(self) -> SchemaRules {
        let words = match self {
            Self::Anthropic | Self::OpenaiResponses => Words::All,
            // Many servers speak this, each with its own idea of what a schema is.
            Self::OpenaiChat | Self::Ollama => Words::Common,
            Self::Gemini => Words::Gemini,
        };
        SchemaRules { words, plain_names: matches!(self, Self::Anthropic | Self::Gemini) }
    }

    fn has_system_message(self) -> bool {
        matches!(self, Self::OpenaiChat | Self::OpenaiResponses | Self::Ollama)
    }

    fn has_strict_tools(self) -> bool {
        matches!(self, Self::OpenaiChat | Self::OpenaiResponses)
    }

    fn has_tool_search(self) -> bool {
        matches!(self, Self::Anthropic | Self::OpenaiResponses)
    }

    fn decoder(self, ids: CallIds, rule: StateRule, opened: bool) -> Box<dyn Decoder> {
        let collect = |ids| if opened { Collect::new(ids).opened() } else { Collect::new(ids) };
        match self {
            Self::OpenaiChat => Box::new(openai_chat::Stream::new(collect(ids), rule.in_chat)),
            Self::OpenaiResponses => Box::new(openai_responses::Stream::new(ids)),
            Self::Anthropic => Box::new(anthropic::Stream::new(ids)),
            Self::Gemini => Box::new(gemini::Stream::new(ids)),
            Self::Ollama => Box::new(ollama::Stream::new(collect(ids))),
        }
    }

    fn state_rule(self, known: StateRule) -> StateRule {
        // Reasoning that is plain text is read by any model, and Claude models leave out what they cannot read.
        let of_provider = match self {
            Self::OpenaiChat => known.in_chat,
            Self::Anthropic | Self::Ollama => true,
            Self::OpenaiResponses | Self::Gemini => false,
        };
        StateRule {
            protocol: Some(self.as_str()),
            of_provider,
            bound: Some(known.bound.unwrap_or(self == Self::Anthropic)),
            in_chat: known.in_chat,
        }
    }

    fn effort_form(self) -> EffortForm {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses | Self::Gemini => EffortForm::Level,
            Self::Anthropic => EffortForm::Adaptive,
            Self::Ollama => EffortForm::Switch,
        }
    }

    fn frames(self) -> Frames {
        match self {
            Self::Ollama => Frames::lines(),
            _ => Frames::events(),
        }
    }
}
