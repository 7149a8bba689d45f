//! Gemini.

use std::borrow::Cow;

use limpid_core::Role;
use limpid_prompt::inputs::CallInput;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Decoder;
use super::collect::{Collect, Pending};
use crate::errors::Fault;
use crate::json::{arguments_object, to_json};
use crate::model::{FinishReason, ModelEvent, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage, WireTool};

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
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(flatten)]
    data: Data<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Data<'a> {
    Text(&'a str),
    FunctionCall { name: &'a str, args: Cow<'a, RawValue> },
    FunctionResponse { name: &'a str, response: Response<'a> },
}

#[derive(Serialize)]
struct Response<'a> {
    result: &'a str,
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
        tool_config: tool_config(call.choice).filter(|_| !call.tools.is_empty()),
        generation_config: generation(call),
    })
}

fn contents<'a>(model: &str, messages: &'a [WireMessage<'_>]) -> Vec<Content<'a>> {
    let signed = !model.starts_with("gemini-1") && !model.starts_with("gemini-2");
    let mut contents: Vec<Content<'_>> = Vec::new();
    for message in messages {
        let role = if message.role == Role::Assistant { "model" } else { "user" };
        let parts = parts(message, signed);
        match contents.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => contents.push(Content { role, parts }),
        }
    }
    contents.retain(|content| !content.parts.is_empty());
    contents
}

fn parts<'a>(message: &'a WireMessage<'_>, signed: bool) -> Vec<Part<'a>> {
    let text = &*message.text;
    let said = match message.role {
        Role::Tool => {
            let response = Response { result: text };
            Some(Data::FunctionResponse { name: message.tool.unwrap_or("tool"), response }.into())
        }
        _ if text.is_empty() => None,
        _ => Some(text_part(text)),
    };
    let call = |(at, call): (usize, &'a CallInput)| {
        // Newer models want the signature of the first call of a step back.
        let signature = call.id.split_once('~').map(|(_, signature)| signature);
        let signature = signature.or((at == 0).then_some(NO_SIGNATURE)).filter(|_| signed);
        let data = Data::FunctionCall { name: &call.name, args: arguments_object(&call.arguments) };
        Part { data, thought_signature: signature }
    };
    said.into_iter().chain(message.calls.iter().enumerate().map(call)).collect()
}

impl<'a> From<Data<'a>> for Part<'a> {
    fn from(data: Data<'a>) -> Self {
        Self { data, thought_signature: None }
    }
}

fn text_part(text: &str) -> Part<'_> {
    Data::Text(text).into()
}

fn declaration<'a>(tool: &WireTool<'a>) -> Declaration<'a> {
    Declaration { name: tool.name, description: tool.description, parameters_json_schema: tool.schema }
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
    }
}

/// A reply's stream, which ends when the connection does.
pub(super) struct Stream {
    reply: Collect,
}

impl Stream {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { reply: Collect::new(ids) }
    }

    fn part(&mut self, part: &Value, events: &mut Vec<ModelEvent>) {
        let text = part["text"].as_str().unwrap_or_default();
        if part["thought"] == true {
            self.reply.reasoning(text, events);
        } else {
            self.reply.text(text, events);
        }
        let function = &part["functionCall"];
        if let Some(name) = function["name"].as_str() {
            let owned = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let call = Pending {
                id: owned(&function["id"]),
                name: name.to_owned(),
                mark: owned(&part["thoughtSignature"]),
                ..Pending::default()
            };
            self.reply.start_call(call).add(&function["args"]);
        }
    }

    fn usage(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let count = |name: &str| usage[name].as_u64();
        self.reply.count(|total| {
            total.input = count("promptTokenCount").unwrap_or(total.input);
            total.cached = count("cachedContentTokenCount").unwrap_or(total.cached);
            let thoughts = count("thoughtsTokenCount").unwrap_or_default();
            total.output = count("candidatesTokenCount").map_or(total.output, |answer| answer + thoughts);
        });
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let chunk = Fault::parse(payload)?;
        Fault::check(&chunk)?;
        self.usage(&chunk["usageMetadata"]);
        if chunk["promptFeedback"]["blockReason"].is_string() {
            self.reply.finished(FinishReason::Moderated);
        }
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, events);
        }
        if let Some(word) = candidate["finishReason"].as_str() {
            self.reply.finished(finish_reason(word));
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.reply.end(events)
    }
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => FinishReason::Moderated,
        other => FinishReason::Other(other.to_owned()),
    }
}
