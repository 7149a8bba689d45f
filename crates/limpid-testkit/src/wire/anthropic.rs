//! Anthropic Messages.

use limpid_model::script::Reply;
use serde_json::{Value, json};

use super::words::{SentText, Spoken, content_text, event, halves};

pub(super) fn speak(reply: &Reply, model: &str) -> Spoken {
    let mut message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []});
    if let Some(usage) = reply.usage {
        message["usage"] = json!({
            "input_tokens": usage.input.saturating_sub(usage.cached + usage.cache_written),
            "cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": usage.cache_written,
            "output_tokens": 1,
        });
    }
    let mut blocks = Blocks { events: vec![event(&json!({"type": "message_start", "message": message}))], at: 0 };
    let reasoning: Vec<Value> =
        reply.reasoning.0.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
    blocks.push(&json!({"type": "thinking", "thinking": ""}), &reasoning);
    let text: Vec<Value> = reply.text_pieces().map(|piece| json!({"type": "text_delta", "text": piece})).collect();
    blocks.push(&json!({"type": "text", "text": ""}), &text);
    for (at, call) in reply.calls.iter().enumerate() {
        let deltas =
            halves(&call.arguments_text()).map(|half| json!({"type": "input_json_delta", "partial_json": half}));
        let block = json!({"type": "tool_use", "id": call.id_or(at), "name": call.name, "input": {}});
        blocks.push(&block, &deltas);
    }
    let finish = match reply.finish_word() {
        "stop" => "end_turn",
        "calls" => "tool_use",
        "length" => "max_tokens",
        "moderated" => "refusal",
        word => word,
    };
    let mut over = json!({"type": "message_delta", "delta": {"stop_reason": finish, "stop_sequence": null}});
    if let Some(usage) = reply.usage {
        let details = json!({"thinking_tokens": usage.reasoning});
        over["usage"] = json!({"output_tokens": usage.output, "output_tokens_details": details});
    }
    Spoken { pieces: blocks.events, end: vec![event(&over), event(&json!({"type": "message_stop"}))] }
}

struct Blocks {
    events: Vec<String>,
    at: usize,
}

impl Blocks {
    fn push(&mut self, block: &Value, deltas: &[Value]) {
        if deltas.is_empty() {
            return;
        }
        let at = self.at;
        self.at += 1;
        self.events.push(event(&json!({"type": "content_block_start", "index": at, "content_block": block})));
        self.events.extend(
            deltas.iter().map(|delta| event(&json!({"type": "content_block_delta", "index": at, "delta": delta}))),
        );
        self.events.push(event(&json!({"type": "content_block_stop", "index": at})));
    }
}

pub(super) fn texts(body: &Value) -> Vec<SentText> {
    let mut texts = Vec::new();
    match &body["system"] {
        Value::Array(blocks) => {
            texts.extend(blocks.iter().filter_map(|block| Some(SentText::new("system", block["text"].as_str()?))));
        }
        Value::String(text) => texts.push(SentText::new("system", text)),
        _ => {}
    }
    for message in body["messages"].as_array().map_or(&[][..], Vec::as_slice) {
        let role = message["role"].as_str().unwrap_or_default();
        match &message["content"] {
            Value::Array(blocks) => texts.extend(blocks.iter().filter_map(|block| match block["type"].as_str()? {
                "tool_result" => Some(SentText::new("tool", content_text(&block["content"]))),
                "text" => Some(SentText::new(role, block["text"].as_str()?)),
                _ => None,
            })),
            content => texts.push(SentText::new(role, content_text(content))),
        }
    }
    texts
}
