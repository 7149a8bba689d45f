//! Gemini.

use limpid_core::Role;
use serde_json::Value;

use super::Decoder;
use super::collect::{Collect, Pending};
use crate::errors::Fault;
use crate::json::{Object, arguments_object, array, string};
use crate::model::{FinishReason, ModelEvent, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage, WireTool};

/// Stands where a signature is wanted for a call that another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(call: &WireCall<'_>) -> String {
    let first = call.messages.iter().position(|one| one.role != Role::System).unwrap_or(call.messages.len());
    let system = &call.messages[..first];
    let instruction = (!system.is_empty()).then(|| {
        let parts = system.iter().map(|one| text_part(&one.text));
        Object::new().raw("parts", array(parts)).end()
    });
    let tools = (!call.tools.is_empty()).then(|| {
        let declarations = Object::new().raw("functionDeclarations", array(call.tools.iter().map(tool))).end();
        array([declarations])
    });
    let config = tools.as_ref().and_then(|_| tool_config(call.choice));
    Object::new()
        .maybe("systemInstruction", instruction)
        .raw("contents", contents(call, first))
        .maybe("tools", tools)
        .maybe("toolConfig", config)
        .maybe("generationConfig", generation(call))
        .end()
}

/// The messages from `first` on; neighbours of one role become one message.
fn contents(call: &WireCall<'_>, first: usize) -> String {
    let signed = !call.model.starts_with("gemini-1") && !call.model.starts_with("gemini-2");
    let mut merged: Vec<(&str, Vec<String>)> = Vec::new();
    for message in &call.messages[first..] {
        let role = if message.role == Role::Assistant { "model" } else { "user" };
        let parts = parts(message, signed);
        match merged.last_mut() {
            Some((last, all)) if *last == role => all.extend(parts),
            _ => merged.push((role, parts)),
        }
    }
    let merged = merged.into_iter().filter(|(_, parts)| !parts.is_empty());
    array(merged.map(|(role, parts)| Object::new().text("role", role).raw("parts", array(parts)).end()))
}

fn parts(message: &WireMessage<'_>, signed: bool) -> Vec<String> {
    let mut parts = Vec::new();
    match message.role {
        Role::Tool => {
            let result = Object::new().text("result", &message.text).end();
            let response = Object::new().text("name", message.tool.unwrap_or("tool")).raw("response", result).end();
            parts.push(Object::new().raw("functionResponse", response).end());
        }
        _ if message.text.is_empty() => {}
        _ => parts.push(text_part(&message.text)),
    }
    parts.extend(message.calls.iter().enumerate().map(|(at, call)| {
        let function = Object::new().text("name", &call.name).raw("args", arguments_object(&call.arguments)).end();
        // Newer models want the signature of the first call of a step back.
        let signature = call.id.split_once('~').map(|(_, signature)| signature);
        let signature = signature.or((at == 0).then_some(NO_SIGNATURE)).filter(|_| signed).map(string);
        Object::new().raw("functionCall", function).maybe("thoughtSignature", signature).end()
    }));
    parts
}

fn text_part(text: &str) -> String {
    Object::new().text("text", text).end()
}

fn tool(tool: &WireTool<'_>) -> String {
    let object = Object::new().text("name", tool.name).text("description", tool.description);
    object.raw("parametersJsonSchema", tool.schema).end()
}

fn tool_config(choice: &ToolUse) -> Option<String> {
    let config = match choice {
        ToolUse::Auto => return None,
        ToolUse::Never => Object::new().text("mode", "NONE"),
        ToolUse::Must(name) => Object::new().text("mode", "ANY").raw("allowedFunctionNames", array([string(name)])),
    };
    Some(Object::new().raw("functionCallingConfig", config.end()).end())
}

fn generation(call: &WireCall<'_>) -> Option<String> {
    let object = Object::new()
        .maybe("temperature", call.sampling.temperature)
        .maybe("topP", call.sampling.top_p)
        .maybe("seed", call.sampling.seed)
        .maybe("maxOutputTokens", call.sampling.max_output);
    let object = match &*call.reply {
        ReplyForm::Text => object,
        ReplyForm::Json { schema, .. } => {
            object.text("responseMimeType", "application/json").raw("responseJsonSchema", schema)
        }
    };
    Some(object.end()).filter(|config| config != "{}")
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
