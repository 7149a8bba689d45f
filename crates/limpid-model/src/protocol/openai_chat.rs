//! OpenAI Chat Completions, and everything that calls itself compatible.

mod stream;

use limpid_core::Role;
use limpid_core::state::Piece;
use limpid_prompt::inputs::CallInput;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::anthropic::CacheControl;
use super::dialect::{Dialect, role_word};
use super::effort;
use crate::json::to_json;
use crate::model::{ReplyForm, ToolUse};
use crate::wire::{WireCall, WireMessage, WireTool};

pub(super) use stream::Stream;

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
    } else if let Some(mark) = CacheControl::of(message).filter(|_| dialect.cache_marks) {
        Some(Content::Parts(vec![Part::Text { text, cache_control: Some(mark) }]))
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
    let WireTool { name, description, schema, strict, .. } = tool;
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
