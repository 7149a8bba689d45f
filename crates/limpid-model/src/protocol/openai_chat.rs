//! OpenAI Chat Completions, and everything that calls itself compatible.

use limpid_core::Role;
use limpid_core::state::Piece;
use limpid_prompt::inputs::CallInput;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::collect::{Collect, Pending};
use super::gateway::Gateway;
use super::{Decoder, Dialect, effort, role_word};
use crate::errors::Fault;
use crate::json::to_json;
use crate::model::{FinishReason, ModelEvent, On, ReplyForm, ToolUse};
use crate::wire::{WireCall, WireMessage, WireTool};

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
    back: Back<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

/// What the server wants back with a message, under the names that it gave.
#[derive(Default, Deserialize, Serialize)]
struct Back<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    thinking_blocks: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    provider_specific_fields: Option<&'a RawValue>,
}

/// What the server wants back with a call.
#[derive(Default, Deserialize, Serialize)]
struct CallBack<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    provider_specific_fields: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing)]
    function: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    /// A part of the provider's own, as it came.
    #[serde(untagged)]
    Given(&'a RawValue),
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
    #[serde(flatten)]
    back: CallBack<'a>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    name: &'a str,
    arguments: &'a str,
    #[serde(flatten)]
    back: CallBack<'a>,
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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
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
        messages: call.messages.iter().map(|one| message(one, call, dialect)).collect(),
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

fn message<'a>(message: &'a WireMessage<'_>, call: &WireCall<'_>, dialect: Dialect) -> Message<'a> {
    let text = &*message.text;
    let pieces = message.pieces();
    let mut back = Back::default();
    let mut parts = Vec::new();
    let mut has_given = false;
    let mut of_calls: Vec<CallBack<'_>> = Vec::new();
    for piece in &pieces {
        match *piece {
            Piece::Text(text, _) => parts.push(Part::Text { text, cache_control: None }),
            Piece::Between(state) if is_chunk(state.json) => {
                has_given = true;
                parts.push(Part::Given(state.json));
            }
            Piece::Between(state) => back = serde_json::from_str(state.json.get()).unwrap_or_default(),
            Piece::Call(_, state) => {
                of_calls.push(state.and_then(|state| serde_json::from_str(state.json.get()).ok()).unwrap_or_default());
            }
        }
    }
    if !call.reasoning_back {
        (back.reasoning_content, back.reasoning) = (None, None);
    }
    let content = if has_given {
        Some(Content::Parts(parts))
    } else if text.is_empty() && !message.calls.is_empty() {
        None
    } else if message.cache_mark && dialect.cache_marks {
        Some(Content::Parts(vec![Part::Text { text, cache_control: Some(CacheControl::Ephemeral) }]))
    } else {
        Some(Content::Text(text))
    };
    let tool_call = |(call, back): (&'a CallInput, CallBack<'a>)| {
        let of_function = back.function.and_then(|function| serde_json::from_str(function.get()).ok());
        let arguments =
            Arguments { name: &call.name, arguments: &call.arguments, back: of_function.unwrap_or_default() };
        Call { id: &call.id, function: Function { function: arguments }, back }
    };
    Message {
        role: role_word(message.role, call.model),
        content,
        back,
        tool_calls: message.calls.iter().zip(of_calls).map(tool_call).collect(),
        tool_call_id: message.call_id.as_deref().filter(|_| message.role == Role::Tool),
    }
}

