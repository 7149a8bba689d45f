//! Anthropic Messages.

mod stream;

use std::borrow::Cow;

use limpid_core::message::is_failure;
use limpid_core::state::Piece;
use limpid_core::{CacheLife, Role};
use limpid_prompt::inputs::CallInput;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::effort::{self, Thinking};
use crate::json::{arguments_object, to_json};
use crate::model::{ReplyForm, ToolUse};
use crate::wire::{WireCall, WireMessage, WireState, WireTool};

pub(super) use stream::Stream;

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
