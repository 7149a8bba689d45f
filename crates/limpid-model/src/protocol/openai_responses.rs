//! OpenAI Responses.

mod stream;

use std::borrow::Cow;

use limpid_core::reach::FIND_TOOLS;
use limpid_core::state::Piece;
use limpid_core::{CacheLife, Role};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::effort;
use crate::json::{arguments_object, to_json, to_raw};
use crate::model::{ReplyForm, ToolUse};
use crate::wire::{WireCall, WireMessage, WireState, WireTool};

pub(super) use stream::Stream;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<effort::Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_options: Option<CacheMode>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    store: bool,
    stream: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Content<'a>,
    },
    ToolSearchCall {
        call_id: &'a str,
        execution: &'static str,
        status: &'static str,
        arguments: Cow<'a, RawValue>,
    },
    ToolSearchOutput {
        call_id: &'a str,
        execution: &'static str,
        status: &'static str,
        tools: Vec<Tool<'a>>,
    },
    #[serde(untagged)]
    Message {
        role: &'static str,
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a RawValue>,
    },
    /// An item of the provider's own, as it came.
    #[serde(untagged)]
    Given(Cow<'a, RawValue>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts([InputText<'a>; 1]),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "input_text")]
struct InputText<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_breakpoint: Option<CacheMode>,
}

/// Only what is marked is kept, and nothing by the provider's own guess.
#[derive(Serialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
enum CacheMode {
    Explicit,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        name: &'a str,
        description: &'a str,
        parameters: &'a RawValue,
        strict: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        defer_loading: bool,
    },
    /// The tool that finds the others: what its results hold is declared where they stand.
    ToolSearch { execution: &'static str, description: &'a str, parameters: &'a RawValue },
}

/// Who looks for tools.
const HERE: &str = "client";

/// What became of a search.
const DONE: &str = "completed";

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Function(Function<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
struct Function<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "json_schema")]
struct Format<'a> {
    name: &'a str,
    schema: &'a Value,
}

/// Nothing is stored with the provider: the conversation is Limpid's.
pub(super) fn body(call: &WireCall<'_>) -> String {
    let searches = searches(call);
    let has_marks = call.messages.iter().any(|message| message.cache_mark);
    to_json(&Body {
        model: call.model,
        input: call.messages.iter().flat_map(|message| items(message, call)).collect(),
        tools: call.tools.iter().filter(|tool| !tool.deferred).map(|tool| declared(tool, searches)).collect(),
        tool_choice: tool_choice(&call.choice).filter(|_| !call.tools.is_empty()),
        text: text_format(&call.reply),
        reasoning: effort::responses(call.reasoning),
        temperature: call.sampling.temperature,
        top_p: call.sampling.top_p,
        max_output_tokens: call.sampling.max_output,
        prompt_cache_key: call.conversation,
        prompt_cache_options: (call.pays_for_cache && (has_marks || call.cache == CacheLife::Off))
            .then_some(CacheMode::Explicit),
        // Nothing is stored there, so reasoning comes back only when it is sent along.
        include: if call.reasoning.reasons { vec!["reasoning.encrypted_content"] } else { Vec::new() },
        store: false,
        stream: true,
    })
}