/// Whether state is a part of the content, and not fields beside it.
fn is_chunk(json: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Chunk {
        r#type: Option<String>,
    }
    serde_json::from_str(json.get()).is_ok_and(|chunk: Chunk| chunk.r#type.is_some())
}

pub(super) fn tool<'a>(tool: &'a WireTool<'_>) -> Function<Tool<'a>> {
    let WireTool { name, description, schema, strict } = tool;
    Function { function: Tool { name, description, parameters: schema, strict: *strict } }
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
    /// What the provider behind the server wants back.
    gateway: Gateway,
    /// A part of the content that holds reasoning, and its text so far.
    thinking: Option<(Map<String, Value>, String)>,
}

impl Stream {
    pub(super) fn new(reply: Collect, wants_back: bool) -> Self {
        Self { reply, wants_back, reasoning: None, gateway: Gateway::default(), thinking: None }
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.end_thinking(events);
        let calls = self.reply.started() > 0;
        for (at, fields) in self.gateway.calls() {
            self.reply.state(Value::Object(fields).to_string(), On::Call(at), events);
        }
        let mut back = self.gateway.message();
        if let Some((name, text)) = self.reasoning.take().filter(|_| calls) {
            back.insert(name.to_owned(), text.into());
        }
        if !back.is_empty() {
            self.reply.state(Value::Object(back).to_string(), On::Answer, events);
        }
        self.reply.end(events)
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<ModelEvent>) {
        // A server that does not stream sends `message` in place of `delta`.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        self.gateway.feed(delta);
        let said = ["reasoning_content", "reasoning"].into_iter().find_map(|name| Some((name, delta[name].as_str()?)));
        match said {
            Some((name, text)) => {
                self.reply.reasoning(text, events);
                if self.wants_back && !text.is_empty() {
                    self.reasoning.get_or_insert_with(|| (name, String::new())).1.push_str(text);
                }
            }
            None => self.reply.reasoning(&Gateway::words(delta), events),
        }
        self.content(&delta["content"], events);
        self.reply.text(delta["refusal"].as_str().unwrap_or_default(), events);
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

    /// A content that is a text or a list of parts, some of which may hold reasoning.
    fn content(&mut self, content: &Value, events: &mut Vec<ModelEvent>) {
        let parts = match content {
            Value::Array(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        for part in parts {
            if part["type"] == "thinking" {
                let words: String = part["thinking"].as_array().map_or_else(
                    || part["thinking"].as_str().unwrap_or_default().to_owned(),
                    |all| all.iter().filter_map(|one| one["text"].as_str()).collect(),
                );
                self.reply.reasoning(&words, events);
                let fields = part.as_object().cloned().unwrap_or_default();
                let open = self.thinking.get_or_insert_with(|| (Map::new(), String::new()));
                open.0.extend(fields);
                open.1.push_str(&words);
            } else if let Some(text) = part.as_str().or_else(|| part["text"].as_str()).filter(|text| !text.is_empty()) {
                self.end_thinking(events);
                self.reply.text(text, events);
            }
        }
    }

    /// Ends a part that holds reasoning; it goes back as it came, but in one piece.
    fn end_thinking(&mut self, events: &mut Vec<ModelEvent>) {
        if let Some((mut fields, text)) = self.thinking.take() {
            fields.insert("thinking".to_owned(), serde_json::json!([{"type": "text", "text": text}]));
            self.reply.state(to_json(&fields), On::Place(self.reply.started()), events);
        }
    }

    /// One piece of a call. Servers that give every call the same place are told apart by a new name or id.
    fn call(&mut self, piece: &Value) {
        let function = &piece["function"];
        let id = piece["id"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let known = match piece["index"].as_u64() {
            Some(place) => self
                .reply
                .find_call(|call| call.place == place && (id.is_empty() || call.id.is_empty() || call.id == id)),
            None if !id.is_empty() => self.reply.find_call(|call| call.id == id),
            None if name.is_empty() => self.reply.find_call(|_| true),
            None => None,
        };
        let goes_on = known.filter(|at| {
            let call = self.reply.call(*at);
            let other_id = !id.is_empty() && !call.id.is_empty() && id != call.id;
            let starts_again = !name.is_empty() && !call.arguments.is_empty() && id != call.id;
            !other_id && !starts_again
        });
        let at = goes_on.unwrap_or_else(|| {
            let place = piece["index"].as_u64().unwrap_or_default();
            self.reply.start_call(Pending { place, ..Pending::default() });
            self.reply.started() - 1
        });
        let call = self.reply.call(at);
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        call.add(&function["arguments"]);
        self.gateway.feed_call(at, piece);
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
                total.cache_written = details["cache_write_tokens"].as_u64().unwrap_or(total.cache_written);
            });
        }
        if let Some(dollars) = chunk["usage"]["cost"].as_f64() {
            self.reply.charged(dollars);
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
