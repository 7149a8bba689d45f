//! Anthropic Messages.

use std::borrow::Cow;

use limpid_core::message::is_failure;
use limpid_core::state::Piece;
use limpid_core::{CacheLife, Role};
use limpid_prompt::inputs::CallInput;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::collect::{Collect, Pending};
use super::decoder::Decoder;
use super::effort::{self, Thinking};
use crate::call_ids::CallIds;
use crate::errors::Fault;
use crate::json::{arguments_object, to_json};
use crate::model::{FinishReason, ModelEvent, On, ReplyForm, ToolUse};
use crate::wire::{WireCall, WireMessage, WireState, WireTool};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
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
#[serde(untagged)]
enum Block<'a> {
    /// A block of the provider's own, as it came.
    Given(&'a RawValue),
    Own {
        #[serde(flatten)]
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Cow<'a, RawValue>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: Results<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// What came of a call: a text, or the tools that are read here. The provider refuses both in one result.
#[derive(Serialize)]
#[serde(untagged)]
enum Results<'a> {
    Text(&'a str),
    Tools(Vec<Reference<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "tool_reference")]
struct Reference<'a> {
    tool_name: &'a str,
}

/// A mark up to which the provider keeps what it has read.
#[derive(Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
pub(super) struct CacheControl {
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheControl {
    /// The mark of a message, if it has one. Five minutes are usual and not said.
    pub(super) fn of(message: &WireMessage<'_>) -> Option<Self> {
        let ttl = message.cache_hour.then_some(CacheLife::Hour.as_str());
        message.cache_mark.then_some(Self { ttl })
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    defer_loading: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    None,
    Tool { name: &'a str },
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { schema: &'a Value },
}

pub(super) fn body(call: &WireCall<'_>) -> String {
    let first = call.messages.iter().position(|one| one.role != Role::System).unwrap_or(call.messages.len());
    let (system, messages) = call.messages.split_at(first);
    let max_tokens = call.sampling.max_output.unwrap_or(DEFAULT_MAX_OUTPUT);
    let (thinking, effort) = effort::anthropic(call.reasoning, max_tokens);
    let is_enabled = matches!(thinking, Some(Thinking::Enabled { .. }));
    to_json(&Body {
        model: call.model,
        system: system.iter().flat_map(blocks).collect(),
        messages: turns(messages),
        tools: call.tools.iter().map(tool).collect(),
        tool_choice: tool_choice(&call.choice).filter(|_| !call.tools.is_empty()),
        output_config: output_config(&call.reply, effort),
        thinking: thinking.filter(|_| !is_enabled || may_enable(messages)),
        max_tokens,
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
    for turn in turns.iter_mut().filter(|turn| turn.role == "user") {
        // The results of a message's calls come first, each a block; what one says beside the tools that it loads follows.
        turn.content.sort_by_key(|block| !block.is_result());
    }
    // The provider refuses a message without content.
    turns.retain(|turn| !turn.content.is_empty());
    turns
}

/// A message's blocks in their order; the last one that can carries the mark. Blank text is left out, because the
/// provider refuses it.
fn blocks<'a>(message: &'a WireMessage<'_>) -> Vec<Block<'a>> {
    let own = |content| Block::Own { content, cache_control: None };
    let mut blocks: Vec<Block<'_>> = match message.call_id.as_deref().filter(|_| message.role == Role::Tool) {
        Some(id) if message.loads.is_empty() => {
            let is_error = is_failure(&message.text);
            vec![own(Content::ToolResult { tool_use_id: id, content: Results::Text(&message.text), is_error })]
        }
        Some(id) => {
            let tools = message.loads.iter().map(|name| Reference { tool_name: name }).collect();
            let content = Results::Tools(tools);
            let result = own(Content::ToolResult { tool_use_id: id, content, is_error: false });
            vec![result, own(Content::Text { text: &message.text })]
        }
        None => message.pieces().iter().filter_map(|piece| block(&message.calls, piece)).collect(),
    };
    let last = blocks.iter_mut().rev().find_map(|block| match block {
        Block::Own { cache_control, .. } => Some(cache_control),
        Block::Given(_) => None,
    });
    if let Some(last) = last {
        *last = CacheControl::of(message);
    }
    blocks
}

impl Block<'_> {
    const fn is_result(&self) -> bool {
        matches!(self, Self::Own { content: Content::ToolResult { .. }, .. })
    }
}

fn block<'a>(calls: &'a [CallInput], piece: &Piece<'a, WireState<'a>>) -> Option<Block<'a>> {
    let content = match *piece {
        Piece::Between(state) => return Some(Block::Given(state.json)),
        Piece::Text(text, _) if text.trim().is_empty() => return None,
        Piece::Text(text, _) => Content::Text { text },
        Piece::Call(at, _) => {
            let call = calls.get(at)?;
            Content::ToolUse { id: &call.id, name: &call.name, input: arguments_object(&call.arguments) }
        }
    };
    Some(Block::Own { content, cache_control: None })
}

fn tool<'a>(tool: &'a WireTool<'_>) -> Tool<'a> {
    Tool { name: &tool.name, description: tool.description, input_schema: &tool.schema, defer_loading: tool.deferred }
}

fn tool_choice(choice: &ToolUse) -> Option<Choice<'_>> {
    match choice {
        ToolUse::Auto => None,
        ToolUse::Never => Some(Choice::None),
        ToolUse::Must(name) => Some(Choice::Tool { name }),
    }
}

fn output_config<'a>(reply: &'a ReplyForm, effort: Option<&'static str>) -> Option<OutputConfig<'a>> {
    let format = match reply {
        ReplyForm::Text => None,
        ReplyForm::Json { schema, .. } => Some(Format::JsonSchema { schema }),
    };
    (effort.is_some() || format.is_some()).then_some(OutputConfig { effort, format })
}

/// Whether thinking with a budget can be switched on here: among calls and their results only when the message with the
/// calls began with thinking, which one of another model did not.
fn may_enable(messages: &[WireMessage<'_>]) -> bool {
    let Some(last) = messages.iter().rfind(|message| message.role == Role::Assistant) else { return true };
    let is_running = messages.last().is_some_and(|message| message.role == Role::Tool);
    !is_running || last.calls.is_empty() || matches!(last.pieces().first(), Some(Piece::Between(_)))
}

/// A reply's stream.
pub(super) struct Stream {
    reply: Collect,
    /// The block whose pieces are coming.
    open: Open,
    /// What the block before it was.
    before: Before,
}

/// A block whose pieces are coming.
#[derive(Default)]
enum Open {
    /// One that needs nothing at its end.
    #[default]
    Plain,
    /// Reasoning: its fields as they were at the start, its text and its signature so far.
    Thinking { fields: Map<String, Value>, text: String, signature: Option<String> },
    /// A text that is a block of its own between others.
    Text { json: String },
}

/// What came before a block, as far as it tells how texts are parted.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    /// Nothing, or state, which parts whatever is around it.
    #[default]
    Parted,
    /// A text, or a call.
    Joined,
}

impl Stream {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { reply: Collect::new(ids), open: Open::default(), before: Before::default() }
    }

    fn start(&mut self, payload: &str, place: u64, block: &Value, events: &mut Vec<ModelEvent>) {
        // A server that does not say where a block ends.
        self.stop(events);
        match block["type"].as_str() {
            Some("tool_use") => {
                let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
                let call = Pending { place, id: text("id"), name: text("name"), ..Pending::default() };
                let call = self.reply.start_call(call);
                if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    call.add(&block["input"]);
                }
                self.before = Before::Joined;
            }
            Some("text") => {
                if std::mem::replace(&mut self.before, Before::Joined) == Before::Joined {
                    self.reply.stretch(events);
                    self.open = Open::Text { json: given(payload) };
                }
                self.reply.text(block["text"].as_str().unwrap_or_default(), events);
            }
            Some("thinking") => {
                let text = block["thinking"].as_str().unwrap_or_default().to_owned();
                self.reply.reasoning(&text, events);
                let signature = block["signature"].as_str().map(str::to_owned);
                let fields = block.as_object().cloned().unwrap_or_default();
                self.open = Open::Thinking { fields, text, signature };
            }
            Some("redacted_thinking") => {
                self.reply.state(given(payload), On::Place(self.reply.started()), events);
                self.before = Before::Parted;
            }
            _ => {}
        }
    }

    fn delta(&mut self, place: u64, delta: &Value, events: &mut Vec<ModelEvent>) {
        let piece = |name: &str| delta[name].as_str().unwrap_or_default();
        match (delta["type"].as_str(), &mut self.open) {
            (Some("text_delta"), _) => self.reply.text(piece("text"), events),
            (Some("thinking_delta"), open) => {
                if let Open::Thinking { text, .. } = open {
                    text.push_str(piece("thinking"));
                }
                self.reply.reasoning(piece("thinking"), events);
            }
            (Some("signature_delta"), Open::Thinking { signature, .. }) => {
                signature.get_or_insert_default().push_str(piece("signature"));
            }
            (Some("input_json_delta"), _) => {
                if let Some(call) = self.reply.call_at(place) {
                    call.add(&delta["partial_json"]);
                }
            }
            _ => {}
        }
    }

    /// Ends the open block.
    fn stop(&mut self, events: &mut Vec<ModelEvent>) {
        let calls = self.reply.started();
        match std::mem::take(&mut self.open) {
            Open::Plain => {}
            Open::Text { json } => self.reply.state(json, On::Stretch(calls), events),
            Open::Thinking { mut fields, text, signature } => {
                fields.insert("thinking".to_owned(), text.into());
                if let Some(signature) = signature {
                    fields.insert("signature".to_owned(), signature.into());
                }
                self.reply.state(to_json(&fields), On::Place(calls), events);
                self.before = Before::Parted;
            }
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
            let hour = usage["cache_creation"]["ephemeral_1h_input_tokens"].as_u64();
            total.cache_written_hour = hour.unwrap_or(total.cache_written_hour);
            total.input = fresh + total.cached + total.cache_written;
            total.output = count("output_tokens").unwrap_or(total.output);
            let thinking = usage["output_tokens_details"]["thinking_tokens"].as_u64();
            total.reasoning = thinking.unwrap_or(total.reasoning);
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
            Some("content_block_start") => self.start(payload, place, &event["content_block"], events),
            Some("content_block_delta") => self.delta(place, &event["delta"], events),
            Some("content_block_stop") => self.stop(events),
            Some("message_delta") => {
                self.usage(&event["usage"]);
                match event["delta"]["stop_reason"].as_str() {
                    Some("refusal") => {
                        self.reply.counted(events);
                        return Err(Fault::Refused(event["delta"]["stop_details"].clone()));
                    }
                    Some(word) => self.reply.finished(finish_reason(word)),
                    None => {}
                }
            }
            Some("message_stop") => {
                self.stop(events);
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
        self.stop(events);
        self.reply.end(events)
    }
}

/// The block of an event, byte for byte.
fn given(payload: &str) -> String {
    #[derive(Deserialize)]
    struct Start<'a> {
        #[serde(borrow)]
        content_block: &'a RawValue,
    }
    serde_json::from_str::<Start<'_>>(payload).map(|start| start.content_block.get().to_owned()).unwrap_or_default()
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" | "pause_turn" => FinishReason::Stop,
        "tool_use" => FinishReason::Calls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        other => FinishReason::Other(other.to_owned()),
    }
}
