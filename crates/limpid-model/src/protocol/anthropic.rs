//! Anthropic Messages.

use std::borrow::Cow;

use limpid_core::Role;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Decoder;
use super::collect::{Collect, Pending};
use crate::errors::Fault;
use crate::json::{arguments_object, to_json};
use crate::model::{FinishReason, ModelEvent, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage, WireTool, bare_id};

/// Tokens of a reply when nothing else is asked for; the provider wants a number.
const DEFAULT_MAX_OUTPUT: u32 = 8192;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    stream: bool,
}

/// What one side said: messages that follow each other from the same side are one here.
#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text { text: &'a str },
    ToolUse { id: String, name: &'a str, input: Cow<'a, RawValue> },
    ToolResult { tool_use_id: String, content: &'a str },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    None,
    Tool { name: &'a str },
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { schema: &'a Value },
}

pub(super) fn body(call: &WireCall<'_>) -> String {
    let first = call.messages.iter().position(|one| one.role != Role::System).unwrap_or(call.messages.len());
    let (system, messages) = call.messages.split_at(first);
    to_json(&Body {
        model: call.model,
        system: system.iter().flat_map(blocks).collect(),
        messages: turns(messages),
        tools: call.tools.iter().map(tool).collect(),
        tool_choice: tool_choice(call.choice).filter(|_| !call.tools.is_empty()),
        output_config: output_config(&call.reply),
        max_tokens: call.sampling.max_output.unwrap_or(DEFAULT_MAX_OUTPUT),
        temperature: call.sampling.temperature,
        // Newer models refuse both at once.
        top_p: call.sampling.top_p.filter(|_| call.sampling.temperature.is_none()),
        stream: true,
    })
}

fn turns<'a>(messages: &'a [WireMessage<'_>]) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages {
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        let blocks = blocks(message);
        match turns.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => turns.push(Turn { role, content: blocks }),
        }
    }
    // The provider refuses a message without content.
    turns.retain(|turn| !turn.content.is_empty());
    turns
}

/// A message's blocks; the last one carries the mark. Blank text is left out, because the provider refuses it.
fn blocks<'a>(message: &'a WireMessage<'_>) -> Vec<Block<'a>> {
    let text = &*message.text;
    let said = match (message.role, message.call_id) {
        (Role::Tool, Some(id)) => Some(Content::ToolResult { tool_use_id: plain_id(id), content: text }),
        _ if text.trim().is_empty() => None,
        _ => Some(Content::Text { text }),
    };
    let calls = message.calls.iter().map(|call| Content::ToolUse {
        id: plain_id(&call.id),
        name: &call.name,
        input: arguments_object(&call.arguments),
    });
    let mut blocks: Vec<Block<'_>> =
        said.into_iter().chain(calls).map(|content| Block { content, cache_control: None }).collect();
    if let Some(last) = blocks.last_mut().filter(|_| message.cache_mark) {
        last.cache_control = Some(CacheControl::Ephemeral);
    }
    blocks
}

/// A call's name in the letters that the provider takes.
fn plain_id(id: &str) -> String {
    bare_id(id).chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn tool<'a>(tool: &WireTool<'a>) -> Tool<'a> {
    Tool { name: tool.name, description: tool.description, input_schema: tool.schema }
}

fn tool_choice(choice: &ToolUse) -> Option<Choice<'_>> {
    match choice {
        ToolUse::Auto => None,
        ToolUse::Never => Some(Choice::None),
        ToolUse::Must(name) => Some(Choice::Tool { name }),
    }
}

fn output_config(reply: &ReplyForm) -> Option<OutputConfig<'_>> {
    let ReplyForm::Json { schema, .. } = reply else { return None };
    Some(OutputConfig { format: Format::JsonSchema { schema } })
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
