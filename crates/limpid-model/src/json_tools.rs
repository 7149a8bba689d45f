//! Tool calls from models that have no protocol for them (`ToolProtocol::Json`).
//!
//! The reply is held to a JSON schema with two forms: `{"calls":[{"name":"…","arguments":{…}}]}` or
//! `{"answer":"…"}`. [`reply_form`] makes the schema from the offered tools, [`JsonReply`] turns what comes back into
//! the events of a native model; the answer's text is streamed while it is still being written.

use limpid_core::ToolCall;
use serde_json::{Value, json};

use crate::call_ids::CallIds;
use crate::model::{FinishReason, ModelEvent, ReplyForm, ToolUse};
use crate::wire::WireTool;

/// Calls that one reply may hold; without a limit a small model can repeat itself for ever.
const MAX_CALLS: usize = 8;

/// The form of a reply that calls one of these tools or answers.
pub(crate) fn reply_form(tools: &[WireTool<'_>], choice: &ToolUse) -> ReplyForm {
    let wanted = |tool: &&WireTool<'_>| match choice {
        ToolUse::Must(name) => tool.name == *name,
        ToolUse::Auto | ToolUse::Never => true,
    };
    let calls: Vec<Value> = tools.iter().filter(wanted).map(call_schema).collect();
    let item = if let [only] = &calls[..] { only.clone() } else { json!({ "anyOf": calls }) };
    let most = if let ToolUse::Must(_) = choice { 1 } else { MAX_CALLS };
    let list = json!({"type": "array", "items": item, "minItems": 1, "maxItems": most});
    let calls = object(&[("calls", list)]);
    let answer = object(&[("answer", json!({"type": "string"}))]);
    let schema = match choice {
        ToolUse::Must(_) => calls,
        ToolUse::Auto => json!({ "anyOf": [calls, answer] }),
        // A small model that sees its calls in the conversation writes one more unless it cannot.
        ToolUse::Never => answer,
    };
    ReplyForm::Json { name: "reply".to_owned(), schema }
}

fn call_schema(tool: &WireTool<'_>) -> Value {
    let arguments = serde_json::from_str(tool.schema.get()).unwrap_or_else(|_| json!({"type": "object"}));
    object(&[("name", json!({"type": "string", "enum": [tool.name]})), ("arguments", arguments)])
}

