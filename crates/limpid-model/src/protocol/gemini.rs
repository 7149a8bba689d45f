//! Gemini.

use std::borrow::Cow;

use limpid_core::Role;
use limpid_core::message::is_failure;
use limpid_core::state::Piece;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::collect::{Collect, Pending};
use super::decoder::Decoder;
use super::effort;
use crate::call_ids::CallIds;
use crate::errors::Fault;
use crate::json::{arguments_object, to_json, to_raw};
use crate::model::{FinishReason, ModelEvent, On, ReplyForm, ToolUse};
use crate::wire::{WireCall, WireMessage, WireState, WireTool};

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

/// A reply's stream, which ends when the connection does.
pub(super) struct Stream {
    reply: Collect,
}

impl Stream {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { reply: Collect::new(ids) }
    }

    fn part(&mut self, part: &Value, raw: Option<&RawValue>, events: &mut Vec<ModelEvent>) {
        let text = part["text"].as_str().unwrap_or_default();
        let thought = part["thought"] == true;
        let function = &part["functionCall"];
        let signature = part["thoughtSignature"].as_str().map(|signature| Value::from(signature).to_string());
        // A signature belongs to the very part that bore it.
        let is_signed_text = signature.is_some() && !thought && !text.is_empty();
        if is_signed_text {
            self.reply.stretch(events);
        }
        match thought {
            true => self.reply.reasoning(text, events),
            false => self.reply.text(text, events),
        }
        let calls = self.reply.started();
        if let Some(name) = function["name"].as_str() {
            let id = function["id"].as_str().unwrap_or_default().to_owned();
            self.reply.start_call(Pending { id, name: name.to_owned(), ..Pending::default() }).add(&function["args"]);
        }
        let state = match (signature, raw) {
            (Some(signature), _) if function["name"].is_string() => Some((signature, On::Call(calls))),
            (Some(signature), _) if is_signed_text => Some((signature, On::Stretch(calls))),
            (Some(_), Some(raw)) => Some((raw.get().to_owned(), On::Place(calls))),
            _ => None,
        };
        if let Some((json, on)) = state {
            self.reply.state(json, on, events);
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
            let kinds = usage["promptTokensDetails"].as_array().into_iter().flatten();
            let spoken =
                kinds.filter(|kind| kind["modality"] == "AUDIO").filter_map(|kind| kind["tokenCount"].as_u64());
            total.audio = total.audio.max(spoken.sum());
            let answer = total.output - total.reasoning;
            total.reasoning = count("thoughtsTokenCount").unwrap_or(total.reasoning);
            total.output = count("candidatesTokenCount").unwrap_or(answer) + total.reasoning;
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
        let raw = raw_parts(payload);
        for (at, part) in candidate["content"]["parts"].as_array().into_iter().flatten().enumerate() {
            self.part(part, raw.get(at).copied(), events);
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

/// The parts of a chunk, byte for byte, where any of them is signed.
fn raw_parts(payload: &str) -> Vec<&RawValue> {
    #[derive(Deserialize)]
    struct Chunk<'a> {
        #[serde(borrow)]
        candidates: Vec<Candidate<'a>>,
    }
    #[derive(Deserialize)]
    struct Candidate<'a> {
        #[serde(borrow)]
        content: Parts<'a>,
    }
    #[derive(Deserialize)]
    struct Parts<'a> {
        #[serde(borrow)]
        parts: Vec<&'a RawValue>,
    }
    if !payload.contains("thoughtSignature") {
        return Vec::new();
    }
    let chunk: Option<Chunk<'_>> = serde_json::from_str(payload).ok();
    chunk.and_then(|chunk| chunk.candidates.into_iter().next()).map(|first| first.content.parts).unwrap_or_default()
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "LANGUAGE"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::Moderated,
        other => FinishReason::Other(other.to_owned()),
    }
}
