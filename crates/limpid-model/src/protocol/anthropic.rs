//! Anthropic Messages.

use limpid_core::Role;
use serde_json::Value;

use super::Decoder;
use super::collect::{Collect, Pending};
use crate::errors::Fault;
use crate::json::{Object, arguments_object, array};
use crate::model::{FinishReason, ModelEvent, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage, WireTool, bare_id};

/// Tokens of a reply when nothing else is asked for; the provider wants a number.
const DEFAULT_MAX_OUTPUT: u32 = 8192;

pub(super) fn body(call: &WireCall<'_>) -> String {
    let first = call.messages.iter().position(|one| one.role != Role::System).unwrap_or(call.messages.len());
    let system: Vec<String> = call.messages[..first].iter().flat_map(blocks).collect();
    let tools = (!call.tools.is_empty()).then(|| array(call.tools.iter().map(tool)));
    let choice = tools.as_ref().and_then(|_| tool_choice(call.choice));
    // Newer models refuse both at once.
    let top_p = call.sampling.top_p.filter(|_| call.sampling.temperature.is_none());
    Object::new()
        .text("model", call.model)
        .maybe("system", (!system.is_empty()).then(|| array(system)))
        .raw("messages", messages(&call.messages[first..]))
        .maybe("tools", tools)
        .maybe("tool_choice", choice)
        .maybe("output_config", output_config(&call.reply))
        .raw("max_tokens", call.sampling.max_output.unwrap_or(DEFAULT_MAX_OUTPUT))
        .maybe("temperature", call.sampling.temperature)
        .maybe("top_p", top_p)
        .raw("stream", true)
        .end()
}

/// Neighbours of one role become one message, as the protocol wants it.
fn messages(messages: &[WireMessage<'_>]) -> String {
    let mut merged: Vec<(&str, Vec<String>)> = Vec::new();
    for message in messages {
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        let blocks = blocks(message);
        match merged.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => merged.push((role, blocks)),
        }
    }
    // The provider refuses a message without content.
    let merged = merged.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    array(merged.map(|(role, blocks)| Object::new().text("role", role).raw("content", array(blocks)).end()))
}

/// A message's blocks; the last one carries the mark. Blank text is left out, because the provider refuses it.
fn blocks(message: &WireMessage<'_>) -> Vec<String> {
    let mut blocks = Vec::new();
    match (message.role, message.call_id) {
        (Role::Tool, Some(id)) => {
            let result = Object::new().text("type", "tool_result").text("tool_use_id", &plain_id(id));
            blocks.push(result.text("content", &message.text));
        }
        _ if message.text.trim().is_empty() => {}
        _ => blocks.push(Object::new().text("type", "text").text("text", &message.text)),
    }
    blocks.extend(message.calls.iter().map(|call| {
        let block = Object::new().text("type", "tool_use").text("id", &plain_id(&call.id)).text("name", &call.name);
        block.raw("input", arguments_object(&call.arguments))
    }));
    let last = blocks.len().saturating_sub(1);
    let marked = |(at, block): (usize, Object)| match message.cache_mark && at == last {
        true => block.raw("cache_control", r#"{"type":"ephemeral"}"#).end(),
        false => block.end(),
    };
    blocks.into_iter().enumerate().map(marked).collect()
}

/// A call's name in the letters that the provider takes.
fn plain_id(id: &str) -> String {
    bare_id(id).chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn tool(tool: &WireTool<'_>) -> String {
    let object = Object::new().text("name", tool.name).text("description", tool.description);
    object.raw("input_schema", tool.schema).end()
}

fn tool_choice(choice: &ToolUse) -> Option<String> {
    match choice {
        ToolUse::Auto => None,
        ToolUse::Never => Some(Object::new().text("type", "none").end()),
        ToolUse::Must(name) => Some(Object::new().text("type", "tool").text("name", name).end()),
    }
}

fn output_config(reply: &ReplyForm) -> Option<String> {
    let ReplyForm::Json { schema, .. } = reply else { return None };
    let format = Object::new().text("type", "json_schema").raw("schema", schema).end();
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

    fn block(&mut self, place: u64, block: &Value, events: &mut Vec<ModelEvent>) {
        match block["type"].as_str() {
            Some("tool_use") => {
                let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
                let call = Pending { place, id: text("id"), name: text("name"), ..Pending::default() };
                let call = self.reply.start_call(call);
                if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    call.add(&block["input"]);
                }
            }
            Some("text") => self.reply.text(block["text"].as_str().unwrap_or_default(), events),
            _ => {}
        }
    }

    fn delta(&mut self, place: u64, delta: &Value, events: &mut Vec<ModelEvent>) {
        let text = |name: &str| delta[name].as_str().unwrap_or_default();
        match delta["type"].as_str() {
            Some("text_delta") => self.reply.text(text("text"), events),
            Some("thinking_delta") => self.reply.reasoning(text("thinking"), events),
            Some("input_json_delta") => {
                if let Some(call) = self.reply.call_at(place) {
                    call.add(&delta["partial_json"]);
                }
            }
            _ => {}
        }
    }

    /// The provider counts fresh, cached and written tokens apart; a [`limpid_core::Usage`] counts them together.
    fn usage(&mut self, usage: &Value) {
        let count = |name: &str| usage[name].as_u64();
        if !usage.is_object() {
            return;
        }
        self.reply.count(|total| {
            let fresh = count("input_tokens");
            let fresh = fresh.unwrap_or_else(|| total.input.saturating_sub(total.cached + total.cache_written));
            total.cached = count("cache_read_input_tokens").unwrap_or(total.cached);
            total.cache_written = count("cache_creation_input_tokens").unwrap_or(total.cache_written);
            total.input = fresh + total.cached + total.cache_written;
            total.output = count("output_tokens").unwrap_or(total.output);
        });
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let event = Fault::parse(payload)?;
        Fault::check(&event)?;
        let place = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("message_start") => self.usage(&event["message"]["usage"]),
            Some("content_block_start") => self.block(place, &event["content_block"], events),
            Some("content_block_delta") => self.delta(place, &event["delta"], events),
            Some("message_delta") => {
                self.usage(&event["usage"]);
                if let Some(word) = event["delta"]["stop_reason"].as_str() {
                    self.reply.finished(finish_reason(word));
                }
            }
            Some("message_stop") => {
                if !self.reply.is_finished() {
                    self.reply.finished(FinishReason::Stop);
                }
                return self.reply.end(events);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.reply.end(events)
    }
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_use" => FinishReason::Calls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::Moderated,
        other => FinishReason::Other(other.to_owned()),
    }
}
