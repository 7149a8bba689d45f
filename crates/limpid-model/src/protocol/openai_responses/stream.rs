//! A reply over Responses.

use limpid_core::reach::FIND_TOOLS;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::Decoder;
use super::super::collect::{Collect, Pending};
use crate::call_ids::CallIds;
use crate::errors::Fault;
use crate::json::to_json;
use crate::model::{FinishReason, ModelEvent, On};

/// The phase of a report while the model works.
const COMMENTARY: &str = "commentary";

/// A reply's stream.
pub(crate) struct Stream {
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
    pub(crate) fn new(ids: CallIds) -> Self {
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
            Some("function_call" | "tool_search_call") => self.call(place, item, events),
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
            Some("function_call" | "tool_search_call") => self.call(place, item, events),
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
            if item["type"] == "tool_search_call" {
                // The provider has a kind of call of its own for it, and writes the arguments as they are.
                FIND_TOOLS.clone_into(&mut call.name);
                call.arguments = item["arguments"].as_str().map_or_else(|| to_json(&item["arguments"]), str::to_owned);
                return;
            }
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