/// A message's items in their order. Where marks are paid for, texts come as parts, which can be marked: the form is the same
/// with a mark and without, so that a mark that moves changes nothing else.
fn items<'a>(message: &'a WireMessage<'_>, call: &'a WireCall<'_>) -> Vec<Item<'a>> {
    let text = &*message.text;
    let role = super::dialect::role_word(message.role, call.model);
    let searches = searches(call);
    let beside = super::dialect::role_word(Role::System, call.model);
    let content = || match call.pays_for_cache && message.role != Role::Assistant {
        true => {
            let prompt_cache_breakpoint = message.cache_mark.then_some(CacheMode::Explicit);
            Content::Parts([InputText { text, prompt_cache_breakpoint }])
        }
        false => Content::Text(text),
    };
    match message.call_id.as_deref().filter(|_| message.role == Role::Tool) {
        Some(call_id) if searches && message.tool.as_deref() == Some(FIND_TOOLS) => {
            return found(message, call, call_id, Item::Message { role: beside, content: content(), phase: None });
        }
        Some(call_id) => return vec![Item::FunctionCallOutput { call_id, output: content() }],
        // Others than the model say one text and nothing else.
        None if message.role != Role::Assistant || (text.is_empty() && message.calls.is_empty()) => {
            return vec![Item::Message { role, content: content(), phase: None }];
        }
        None => {}
    }
    let item = |piece: Piece<'a, WireState<'a>>| match piece {
        Piece::Between(state) => {
            Some(Item::Given(if call.state_ids { Cow::Borrowed(state.json) } else { without_id(state.json) }))
        }
        Piece::Text(text, state) => {
            Some(Item::Message { role, content: Content::Text(text), phase: state.and_then(phase) })
        }
        Piece::Call(at, _) => message.calls.get(at).map(|call| match searches && call.name == FIND_TOOLS {
            true => Item::ToolSearchCall {
                call_id: &call.id,
                execution: HERE,
                status: DONE,
                arguments: arguments_object(&call.arguments),
            },
            false => Item::FunctionCall { call_id: &call.id, name: &call.name, arguments: &call.arguments },
        }),
    };
    let mut items: Vec<Item<'_>> = message.pieces().into_iter().filter_map(item).collect();
    // Reasoning without what it led to is refused.
    while items.pop_if(|last| matches!(last, Item::Given(_))).is_some() {}
    items
}

/// Whether tools are looked for in the provider's own form: it takes what is found in no other.
fn searches(call: &WireCall<'_>) -> bool {
    call.tools.iter().any(|tool| tool.deferred)
}

/// What a search found, and what is said of it: the provider's form has no room for a text.
fn found<'a>(message: &'a WireMessage<'_>, call: &'a WireCall<'_>, call_id: &'a str, text: Item<'a>) -> Vec<Item<'a>> {
    let tools = message.loads.iter().filter_map(|name| call.tools.iter().find(|tool| tool.name == *name));
    let tools = tools.map(|tool| declared(tool, true)).collect();
    vec![Item::ToolSearchOutput { call_id, execution: HERE, status: DONE, tools }, text]
}

/// An item of the provider's own without its id.
fn without_id(json: &RawValue) -> Cow<'_, RawValue> {
    let Ok(mut fields) = serde_json::from_str::<Map<String, Value>>(json.get()) else { return Cow::Borrowed(json) };
    match fields.shift_remove("id") {
        Some(_) => Cow::Owned(to_raw(&fields)),
        None => Cow::Borrowed(json),
    }
}

/// What a message of the model's is: a report while it works, or the answer.
fn phase<'a>(state: &'a WireState<'_>) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        phase: Option<&'a RawValue>,
    }
    serde_json::from_str::<Message<'_>>(state.json.get()).ok()?.phase
}

/// The provider would hold every schema to its strict subset unless told otherwise, and not all are written for it.
fn declared<'a>(tool: &'a WireTool<'_>, searches: bool) -> Tool<'a> {
    let (name, description, parameters): (&str, _, &RawValue) = (&tool.name, tool.description, &tool.schema);
    match searches && name == FIND_TOOLS {
        true => Tool::ToolSearch { execution: HERE, description, parameters },
        false => Tool::Function { name, description, parameters, strict: tool.strict, defer_loading: tool.deferred },
    }
}

fn tool_choice(choice: &ToolUse) -> Option<Choice<'_>> {
    match choice {
        ToolUse::Auto => None,
        ToolUse::Never => Some(Choice::Word("none")),
        ToolUse::Must(name) => Some(Choice::Function(Function { name })),
    }
}

fn text_format(reply: &ReplyForm) -> Option<Text<'_>> {
    let ReplyForm::Json { name, schema } = reply else { return None };
    Some(Text { format: Format { name, schema } })
}
