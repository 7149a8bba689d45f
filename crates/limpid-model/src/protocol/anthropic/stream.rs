//! A reply over Anthropic Messages.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::super::collect::{Collect, Pending};
use super::super::decoder::Decoder;
use crate::call_ids::CallIds;
use crate::errors::Fault;
use crate::json::to_json;
use crate::model::{FinishReason, ModelEvent, On};

/// A reply's stream.
pub(crate) struct Stream {
    reply: Collect,
    /// The block whose pieces are coming.
    open: Open,
    /// What the block before it was.
    before: Before,
}

/// A block whose pieces are coming.
#[derive(Default)]
enum Open {
    /// One that needs nothing at its end.
    #[default]
    Plain,
    /// Reasoning: its fields as they were at the start, its text and its signature so far.
    Thinking { fields: Map<String, Value>, text: String, signature: Option<String> },
    /// A text that is a block of its own between others.
    Text { json: String },
}

/// What came before a block, as far as it tells how texts are parted.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    /// Nothing, or state, which parts whatever is around it.
    #[default]
    Parted,
    /// A text, or a call.
    Joined,
}

impl Stream {
    pub(crate) fn new(ids: CallIds) -> Self {
        Self { reply: Collect::new(ids), open: Open::default(), before: Before::default() }
    }

    fn start(&mut self, payload: &str, place: u64, block: &Value, events: &mut Vec<ModelEvent>) {
        // A server that does not say where a block ends.
        self.stop(events);
        match block["type"].as_str() {
            Some("tool_use") => {
                let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
                let call = Pending { place, id: text("id"), name: text("name"), ..Pending::default() };
                let call = self.reply.start_call(call);
                if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    call.add(&block["input"]);
                }
                self.before = Before::Joined;
            }
            Some("text") => {
                if std::mem::replace(&mut self.before, Before::Joined) == Before::Joined {
                    self.reply.stretch(events);
                    self.open = Open::Text { json: given(payload) };
                }
                self.reply.text(block["text"].as_str().unwrap_or_default(), events);
            }
            Some("thinking") => {
                let text = block["thinking"].as_str().unwrap_or_default().to_owned();
                self.reply.reasoning(&text, events);
                let signature = block["signature"].as_str().map(str::to_owned);
                let fields = block.as_object().cloned().unwrap_or_default();
                self.open = Open::Thinking { fields, text, signature };
            }
            Some("redacted_thinking") => {
                self.reply.state(given(payload), On::Place(self.reply.started()), events);
                self.before = Before::Parted;
            }
            _ => {}
        }
    }

    fn delta(&mut self, place: u64, delta: &Value, events: &mut Vec<ModelEvent>) {
        let piece = |name: &str| delta[name].as_str().unwrap_or_default();
        match (delta["type"].as_str(), &mut self.open) {
            (Some("text_delta"), _) => self.reply.text(piece("text"), events),
            (Some("thinking_delta"), open) => {
                if let Open::Thinking { text, .. } = open {
                    text.push_str(piece("thinking"));
                }
                self.reply.reasoning(piece("thinking"), events);
            }
            (Some("signature_delta"), Open::Thinking { signature, .. }) => {
                signature.get_or_insert_default().push_str(piece("signature"));
            }
            (Some("input_json_delta"), _) => {
                if let Some(call) = self.reply.call_at(place) {
                    call.add(&delta["partial_json"]);
                }
            }
            _ => {}
        }
    }

    /// Ends the open block.
    fn stop(&mut self, events: &mut Vec<ModelEvent>) {
        let calls = self.reply.started();
        match std::mem::take(&mut self.open) {
            Open::Plain => {}
            Open::Text { json } => self.reply.state(json, On::Stretch(calls), events),
            Open::Thinking { mut fields, text, signature } => {
                fields.insert("thinking".to_owned(), text.into());
                if let Some(signature) = signature {
                    fields.insert("signature".to_owned(), signature.into());
                }
                self.reply.state(to_json(&fields), On::Place(calls), events);
                self.before = Before::Parted;
            }
        }
    }

    /// The provider counts fresh, cached and written tokens apart; a [`limpid_core::Usage`] counts them together.
    fn usage(&mut self, usage: &Value) {
        let count = |name: &str| usage[name].as_u64();
        if !usage.is_object() {
            return;
        }
        self.reply.count(|total| {
            let fresh = count("input_tokens");
            let fresh = fresh.unwrap_or_else(|| total.input.saturating_sub(total.cached + total.cache_written));
            total.cached = count("cache_read_input_tokens").unwrap_or(total.cached);
            total.cache_written = count("cache_creation_input_tokens").unwrap_or(total.cache_written);
            let hour = usage["cache_creation"]["ephemeral_1h_input_tokens"].as_u64();
            total.cache_written_hour = hour.unwrap_or(total.cache_written_hour);
            total.input = fresh + total.cached + total.cache_written;
            total.output = count("output_tokens").unwrap_or(total.output);
            let thinking = usage["output_tokens_details"]["thinking_tokens"].as_u64();
            total.reasoning = thinking.unwrap_or(total.reasoning);
        });
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let event = Fault::parse(payload)?;
        Fault::check(&event)?;
        let place = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("message_start") => self.usage(&event["message"]["usage"]),
            Some("content_block_start") => self.start(payload, place, &event["content_block"], events),
            Some("content_block_delta") => self.delta(place, &event["delta"], events),
            Some("content_block_stop") => self.stop(events),
            Some("message_delta") => {
                self.usage(&event["usage"]);
                match event["delta"]["stop_reason"].as_str() {
                    Some("refusal") => {
                        self.reply.counted(events);
                        return Err(Fault::Refused(event["delta"]["stop_details"].clone()));
                    }
                    Some(word) => self.reply.finished(finish_reason(word)),
                    None => {}
                }
            }
            Some("message_stop") => {
                self.stop(events);
                if !self.reply.is_finished() {
                    self.reply.finished(FinishReason::Stop);
                }
                return self.reply.end(events);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.stop(events);
        self.reply.end(events)
    }
}

/// The block of an event, byte for byte.
fn given(payload: &str) -> String {
    #[derive(Deserialize)]
    struct Start<'a> {
        #[serde(borrow)]
        content_block: &'a RawValue,
    }
    serde_json::from_str::<Start<'_>>(payload).map(|start| start.content_block.get().to_owned()).unwrap_or_default()
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" | "pause_turn" => FinishReason::Stop,
        "tool_use" => FinishReason::Calls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        other => FinishReason::Other(other.to_owned()),
    }
}
