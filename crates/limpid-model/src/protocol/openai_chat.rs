//! OpenAI Chat Completions, and everything that calls itself compatible.

use std::borrow::Cow;

use limpid_core::Role;
use serde_json::Value;

use super::collect::{Collect, Pending};
use super::{Decoder, Dialect};
use crate::errors::Fault;
use crate::json::{Object, array, string};
use crate::model::{FinishReason, ModelEvent, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage, WireTool, bare_id};

/// The messages stand first and what a turn may change behind them, so that a later turn's body begins with all the
/// bytes of an earlier one's messages.
pub(super) fn body(call: &WireCall<'_>, dialect: Dialect) -> String {
    let tools = (!call.tools.is_empty()).then(|| array(call.tools.iter().map(tool)));
    let choice = tools.as_ref().and_then(|_| tool_choice(call.choice));
    let limit = if dialect.completion_limit { "max_completion_tokens" } else { "max_tokens" };
    let key = call.conversation.filter(|_| dialect.cache_key).map(string);
    Object::new()
        .text("model", call.model)
        .raw("messages", array(call.messages.iter().map(|one| message(one, dialect))))
        .maybe("tools", tools)
        .maybe("tool_choice", choice)
        .maybe("response_format", response_format(&call.reply))
        .maybe("temperature", call.sampling.temperature)
        .maybe("top_p", call.sampling.top_p)
        .maybe("seed", call.sampling.seed)
        .maybe(limit, call.sampling.max_output)
        .maybe("prompt_cache_key", key)
        .raw("stream", true)
        .maybe("stream_options", (!dialect.counts_unasked).then_some(r#"{"include_usage":true}"#))
        .end()
}

fn message(message: &WireMessage<'_>, dialect: Dialect) -> String {
    let object = Object::new().text("role", message.role.as_str());
    let object = if message.text.is_empty() && !message.calls.is_empty() {
        object.raw("content", "null")
    } else if message.cache_mark && dialect.cache_marks {
        let part = Object::new().text("type", "text").text("text", &message.text);
        object.raw("content", array([part.raw("cache_control", r#"{"type":"ephemeral"}"#).end()]))
    } else {
        object.text("content", &message.text)
    };
    let calls = message.calls.iter().map(|call| {
        let function = Object::new().text("name", &call.name).text("arguments", &call.arguments).end();
        Object::new().text("id", bare_id(&call.id)).text("type", "function").raw("function", function).end()
    });
    let calls = (!message.calls.is_empty()).then(|| array(calls));
    let id = message.call_id.filter(|_| message.role == Role::Tool).map(bare_id).map(string);
    object.maybe("tool_calls", calls).maybe("tool_call_id", id).end()
}

pub(super) fn tool(tool: &WireTool<'_>) -> String {
    let function = Object::new().text("name", tool.name).text("description", tool.description);
    Object::new().text("type", "function").raw("function", function.raw("parameters", tool.schema).end()).end()
}

fn tool_choice(choice: &ToolUse) -> Option<String> {
    match choice {
        ToolUse::Auto => None,
        ToolUse::Never => Some(string("none")),
        ToolUse::Must(name) => {
            let function = Object::new().text("name", name).end();
            Some(Object::new().text("type", "function").raw("function", function).end())
        }
    }
}

fn response_format(reply: &ReplyForm) -> Option<String> {
    let ReplyForm::Json { name, schema } = reply else { return None };
    let schema = Object::new().text("name", name).raw("schema", schema).end();
    Some(Object::new().text("type", "json_schema").raw("json_schema", schema).end())
}

/// A reply's stream.
pub(super) struct Stream {
    reply: Collect,
}

impl Stream {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { reply: Collect::new(ids) }
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<ModelEvent>) {
        // A server that does not stream sends `message` in place of `delta`.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        for field in ["reasoning_content", "reasoning"] {
            if let Some(text) = delta[field].as_str() {
                self.reply.reasoning(text, events);
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
            return self.reply.end(events);
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
        self.reply.end(events)
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
