//! Ollama's own protocol: one JSON document a line.

use std::borrow::Cow;

use limpid_core::Role;
use limpid_prompt::inputs::CallInput;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::collect::{Collect, Pending};
use super::decoder::Decoder;
use super::{effort, openai_chat};
use crate::errors::Fault;
use crate::json::{arguments_object, to_json};
use crate::model::{FinishReason, ModelEvent, On, ReplyForm, ToolUse};
use crate::wire::{WireCall, WireMessage, WireState};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<openai_chat::Function<openai_chat::Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<effort::Think>,
    #[serde(skip_serializing_if = "Options::is_empty")]
    options: Options,
    stream: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
}

#[derive(Serialize)]
struct Call<'a> {
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: Cow<'a, RawValue>,
}

/// The window is said each time: the server would otherwise cut long prompts to its own small default in silence.
#[derive(Default, PartialEq, Serialize)]
struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
}

impl Options {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub(super) fn body(call: &WireCall<'_>) -> String {
    // The protocol has no word for "none".
    let declared = if *call.choice == ToolUse::Never { &[][..] } else { &call.tools };
    to_json(&Body {
        model: call.model,
        messages: call.messages.iter().map(message).collect(),
        tools: declared.iter().map(openai_chat::tool).collect(),
        format: match &*call.reply {
            ReplyForm::Text => None,
            ReplyForm::Json { schema, .. } => Some(schema),
        },
        think: effort::ollama(call.reasoning),
        options: Options {
            num_ctx: call.window,
            temperature: call.sampling.temperature,
            top_p: call.sampling.top_p,
            seed: call.sampling.seed,
            num_predict: call.sampling.max_output,
        },
        stream: true,
    })
}

fn message<'a>(message: &'a WireMessage<'_>) -> Message<'a> {
    let call = |call: &'a CallInput| Call {
        function: Function { name: &call.name, arguments: arguments_object(&call.arguments) },
    };
    Message {
        role: message.role.as_str(),
        content: &message.text,
        thinking: message.state.first().and_then(thinking),
        tool_calls: message.calls.iter().map(call).collect(),
        tool_name: message.tool.as_deref().filter(|_| message.role == Role::Tool),
    }
}

/// What the model thought before its calls.
fn thinking<'a>(state: &'a WireState<'_>) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    struct Thought<'a> {
        #[serde(borrow)]
        thinking: &'a RawValue,
    }
    serde_json::from_str::<Thought<'_>>(state.json.get()).ok().map(|thought| thought.thinking)
}

/// A reply's stream.
pub(super) struct Stream {
    reply: Collect,
    /// What the model thought so far.
    thinking: String,
}

impl Stream {
    pub(super) fn new(reply: Collect) -> Self {
        Self { reply, thinking: String::new() }
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let line = Fault::parse(payload)?;
        Fault::check(&line)?;
        let message = &line["message"];
        let thinking = message["thinking"].as_str().unwrap_or_default();
        self.reply.reasoning(thinking, events);
        self.thinking.push_str(thinking);
        self.reply.text(message["content"].as_str().unwrap_or_default(), events);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let owned = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let pending = Pending { id: owned(&call["id"]), name: owned(&function["name"]), ..Pending::default() };
            self.reply.start_call(pending).add(&function["arguments"]);
        }
        if line["done"] == true {
            // A model that thinks between its calls goes on from there; before an answer nobody needs it again.
            let thinking = std::mem::take(&mut self.thinking);
            if self.reply.started() > 0 && !thinking.is_empty() {
                let state = serde_json::json!({ "thinking": thinking });
                self.reply.state(state.to_string(), On::Answer, events);
            }
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
