//! OpenAI Chat Completions, and everything that calls itself compatible.

use std::borrow::Cow;

use limpid_core::Role;
use limpid_prompt::inputs::CallInput;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::collect::{Collect, Pending};
use super::{Decoder, Dialect, effort};
use crate::errors::Fault;
use crate::json::to_json;
use crate::model::{FinishReason, ModelEvent, On, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage, WireTool};

/// The messages are first and what a turn may change behind them, so that a later turn's body begins with all the
/// bytes of an earlier one's messages.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Function<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(flatten)]
    effort: effort::Chat,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Option<Content<'a>>,
    #[serde(flatten)]
    reasoning: Reasoning<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

/// The reasoning of a message with calls, under the name that the server gave it.
#[derive(Default, Deserialize, Serialize)]
struct Reasoning<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts([Part<'a>; 1]),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
struct Part<'a> {
    text: &'a str,
    cache_control: CacheControl,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(flatten)]
    function: Function<Arguments<'a>>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// `{"type":"function","function":…}`, in which the protocol wraps everything about tools.
#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
pub(super) struct Function<T> {
    function: T,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Function(Function<Named<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "json_schema")]
struct ResponseFormat<'a> {
    json_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    name: &'a str,
    schema: &'a Value,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

pub(super) fn body(call: &WireCall<'_>, dialect: Dialect) -> String {
    let limit = call.sampling.max_output;
    to_json(&Body {
        model: call.model,
        messages: call.messages.iter().map(|one| message(one, dialect)).collect(),
        tools: call.tools.iter().map(tool).collect(),
        tool_choice: tool_choice(&call.choice).filter(|_| !call.tools.is_empty()),
        response_format: response_format(&call.reply),
        temperature: call.sampling.temperature,
        top_p: call.sampling.top_p,
        seed: call.sampling.seed,
        max_completion_tokens: limit.filter(|_| dialect.completion_limit),
        max_tokens: limit.filter(|_| !dialect.completion_limit),
        prompt_cache_key: call.conversation.filter(|_| dialect.cache_key),
        effort: effort::chat(call.reasoning),
        stream: true,
        stream_options: (!dialect.counts_unasked).then_some(StreamOptions { include_usage: true }),
    })
}

fn message<'a>(message: &'a WireMessage<'_>, dialect: Dialect) -> Message<'a> {
    let text = &*message.text;
    let content = if text.is_empty() && !message.calls.is_empty() {
        None
    } else if message.cache_mark && dialect.cache_marks {
        Some(Content::Parts([Part { text, cache_control: CacheControl::Ephemeral }]))
    } else {
        Some(Content::Text(text))
    };
    let call = |call: &'a CallInput| Call {
        id: &call.id,
        function: Function { function: Arguments { name: &call.name, arguments: &call.arguments } },
    };
    Message {
        role: message.role.as_str(),
        content,
        reasoning: message
            .state
            .first()
            .and_then(|state| serde_json::from_str(state.json.get()).ok())
            .unwrap_or_default(),
        tool_calls: message.calls.iter().map(call).collect(),
        tool_call_id: message.call_id.as_deref().filter(|_| message.role == Role::Tool),
    }
}

pub(super) fn tool<'a>(tool: &'a WireTool<'_>) -> Function<Tool<'a>> {
    Function { function: Tool { name: &tool.name, description: tool.description, parameters: tool.schema } }
}

fn tool_choice(choice: &ToolUse) -> Option<Choice<'_>> {
    match choice {
        ToolUse::Auto => None,
        ToolUse::Never => Some(Choice::Word("none")),
        ToolUse::Must(name) => Some(Choice::Function(Function { function: Named { name } })),
    }
}

fn response_format(reply: &ReplyForm) -> Option<ResponseFormat<'_>> {
    let ReplyForm::Json { name, schema } = reply else { return None };
    Some(ResponseFormat { json_schema: Schema { name, schema } })
}

