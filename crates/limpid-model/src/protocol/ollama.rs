//! Ollama's own protocol: one JSON document a line.

use limpid_core::Role;
use serde_json::Value;

use super::collect::{Collect, Pending};
use super::{Decoder, openai_chat};
use crate::errors::Fault;
use crate::json::{Object, arguments_object, array};
use crate::model::{FinishReason, ModelEvent, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage};

/// The window is said each time: the server would otherwise cut long prompts to its own small default in silence.
pub(super) fn body(call: &WireCall<'_>) -> String {
    // The protocol has no word for "none".
    let declared = !call.tools.is_empty() && *call.choice != ToolUse::Never;
    let tools = declared.then(|| array(call.tools.iter().map(openai_chat::tool)));
    let format = match &*call.reply {
        ReplyForm::Text => None,
        ReplyForm::Json { schema, .. } => Some(schema),
    };
    let options = Object::new()
        .maybe("num_ctx", call.window)
        .maybe("temperature", call.sampling.temperature)
        .maybe("top_p", call.sampling.top_p)
        .maybe("seed", call.sampling.seed)
        .maybe("num_predict", call.sampling.max_output)
        .end();
    Object::new()
        .text("model", call.model)
        .raw("messages", array(call.messages.iter().map(message)))
        .maybe("tools", tools)
        .maybe("format", format)
        .maybe("options", (options != "{}").then_some(options))
        .raw("stream", true)
        .end()
}

fn message(message: &WireMessage<'_>) -> String {
    let calls = message.calls.iter().map(|call| {
        let function = Object::new().text("name", &call.name).raw("arguments", arguments_object(&call.arguments)).end();
        Object::new().raw("function", function).end()
    });
    let calls = (!message.calls.is_empty()).then(|| array(calls));
    let tool = message.tool.filter(|_| message.role == Role::Tool).map(crate::json::string);
    let object = Object::new().text("role", message.role.as_str()).text("content", &message.text);
    object.maybe("tool_calls", calls).maybe("tool_name", tool).end()
}

/// A reply's stream.
pub(super) struct Stream {
    reply: Collect,
}

impl Stream {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { reply: Collect::new(ids) }
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let line = Fault::parse(payload)?;
        Fault::check(&line)?;
        let message = &line["message"];
        self.reply.reasoning(message["thinking"].as_str().unwrap_or_default(), events);
        self.reply.text(message["content"].as_str().unwrap_or_default(), events);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let owned = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let pending = Pending { id: owned(&call["id"]), name: owned(&function["name"]), ..Pending::default() };
            self.reply.start_call(pending).add(&function["arguments"]);
        }
        if line["done"] == true {
            if let Some(input) = line["prompt_eval_count"].as_u64() {
                self.reply.count(|total| total.input = input);
            }
            if let Some(output) = line["eval_count"].as_u64() {
                self.reply.count(|total| total.output = output);
            }
            self.reply.finished(match line["done_reason"].as_str() {
                None | Some("stop") => FinishReason::Stop,
                Some("length") => FinishReason::Length,
                Some(other) => FinishReason::Other(other.to_owned()),
            });
            return self.reply.end(events);
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.reply.end(events)
    }
}
