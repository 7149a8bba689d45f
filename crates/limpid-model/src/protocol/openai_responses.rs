//! OpenAI Responses.

use limpid_core::Role;
use serde_json::Value;

use super::Decoder;
use super::collect::{Collect, Pending};
use crate::errors::Fault;
use crate::json::{Object, array, string};
use crate::model::{FinishReason, ModelEvent, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage, WireTool, bare_id};

/// Nothing is stored with the provider: the conversation is Limpid's.
pub(super) fn body(call: &WireCall<'_>) -> String {
    let tools = (!call.tools.is_empty()).then(|| array(call.tools.iter().map(tool)));
    let choice = tools.as_ref().and_then(|_| tool_choice(call.choice));
    Object::new()
        .text("model", call.model)
        .raw("input", array(call.messages.iter().flat_map(items)))
        .maybe("tools", tools)
        .maybe("tool_choice", choice)
        .maybe("text", text_format(&call.reply))
        .maybe("temperature", call.sampling.temperature)
        .maybe("top_p", call.sampling.top_p)
        .maybe("max_output_tokens", call.sampling.max_output)
        .maybe("prompt_cache_key", call.conversation.map(string))
        .raw("store", false)
        .raw("stream", true)
        .end()
}

/// A message's items: its text, then its calls.
fn items(message: &WireMessage<'_>) -> Vec<String> {
    let mut items = Vec::new();
    match (message.role, message.call_id) {
        (Role::Tool, Some(id)) => {
            let item = Object::new().text("type", "function_call_output").text("call_id", bare_id(id));
            items.push(item.text("output", &message.text).end());
        }
        _ if message.text.is_empty() && !message.calls.is_empty() => {}
        (role, _) => items.push(Object::new().text("role", role.as_str()).text("content", &message.text).end()),
    }
    items.extend(message.calls.iter().map(|call| {
        let item = Object::new().text("type", "function_call").text("call_id", bare_id(&call.id));
        item.text("name", &call.name).text("arguments", &call.arguments).end()
    }));
    items
}

/// The provider would hold schemas to its strict subset unless told otherwise, and tools' schemas are not written for it.
fn tool(tool: &WireTool<'_>) -> String {
    let object = Object::new().text("type", "function").text("name", tool.name).text("description", tool.description);
    object.raw("parameters", tool.schema).raw("strict", false).end()
}

fn tool_choice(choice: &ToolUse) -> Option<String> {
    match choice {
        ToolUse::Auto => None,
        ToolUse::Never => Some(string("none")),
        ToolUse::Must(name) => Some(Object::new().text("type", "function").text("name", name).end()),
    }
}

fn text_format(reply: &ReplyForm) -> Option<String> {
    let ReplyForm::Json { name, schema } = reply else { return None };
    let format = Object::new().text("type", "json_schema").text("name", name).raw("schema", schema).end();
    Some(Object::new().raw("format", format).end())
}

/// A reply's stream.
pub(super) struct Stream {
    reply: Collect,
}

impl Stream {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { reply: Collect::new(ids) }
    }

    fn item(&mut self, place: u64, item: &Value) {
        if item["type"] != "function_call" {
            return;
        }
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        if self.reply.call_at(place).is_none() {
            self.reply.start_call(Pending { place, ..Pending::default() });
        }
        if let Some(call) = self.reply.call_at(place) {
            text("call_id").clone_into(&mut call.id);
            text("name").clone_into(&mut call.name);
            // The item is whole when it is done, and its pieces have come before.
            text("arguments").clone_into(&mut call.arguments);
        }
    }

    fn over(&mut self, response: &Value, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let usage = &response["usage"];
        if usage.is_object() {
            let details = &usage["input_tokens_details"];
            self.reply.count(|total| {
                total.input = usage["input_tokens"].as_u64().unwrap_or_default();
                total.cached = details["cached_tokens"].as_u64().unwrap_or_default();
                total.cache_written = details["cache_write_tokens"].as_u64().unwrap_or_default();
                total.output = usage["output_tokens"].as_u64().unwrap_or_default();
            });
        }
        self.reply.finished(match response["incomplete_details"]["reason"].as_str() {
            None => FinishReason::Stop,
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::Moderated,
            Some(other) => FinishReason::Other(other.to_owned()),
        });
        self.reply.end(events)
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if payload.trim() == "[DONE]" {
            return Ok(());
        }
        let event = Fault::parse(payload)?;
        let place = event["output_index"].as_u64().unwrap_or_default();
        let delta = event["delta"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" | "response.refusal.delta" => self.reply.text(delta, events),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reply.reasoning(delta, events);
            }
            "response.output_item.added" | "response.output_item.done" => self.item(place, &event["item"]),
            "response.function_call_arguments.delta" => {
                if let Some(call) = self.reply.call_at(place) {
                    call.arguments.push_str(delta);
                }
            }
            "response.completed" | "response.incomplete" => return self.over(&event["response"], events),
            "response.failed" => return Err(Fault::Provider(event["response"].clone())),
            "error" => return Err(Fault::Provider(event)),
            _ => Fault::check(&event)?,
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.reply.end(events)
    }
}