/// A reply's stream.
pub(super) struct Stream {
    reply: Collect,
    /// Whether the server wants the reasoning of messages with calls back.
    wants_back: bool,
    /// The reasoning so far, and the name by which it came.
    reasoning: Option<(&'static str, String)>,
}

impl Stream {
    pub(super) fn new(ids: CallIds, wants_back: bool) -> Self {
        Self { reply: Collect::new(ids), wants_back, reasoning: None }
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let calls = self.reply.started() > 0;
        if let Some((name, text)) = self.reasoning.take().filter(|_| calls) {
            let state = serde_json::json!({ name: text });
            self.reply.state(state.to_string(), On::Answer, events);
        }
        self.reply.end(events)
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<ModelEvent>) {
        // A server that does not stream sends `message` in place of `delta`.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        for field in ["reasoning_content", "reasoning"] {
            if let Some(text) = delta[field].as_str() {
                self.reply.reasoning(text, events);
                if self.wants_back && !text.is_empty() {
                    self.reasoning.get_or_insert_with(|| (field, String::new())).1.push_str(text);
                }
                break;
            }
        }
        for text in [text_of(&delta["content"]), text_of(&delta["refusal"])] {
            self.reply.text(&text, events);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call);
        }
        if let Some(old) = delta["function_call"].as_object() {
            self.call(&serde_json::json!({ "index": 0, "function": old }));
        }
        // Some servers send an empty word with every piece.
        if let Some(word) = choice["finish_reason"].as_str().filter(|word| !word.is_empty()) {
            self.reply.finished(finish_reason(word));
        }
    }

    /// One piece of a call. Servers that give every call the same place are told apart by a new name or id.
    fn call(&mut self, piece: &Value) {
        let function = &piece["function"];
        let id = piece["id"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let known = match piece["index"].as_u64() {
            Some(place) => self.reply.call_at(place),
            None if id.is_empty() && name.is_empty() => self.reply.last_call(),
            None => None,
        };
        let goes_on = known.filter(|call| {
            let other_id = !id.is_empty() && !call.id.is_empty() && id != call.id;
            let starts_again = !name.is_empty() && !call.arguments.is_empty() && id != call.id;
            !other_id && !starts_again
        });
        let call = match goes_on {
            Some(call) => call,
            None => self
                .reply
                .start_call(Pending { place: piece["index"].as_u64().unwrap_or_default(), ..Pending::default() }),
        };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        call.add(&function["arguments"]);
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let payload = payload.trim();
        if payload == "[DONE]" {
            if !self.reply.is_finished() {
                self.reply.finished(FinishReason::Stop);
            }
            return self.end(events);
        }
        let chunk = Fault::parse(payload)?;
        Fault::check(&chunk)?;
        if let Some(usage) = chunk["usage"].as_object() {
            let count = |name: &str| usage.get(name).and_then(Value::as_u64);
            let details = &chunk["usage"]["prompt_tokens_details"];
            self.reply.count(|total| {
                total.input = count("prompt_tokens").unwrap_or(total.input);
                total.output = count("completion_tokens").unwrap_or(total.output);
                let cached = details["cached_tokens"].as_u64().or_else(|| count("prompt_cache_hit_tokens"));
                total.cached = cached.unwrap_or(total.cached);
                let reasoning = chunk["usage"]["completion_tokens_details"]["reasoning_tokens"].as_u64();
                total.reasoning = reasoning.unwrap_or(total.reasoning);
                total.audio = details["audio_tokens"].as_u64().unwrap_or(total.audio);
                total.cache_written = details["cache_write_tokens"].as_u64().unwrap_or(total.cache_written);
            });
        }
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            // Only one answer was asked for.
            if choice["index"].as_u64().unwrap_or_default() == 0 {
                self.choice(choice, events);
            }
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.end(events)
    }
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "stop" | "eos" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::Calls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" | "refusal" => FinishReason::Moderated,
        other => FinishReason::Other(other.to_owned()),
    }
}

/// The text of a content that is a string or a list of parts.
fn text_of(content: &Value) -> Cow<'_, str> {
    match content {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(parts) => {
            let text = |part: &Value| part.as_str().or_else(|| part["text"].as_str()).map(str::to_owned);
            Cow::Owned(parts.iter().filter_map(text).collect())
        }
        _ => Cow::Borrowed(""),
    }
}
