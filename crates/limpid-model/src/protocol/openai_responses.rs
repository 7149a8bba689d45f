//! OpenAI Responses.

use std::borrow::Cow;

use limpid_core::Role;
use limpid_core::state::Piece;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Decoder;
use super::collect::{Collect, Pending};
use super::effort;
use crate::errors::Fault;
use crate::json::{to_json, to_raw};
use crate::model::{FinishReason, ModelEvent, On, ReplyForm, ToolUse};
use crate::wire::{CallIds, WireCall, WireMessage, WireState, WireTool};

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
#[serde(tag = "type", rename = "function")]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
    strict: bool,
}

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
    let has_marks = call.messages.iter().any(|message| message.cache_mark);
    to_json(&Body {
        model: call.model,
        input: call.messages.iter().flat_map(|message| items(message, call)).collect(),
        tools: call.tools.iter().map(tool).collect(),
        tool_choice: tool_choice(&call.choice).filter(|_| !call.tools.is_empty()),
        text: text_format(&call.reply),
        reasoning: effort::responses(call.reasoning),
        temperature: call.sampling.temperature,
        top_p: call.sampling.top_p,
        max_output_tokens: call.sampling.max_output,
        prompt_cache_key: call.conversation,
        prompt_cache_options: (call.pays_for_cache && has_marks).then_some(CacheMode::Explicit),
        // Nothing is stored there, so reasoning comes back only when it is sent along.
        include: if call.reasoning.reasons { vec!["reasoning.encrypted_content"] } else { Vec::new() },
        store: false,
        stream: true,
    })
}

