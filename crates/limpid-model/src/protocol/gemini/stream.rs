//! A reply of Gemini.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::collect::{Collect, Pending};
use super::super::decoder::Decoder;
use crate::call_ids::CallIds;
use crate::errors::Fault;
use crate::model::{FinishReason, ModelEvent, On};

/// A reply's stream, which ends when the connection does.
pub(crate) struct Stream {
    reply: Collect,
}

impl Stream {
    pub(crate) fn new(ids: CallIds) -> Self {
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
