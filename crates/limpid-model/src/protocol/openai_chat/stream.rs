//! A reply over Chat Completions.

use serde_json::{Map, Value};

use super::super::Decoder;
use super::super::collect::{Collect, Pending};
use super::super::gateway::Gateway;
use crate::errors::Fault;
use crate::json::to_json;
use crate::model::{FinishReason, ModelEvent, On};

/// A reply's stream.
pub(crate) struct Stream {
    reply: Collect,
    /// Whether the server wants the reasoning of messages with calls back.
    wants_back: bool,
    /// The reasoning so far, and the name by which it came.
    reasoning: Option<(&'static str, String)>,
    /// What the provider behind the server wants back.
    gateway: Gateway,
    /// A part of the content that holds reasoning, and its text so far.
    thinking: Option<(Map<String, Value>, String)>,
}

impl Stream {
    pub(crate) fn new(reply: Collect, wants_back: bool) -> Self {
        Self { reply, wants_back, reasoning: None, gateway: Gateway::default(), thinking: None }
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.end_thinking(events);
        let calls = self.reply.started() > 0;
        for (at, fields) in self.gateway.calls() {
            self.reply.state(Value::Object(fields).to_string(), On::Call(at), events);
        }
        let mut back = self.gateway.message();
        if let Some((name, text)) = self.reasoning.take().filter(|_| calls) {
            back.insert(name.to_owned(), text.into());
        }
        if !back.is_empty() {
            self.reply.state(Value::Object(back).to_string(), On::Answer, events);
        }
        self.reply.end(events)
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<ModelEvent>) {
        // A server that does not stream sends `message` in place of `delta`.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        self.gateway.feed(delta);
        let said = ["reasoning_content", "reasoning"].into_iter().find_map(|name| Some((name, delta[name].as_str()?)));
        match said {
            Some((name, text)) => {
                self.reply.reasoning(text, events);
                if self.wants_back && !text.is_empty() {
                    self.reasoning.get_or_insert_with(|| (name, String::new())).1.push_str(text);
                }
            }
            None => self.reply.reasoning(&Gateway::words(delta), events),
        }
        self.content(&delta["content"], events);
        self.reply.text(delta["refusal"].as_str().unwrap_or_default(), events);
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call);
        }
        if let Some(old) = delta["function_call"].as_object() {
            self.call(&serde_json::json!({ "index": 0, "function": old }));
        }
        // Some servers send an empty word with every piece.
        if let Some(word) = choice["finish_reason"].as_str().filter(|word| !word.is_empty()) {
            self.reply.finished(finish_reason(word));
        }
    }

    /// A content that is a text or a list of parts, some of which may hold reasoning.
    fn content(&mut self, content: &Value, events: &mut Vec<ModelEvent>) {
        let parts = match content {
            Value::Array(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        for part in parts {
            if part["type"] == "thinking" {
                let words: String = part["thinking"].as_array().map_or_else(
                    || part["thinking"].as_str().unwrap_or_default().to_owned(),
                    |all| all.iter().filter_map(|one| one["text"].as_str()).collect(),
                );
                self.reply.reasoning(&words, events);
                let fields = part.as_object().cloned().unwrap_or_default();
                let open = self.thinking.get_or_insert_with(|| (Map::new(), String::new()));
                open.0.extend(fields);
                open.1.push_str(&words);
            } else if let Some(text) = part.as_str().or_else(|| part["text"].as_str()).filter(|text| !text.is_empty()) {
                self.end_thinking(events);
                self.reply.text(text, events);
            }
        }
    }

    /// Ends a part that holds reasoning; it goes back as it came, but in one piece.
    fn end_thinking(&mut self, events: &mut Vec<ModelEvent>) {
        if let Some((mut fields, text)) = self.thinking.take() {
            fields.insert("thinking".to_owned(), serde_json::json!([{"type": "text", "text": text}]));
            self.reply.state(to_json(&fields), On::Place(self.reply.started()), events);
        }
    }

    /// One piece of a call. Servers that give every call the same place are told apart by a new name or id.
    fn call(&mut self, piece: &Value) {
        let function = &piece["function"];
        let id = piece["id"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let known = match piece["index"].as_u64() {
            Some(place) => self
                .reply
                .find_call(|call| call.place == place && (id.is_empty() || call.id.is_empty() || call.id == id)),
            None if !id.is_empty() => self.reply.find_call(|call| call.id == id),
            None if name.is_empty() => self.reply.find_call(|_| true),
            None => None,
        };
        let goes_on = known.filter(|at| {
            let call = self.reply.call(*at);
            let other_id = !id.is_empty() && !call.id.is_empty() && id != call.id;
            let starts_again = !name.is_empty() && !call.arguments.is_empty() && id != call.id;
            !other_id && !starts_again
        });
        let at = goes_on.unwrap_or_else(|| {
            let place = piece["index"].as_u64().unwrap_or_default();
            self.reply.start_call(Pending { place, ..Pending::default() });
            self.reply.started() - 1
        });
        let call = self.reply.call(at);
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        call.add(&function["arguments"]);
        self.gateway.feed_call(at, piece);
    }
}

impl Decoder for Stream {
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let payload = payload.trim();
        if payload == "[DONE]" {
            if !self.reply.is_finished() {
                self.reply.finished(FinishReason::Stop);
            }
            return self.end(events);
        }
        let chunk = Fault::parse(payload)?;
        Fault::check(&chunk)?;
        if let Some(usage) = chunk["usage"].as_object() {
            let count = |name: &str| usage.get(name).and_then(Value::as_u64);
            let details = &chunk["usage"]["prompt_tokens_details"];
            self.reply.count(|total| {
                total.input = count("prompt_tokens").unwrap_or(total.input);
                total.output = count("completion_tokens").unwrap_or(total.output);
                let cached = details["cached_tokens"].as_u64().or_else(|| count("prompt_cache_hit_tokens"));
                total.cached = cached.unwrap_or(total.cached);
                let reasoning = chunk["usage"]["completion_tokens_details"]["reasoning_tokens"].as_u64();
                total.reasoning = reasoning.unwrap_or(total.reasoning);
                total.audio = details["audio_tokens"].as_u64().unwrap_or(total.audio);
                total.cache_written = details["cache_write_tokens"].as_u64().unwrap_or(total.cache_written);
            });
        }
        if let Some(name) = chunk["model"].as_str() {
            self.reply.by_model(name);
        }
        if let Some(dollars) = chunk["usage"]["cost"].as_f64() {
            self.reply.charged(dollars);
        }
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            // Only one answer was asked for.
            if choice["index"].as_u64().unwrap_or_default() == 0 {
                self.choice(choice, events);
            }
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.end(events)
    }
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "stop" | "eos" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::Calls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" | "refusal" => FinishReason::Moderated,
        other => FinishReason::Other(other.to_owned()),
    }
}