fn object(fields: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// Turns the events of a reply in this form into those of a native model.
///
/// A server that did not keep to the schema and answered in prose is taken at its word.
#[derive(Clone, Debug)]
pub(crate) struct JsonReply {
    ids: CallIds,
    raw: String,
    state: State,
    /// Whether there was a call.
    called: bool,
}

#[derive(Clone, Debug)]
enum State {
    /// Nothing that tells the form has come yet.
    Start,
    /// Prose: passed on as it comes.
    Prose,
    /// An answer, its text being unescaped from this byte of `raw` on.
    Answer { at: usize },
    /// An answer whose text is over.
    Answered,
    /// Calls, or JSON of a form that is known only when it is whole.
    Whole,
}

impl JsonReply {
    pub(crate) fn new(ids: CallIds) -> Self {
        Self { ids, raw: String::new(), state: State::Start, called: false }
    }

    /// Takes one event and returns those that it amounts to.
    pub(crate) fn feed(&mut self, event: ModelEvent) -> Vec<ModelEvent> {
        match event {
            ModelEvent::Text(text) => self.text(&text).into_iter().map(ModelEvent::Text).collect(),
            ModelEvent::End(reason) => self.end(reason),
            // It belongs to the JSON that came, which is not what is kept.
            ModelEvent::Stretch | ModelEvent::State(_) => Vec::new(),
            ModelEvent::Call(call) => {
                self.called = true;
                vec![ModelEvent::Call(call)]
            }
            other => vec![other],
        }
    }

    fn text(&mut self, text: &str) -> Option<String> {
        if matches!(self.state, State::Prose) {
            return Some(text.to_owned());
        }
        self.raw.push_str(text);
        if matches!(self.state, State::Start) {
            self.state = form_of(&self.raw)?;
        }
        match self.state {
            State::Prose => Some(std::mem::take(&mut self.raw)),
            State::Answer { at } => {
                let (said, next) = unescape(&self.raw[at..]);
                self.state = next.map_or(State::Answered, |read| State::Answer { at: at + read });
                (!said.is_empty()).then_some(said)
            }
            State::Start | State::Answered | State::Whole => None,
        }
    }

    fn end(&mut self, reason: FinishReason) -> Vec<ModelEvent> {
        let raw = std::mem::take(&mut self.raw);
        let mut events = Vec::new();
        if matches!(self.state, State::Start | State::Whole) {
            // A document that was cut off is no JSON, so it holds no call.
            if let Ok(document) = serde_json::from_str::<Value>(unfenced(&raw)) {
                events = self.whole(&document);
            }
            if events.is_empty() && reason != FinishReason::Length && !raw.trim().is_empty() {
                events.push(ModelEvent::Text(raw));
            }
        }
        self.called |= events.iter().any(|event| matches!(event, ModelEvent::Call(_)));
        let reason = if self.called && reason == FinishReason::Stop { FinishReason::Calls } else { reason };
        events.push(ModelEvent::End(reason));
        events
    }

    /// The calls or the answer of a whole document; nothing when it is neither.
    fn whole(&mut self, document: &Value) -> Vec<ModelEvent> {
        if let Some(answer) = document["answer"].as_str() {
            return vec![ModelEvent::Text(answer.to_owned())];
        }
        let calls = document["calls"].as_array().map_or(&[][..], Vec::as_slice);
        calls
            .iter()
            .filter_map(|call| {
                let name = call["name"].as_str()?.to_owned();
                let arguments = match &call["arguments"] {
                    Value::String(text) => text.clone(),
                    Value::Null => "{}".to_owned(),
                    other => other.to_string(),
                };
                Some(ModelEvent::Call(ToolCall { id: self.ids.claim(None), name, arguments }))
            })
            .collect()
    }
}

/// The form of a reply by its beginning; none while it cannot be told.
fn form_of(raw: &str) -> Option<State> {
    const ANSWER: &str = "\"answer\"";
    let trimmed = raw.trim_start();
    if trimmed.is_empty() || ("```json".starts_with(trimmed)) {
        return None;
    }
    if trimmed.starts_with("```") {
        return Some(State::Whole);
    }
    let Some(inside) = trimmed.strip_prefix('{') else { return Some(State::Prose) };
    let inside = inside.trim_start();
    let Some(rest) = inside.strip_prefix(ANSWER) else {
        return (!ANSWER.starts_with(inside)).then_some(State::Whole);
    };
    let rest = rest.trim_start();
    let Some(rest) = rest.strip_prefix(':') else { return (!rest.is_empty()).then_some(State::Whole) };
    let rest = rest.trim_start();
    match rest.strip_prefix('"') {
        Some(text) => Some(State::Answer { at: raw.len() - text.len() }),
        None => (!rest.is_empty()).then_some(State::Whole),
    }
}

/// Unescapes the inside of a JSON string as far as it goes: the text, and how many bytes were read, or none when the
/// closing quote was reached.
fn unescape(raw: &str) -> (String, Option<usize>) {
    let mut said = String::new();
    let mut read = 0;
    while let Some(next) = raw[read..].chars().next() {
        match next {
            '"' => return (said, None),
            '\\' => match escape(&raw[read..]) {
                Some((text, length)) => {
                    said.push(text);
                    read += length;
                }
                None => break,
            },
            plain => {
                said.push(plain);
                read += plain.len_utf8();
            }
        }
    }
    (said, Some(read))
}

/// One escape at the start of `raw` and its length; none while it is not whole.
fn escape(raw: &str) -> Option<(char, usize)> {
    let simple = match raw.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode_escape(raw),
        _ => return raw[1..].chars().next().map(|other| (other, 1 + other.len_utf8())),
    };
    Some((simple, 2))
}

fn unicode_escape(raw: &str) -> Option<(char, usize)> {
    let unit = |at: usize| -> Option<Option<u16>> {
        let bytes = raw.as_bytes().get(at..at + 4)?;
        Some(std::str::from_utf8(bytes).ok().and_then(|digits| u16::from_str_radix(digits, 16).ok()))
    };
    let Some(first) = unit(2)? else { return Some((char::REPLACEMENT_CHARACTER, 2)) };
    if !(0xD800..0xDC00).contains(&first) {
        return Some((char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER), 6));
    }
    // The first half of a pair: the second half must follow, or it stands for nothing.
    let rest = &raw.as_bytes()[6..];
    if rest.len() < 2 && b"\\u".starts_with(rest) {
        return None;
    }
    if !rest.starts_with(b"\\u") {
        return Some((char::REPLACEMENT_CHARACTER, 6));
    }
    let pair = unit(8)?.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |whole| (whole, 12)))
}

/// A document without the code fence around it, if there is one.
fn unfenced(raw: &str) -> &str {
    let trimmed = raw.trim();
    let Some(inside) = trimmed.strip_prefix("```") else { return trimmed };
    let inside = inside.strip_prefix("json").unwrap_or(inside);
    inside.strip_suffix("```").unwrap_or(inside)
}

#[cfg(test)]
mod tests;
