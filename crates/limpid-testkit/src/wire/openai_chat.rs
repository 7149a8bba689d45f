//! OpenAI Chat Completions.

use limpid_model::script::Reply;
use serde_json::{Value, json};

use super::words::{SentText, Spoken, content_text, data, halves};

pub(super) fn speak(reply: &Reply, model: &str) -> Spoken {
    let chunk = |delta: Value, finish: Value| {
        data(&json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    };
    let mut pieces: Vec<String> =
        reply.reasoning.0.iter().map(|piece| chunk(json!({"reasoning_content": piece}), Value::Null)).collect();
    pieces.extend(reply.text_pieces().map(|piece| chunk(json!({"content": piece}), Value::Null)));
    for (at, call) in reply.calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let start = json!({"index": at, "id": call.id_or(at), "type": "function", "function": function});
        pieces.push(chunk(json!({"tool_calls": [start]}), Value::Null));
        for half in halves(&call.arguments_text()) {
            let more = json!({"index": at, "function": {"arguments": half}});
            pieces.push(chunk(json!({"tool_calls": [more]}), Value::Null));
        }
    }
    let finish = match reply.finish_word() {
        "calls" => "tool_calls",
        "moderated" => "content_filter",
        word => word,
    };
    let mut end = vec![chunk(json!({}), json!(finish))];
    if let Some(usage) = reply.usage {
        end.push(data(&json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": [],
            "usage": {
                "prompt_tokens": usage.input, "completion_tokens": usage.output,
                "total_tokens": usage.input + usage.output,
                "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
                "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
            },
        })));
    }
    end.push("data: [DONE]\n\n".to_owned());
    Spoken { pieces, end }
}

/// Also reads Ollama's requests, whose messages have the same shape.
pub(super) fn texts(body: &Value) -> Vec<SentText> {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    messages
        .iter()
        .map(|message| SentText::new(message["role"].as_str().unwrap_or_default(), content_text(&message["content"])))
        .collect()
}
