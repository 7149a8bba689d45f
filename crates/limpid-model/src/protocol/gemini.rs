//! Gemini.

mod stream;

use std::borrow::Cow;

use limpid_core::Role;
use limpid_core::message::is_failure;
use limpid_core::state::Piece;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::effort;
use crate::json::{arguments_object, to_json, to_raw};
use crate::model::{ReplyForm, ToolUse};
use crate::wire::{WireCall, WireMessage, WireState, WireTool};

pub(super) use stream::Stream;

/// Stands where a signature is wanted for a call that another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Generation::is_empty")]
    generation_config: Generation<'a>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: Vec<Part<'a>>,
}

/// What one side said: messages that follow each other from the same side are one here.
#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    /// A part of the provider's own, as it came.
    Given(&'a RawValue),
    #[serde(rename_all = "camelCase")]
    Own {
        #[serde(flatten)]
        data: Data<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<Cow<'a, RawValue>>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Data<'a> {
    Text(&'a str),
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        name: &'a str,
        args: Cow<'a, RawValue>,
    },
    FunctionResponse {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        name: &'a str,
        response: Response<'a>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Response<'a> {
    Output(&'a str),
    Error(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: Calling<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Calling<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[&'a str; 1]>,
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<effort::ThinkingConfig>,
}

impl Generation<'_> {
    fn is_empty(&self) -> bool {
        *self == Generation::default()
    }
}

pub(super) fn body(call: &WireCall<'_>) -> String {
    let first = call.messages.iter().position(|one| one.role != Role::System).unwrap_or(call.messages.len());
    let (system, messages) = call.messages.split_at(first);
    let parts: Vec<Part<'_>> = system.iter().map(|one| text_part(&one.text)).collect();
    let tools = Tools { function_declarations: call.tools.iter().map(declaration).collect() };
    to_json(&Body {
        system_instruction: (!parts.is_empty()).then_some(Instruction { parts }),
        contents: contents(call.model, messages),
        tools: (!call.tools.is_empty()).then_some([tools]),
        tool_config: tool_config(&call.choice).filter(|_| !call.tools.is_empty()),
        generation_config: generation(call),
    })
}

fn contents<'a>(model: &str, messages: &'a [WireMessage<'_>]) -> Vec<Content<'a>> {
    let names_calls = names_calls(model);
    let mut contents: Vec<Content<'_>> = Vec::new();
    let mut last_role = None;
    for message in messages {
        let role = if message.role == Role::Assistant { "model" } else { "user" };
        let parts = parts(message, names_calls);
        match contents.last_mut() {
            // The results of a batch stand together and alone, as many as there were calls.
            Some(last) if last_role == Some(message.role) => last.parts.extend(parts),
            _ => contents.push(Content { role, parts }),
        }
        last_role = Some(message.role);
    }
    contents.retain(|content| !content.parts.is_empty());
    contents
}

/// Whether calls of this model have names, which every result repeats, and signatures: since the third generation. Earlier
/// models refuse both.
fn names_calls(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default();
    !name.starts_with("gemini-1") && !name.starts_with("gemini-2")
}

/// A message's parts in their order, each with the signature that it bore.
fn parts<'a>(message: &'a WireMessage<'_>, names_calls: bool) -> Vec<Part<'a>> {
    if message.role == Role::Tool {
        let text = &*message.text;
        let response = if is_failure(text) { Response::Error(text) } else { Response::Output(text) };
        let id = message.call_id.as_deref().filter(|_| names_calls);
        return vec![Data::FunctionResponse { id, name: message.tool.as_deref().unwrap_or("tool"), response }.into()];
    }
    let part = |piece: Piece<'a, WireState<'a>>| match piece {
        // What belonged to a part that is gone is no part.
        Piece::Between(state) => state.json.get().starts_with('{').then_some(Part::Given(state.json)),
        Piece::Text(text, state) => Some(Part::Own { data: Data::Text(text), thought_signature: state.map(signature) }),
        Piece::Call(at, state) => message.calls.get(at).map(|call| {
            let id = Some(call.id.as_str()).filter(|_| names_calls);
            let data = Data::FunctionCall { id, name: &call.name, args: arguments_object(&call.arguments) };
            // Newer models refuse the first call of a step without a signature; the others of a batch have none.
            let foreign = names_calls && at == 0 && message.state.is_empty();
            let substitute = foreign.then(|| Cow::Owned(to_raw(&NO_SIGNATURE)));
            Part::Own { data, thought_signature: state.map(signature).or(substitute) }
        }),
    };
    message.pieces().into_iter().filter_map(part).collect()
}

fn signature<'a>(state: &'a WireState<'_>) -> Cow<'a, RawValue> {
    Cow::Borrowed(state.json)
}

impl<'a> From<Data<'a>> for Part<'a> {
    fn from(data: Data<'a>) -> Self {
        Self::Own { data, thought_signature: None }
    }
}

fn text_part(text: &str) -> Part<'_> {
    Data::Text(text).into()
}

fn declaration<'a>(tool: &'a WireTool<'_>) -> Declaration<'a> {
    Declaration { name: &tool.name, description: tool.description, parameters_json_schema: &tool.schema }
}

fn tool_config(choice: &ToolUse) -> Option<ToolConfig<'_>> {
    let calling =
        |mode, allowed_function_names| ToolConfig { function_calling_config: Calling { mode, allowed_function_names } };
    match choice {
        ToolUse::Auto => None,
        ToolUse::Never => Some(calling("NONE", None)),
        ToolUse::Must(name) => Some(calling("ANY", Some([name]))),
    }
}

fn generation<'a>(call: &'a WireCall<'_>) -> Generation<'a> {
    let sampling = call.sampling;
    let schema = match &*call.reply {
        ReplyForm::Text => None,
        ReplyForm::Json { schema, .. } => Some(schema),
    };
    Generation {
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        seed: sampling.seed,
        max_output_tokens: sampling.max_output,
        response_mime_type: schema.map(|_| "application/json"),
        response_json_schema: schema,
        thinking_config: effort::gemini(call.reasoning),
    }
}
