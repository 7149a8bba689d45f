//! What Chat Completions servers that stand before other providers want back with a message: the reasoning of those
//! providers, in fields of their own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Fields of a call that come from the provider behind the server.
const OF_CALLS: [&str; 2] = ["provider_specific_fields", "extra_content"];

/// Texts that come in pieces.
const IN_PIECES: [&str; 3] = ["text", "summary", "data"];

/// These fields so far.
#[derive(Debug, Default)]
pub(super) struct Gateway {
    /// OpenRouter's, joined by their `index`.
    details: Vec<Map<String, Value>>,
    /// Anthropic's blocks as LiteLLM hands them on.
    thinking: Vec<Map<String, Value>>,
    /// Whether the last block still grows.
    is_open: bool,
    fields: Map<String, Value>,
    /// Fields of calls, by the call's position.
    calls: BTreeMap<usize, Map<String, Value>>,
}

impl Gateway {
    /// Takes these fields out of a piece of a message.
    pub(super) fn feed(&mut self, delta: &Value) {
        for detail in objects(&delta["reasoning_details"]) {
            self.detail(detail);
        }
        for block in objects(&delta["thinking_blocks"]) {
            self.thinking(block);
        }
        for (name, value) in delta["provider_specific_fields"].as_object().into_iter().flatten() {
            match (self.fields.get_mut(name), value) {
                // It is the same as the field of this name beside it.
                _ if name == "thinking_blocks" || value.is_null() => {}
                (Some(Value::Array(all)), Value::Array(more)) => all.extend(more.iter().cloned()),
                _ => drop(self.fields.insert(name.clone(), value.clone())),
            }
        }
    }

    /// The reasoning of a piece in words; a server that says it in another field too says the same there.
    pub(super) fn words(delta: &Value) -> String {
        let words = objects(&delta["reasoning_details"]).filter_map(|detail| {
            let word = ["text", "summary"].into_iter().find_map(|name| detail.get(name));
            word.and_then(Value::as_str)
        });
        words.collect()
    }

    fn detail(&mut self, detail: &Map<String, Value>) {
        let place = detail.get("index").and_then(Value::as_u64);
        let goes_on = |known: &&mut Map<String, Value>| {
            known.get("type") == detail.get("type") && known.get("index").and_then(Value::as_u64) == place
        };
        // Without a place only the pieces of a text that follow each other belong together.
        let known = match place {
            Some(_) => self.details.iter_mut().rfind(goes_on),
            None => self.details.last_mut().filter(goes_on).filter(|known| !known.contains_key("data")),
        };
        match known {
            Some(known) => join(known, detail),
            None => self.details.push(detail.clone()),
        }
    }

    fn thinking(&mut self, block: &Map<String, Value>) {
        let is_piece = block.get("type").is_some_and(|kind| kind == "thinking");
        let last = self.thinking.last_mut().filter(|_| self.is_open && is_piece);
        match last {
            Some(last) => {
                let piece = block.get("thinking").and_then(Value::as_str).unwrap_or_default();
                if let Some(Value::String(text)) = last.get_mut("thinking") {
                    text.push_str(piece);
                }
                if let Some(signature) = block.get("signature").filter(|signature| is_said(signature)) {
                    last.insert("signature".to_owned(), signature.clone());
                }
            }
            None => self.thinking.push(block.clone()),
        }
        let is_signed = self.thinking.last().and_then(|last| last.get("signature")).is_some_and(is_said);
        self.is_open = is_piece && !is_signed;
    }

    /// What goes back with the message.
    pub(super) fn message(&mut self) -> Map<String, Value> {
        let Self { details, thinking, fields, .. } = std::mem::take(self);
        // Anthropic refuses a block without its signature.
        let is_whole = |block: &Map<String, Value>| {
            block.get("type").is_none_or(|kind| kind != "thinking") || block.get("signature").is_some_and(is_said)
        };
        let thinking: Vec<_> = thinking.into_iter().filter(is_whole).collect();
        let list = |all: Vec<Map<String, Value>>| (!all.is_empty()).then(|| Value::from(all));
        let fields = (!fields.is_empty()).then_some(Value::Object(fields));
        let all = [
            ("reasoning_details", list(details)),
            ("thinking_blocks", list(thinking)),
            ("provider_specific_fields", fields),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// Takes these fields out of a piece of the call at this position.
    pub(super) fn feed_call(&mut self, at: usize, piece: &Value) {
        let own = |of: &Value| -> Map<String, Value> {
            let said = OF_CALLS.into_iter().filter_map(|name| Some((name.to_owned(), of.get(name)?.clone())));
            said.filter(|(_, value)| value.as_object().is_some_and(|fields| !fields.is_empty())).collect()
        };
        let (mut fields, of_function) = (own(piece), own(&piece["function"]));
        if !of_function.is_empty() {
            fields.insert("function".to_owned(), Value::Object(of_function));
        }
        if !fields.is_empty() {
            self.calls.entry(at).or_default().extend(fields);
        }
    }

    /// What goes back with each call.
    pub(super) fn calls(&mut self) -> BTreeMap<usize, Map<String, Value>> {
        std::mem::take(&mut self.calls)
    }
}

/// Adds a piece to what it continues.
fn join(known: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (name, value) in piece {
        match (known.get_mut(name), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if IN_PIECES.contains(&name.as_str()) => {
                text.push_str(more);
            }
            _ => drop(known.insert(name.clone(), value.clone())),
        }
    }
}

fn is_said(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn objects(list: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    list.as_array().into_iter().flatten().filter_map(Value::as_object)
}