/// A message's items in their order. Where marks are paid for, texts come as parts, which can be marked: the form is the same
/// with a mark and without, so that a mark that moves changes nothing else.
fn items<'a>(message: &'a WireMessage<'_>, call: &WireCall<'_>) -> Vec<Item<'a>> {
    let text = &*message.text;
    let role = super::role_word(message.role, call.model);
    let content = || match call.pays_for_cache && message.role != Role::Assistant {
        true => {
            let prompt_cache_breakpoint = message.cache_mark.then_some(CacheMode::Explicit);
            Content::Parts([InputText { text, prompt_cache_breakpoint }])
        }
        false => Content::Text(text),
    };
    match message.call_id.as_deref().filter(|_| message.role == Role::Tool) {
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
        Piece::Call(at, _) => message.calls.get(at).map(|call| Item::FunctionCall {
            call_id: &call.id,
            name: &call.name,
            arguments: &call.arguments,
        }),
    };
    let mut items: Vec<Item<'_>> = message.pieces().into_iter().filter_map(item).collect();
    // Reasoning without what it led to is refused.
    while items.pop_if(|last| matches!(last, Item::Given(_))).is_some() {}
    items
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
fn tool<'a>(tool: &'a WireTool<'_>) -> Tool<'a> {
    Tool { name: &tool.name, description: tool.description, parameters: &tool.schema, strict: tool.strict }
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

/// The phase of a report while the model works.
const COMMENTARY: &str = "commentary";

/// A reply's stream.
pub(super) struct Stream {
    reply: Collect,
    /// Names of the items of a server that does not count them.
    uncounted: Vec<String>,
    /// The report that is being written while the model works, by its place, and its text so far.
    report: Option<(u64, String)>,
    /// Reports, and what came between them, until it is known what they lead to.
    held: Vec<Held>,
    /// Whether any of the answer's text came.
    said: bool,
}

/// What waits until it is known whether anything follows the reports.
enum Held {
    Report(String),
    /// An item of the provider's own.
    Item(String),
}

impl Stream {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { reply: Collect::new(ids), uncounted: Vec::new(), report: None, held: Vec::new(), said: false }
    }

    /// Which item of the answer an event is about.
    fn place(&mut self, event: &Value) -> u64 {
        if let Some(place) = event["output_index"].as_u64() {
            return place;
        }
        let names = [&event["item_id"], &event["item"]["id"], &event["item"]["call_id"]];
        let name = names.into_iter().find_map(|name| name.as_str().filter(|name| !name.is_empty()));
        let at = match name {
            Some(name) => self.uncounted.iter().position(|known| known == name).unwrap_or_else(|| {
                self.uncounted.push(name.to_owned());
                self.uncounted.len() - 1
            }),
            None => self.uncounted.len().saturating_sub(1),
        };
        at as u64
    }

    fn added(&mut self, place: u64, item: &Value, events: &mut Vec<ModelEvent>) {
        match item["type"].as_str() {
            Some("message") if item["phase"] == COMMENTARY => self.report = Some((place, String::new())),
            Some("message") => {
                self.let_go(events);
                self.reply.stretch(events);
            }
            Some("function_call") => self.call(place, item, events),
            _ => {}
        }
    }

    /// A report is shown as progress; whether it is the answer is known at the end.
    fn text(&mut self, place: u64, delta: &str, events: &mut Vec<ModelEvent>) {
        match &mut self.report {
            Some((at, text)) if *at == place => {
                text.push_str(delta);
                self.reply.reasoning(delta, events);
            }
            _ => {
                self.said |= !delta.is_empty();
                self.reply.text(delta, events);
            }
        }
    }

    fn done(&mut self, payload: &str, place: u64, item: &Value, events: &mut Vec<ModelEvent>) {
        match item["type"].as_str() {
            // Without its content it is a name that means nothing where nothing is stored.
            Some("reasoning") if item["encrypted_content"].as_str().is_some_and(|content| !content.is_empty()) => {
                if self.held.is_empty() {
                    self.reply.state(given(payload), On::Place(self.reply.started()), events);
                } else {
                    self.held.push(Held::Item(given(payload)));
                }
            }
            Some("message") if self.report.as_ref().is_some_and(|(at, _)| *at == place) => self.end_report(),
            Some("message") if item["phase"].is_string() => {
                let phase = serde_json::json!({ "phase": item["phase"] });
                self.reply.state(phase.to_string(), On::Stretch(self.reply.started()), events);
            }
            Some("function_call") => self.call(place, item, events),
            _ => {}
        }
    }

    fn end_report(&mut self) {
        self.held.extend(self.report.take().map(|(_, text)| Held::Report(text)));
    }

    /// The reports led to something, so they were progress and no part of the answer; they go back as they were.
    fn let_go(&mut self, events: &mut Vec<ModelEvent>) {
        self.end_report();
        let place = On::Place(self.reply.started());
        for held in std::mem::take(&mut self.held) {
            let json = match held {
                Held::Item(json) => json,
                Held::Report(text) => {
                    serde_json::json!({"role": "assistant", "content": text, "phase": COMMENTARY}).to_string()
                }
            };
            self.reply.state(json, place, events);
        }
    }

    /// Nothing followed the reports: when they are all that was said, they are the answer.
    fn settle(&mut self, events: &mut Vec<ModelEvent>) {
        self.end_report();
        if self.said || self.reply.started() > 0 {
            return self.let_go(events);
        }
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Item(json) => self.reply.state(json, On::Place(0), events),
                Held::Report(text) => {
                    self.reply.stretch(events);
                    self.reply.text(&text, events);
                    self.reply.state(serde_json::json!({ "phase": COMMENTARY }).to_string(), On::Stretch(0), events);
                }
            }
        }
    }

    fn call(&mut self, place: u64, item: &Value, events: &mut Vec<ModelEvent>) {
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        if self.reply.call_at(place).is_none() {
            self.let_go(events);
            self.reply.start_call(Pending { place, ..Pending::default() });
        }
        if let Some(call) = self.reply.call_at(place) {
            text("call_id").clone_into(&mut call.id);
            text("name").clone_into(&mut call.name);
            // The item is whole when it is done, and its pieces have come before.
            text("arguments").clone_into(&mut call.arguments);
        }
    }

    fn over(&mut self, response: &Value, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let usage = &response["usage"];
        if usage.is_object() {
            let details = &usage["input_tokens_details"];
            self.reply.count(|total| {
                total.input = usage["input_tokens"].as_u64().unwrap_or_default();
                total.cached = details["cached_tokens"].as_u64().unwrap_or_default();
                total.cache_written = details["cache_write_tokens"].as_u64().unwrap_or_default();
                total.output = usage["output_tokens"].as_u64().unwrap_or_default();
                let details = &usage["output_tokens_details"];
                total.reasoning = details["reasoning_tokens"].as_u64().unwrap_or_default();
            });
        }
        self.settle(events);
        self.reply.finished(match response["incomplete_details"]["reason"].as_str() {
            None => FinishReason::Stop,
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::Moderated,
            Some(other) => FinishReason::Other(other.to_owned()),
        });
        self.reply.end(events)
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        if payload.trim() == "[DONE]" {
            return Ok(());
        }
        let event = Fault::parse(payload)?;
        let place = self.place(&event);
        let delta = event["delta"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" | "response.refusal.delta" => self.text(place, delta, events),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reply.reasoning(delta, events);
            }
            "response.output_item.added" => self.added(place, &event["item"], events),
            "response.output_item.done" => self.done(payload, place, &event["item"], events),
            "response.function_call_arguments.delta" => {
                if let Some(call) = self.reply.call_at(place) {
                    call.arguments.push_str(delta);
                }
            }
            "response.completed" | "response.incomplete" => return self.over(&event["response"], events),
            "response.failed" => return Err(Fault::Provider(event["response"].clone())),
            "error" => return Err(Fault::Provider(event)),
            _ => Fault::check(&event)?,
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.reply.end(events)
    }
}

/// The item of an event, byte for byte.
fn given(payload: &str) -> String {
    #[derive(Deserialize)]
    struct Done<'a> {
        #[serde(borrow)]
        item: &'a RawValue,
    }
    serde_json::from_str::<Done<'_>>(payload).map(|done| done.item.get().to_owned()).unwrap_or_default()
}
