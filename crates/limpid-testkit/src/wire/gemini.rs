//! Gemini.

use limpid_model::script::Reply;
use serde_json::{Value, json};

use super::words::{SentText, Spoken, data};

pub(super) fn speak(reply: &Reply, model: &str) -> Spoken {
    let chunk = |part: Value| {
        data(&json!({
            "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}], "modelVersion": model,
        }))
    };
    let mut pieces: Vec<String> =
        reply.reasoning.0.iter().map(|piece| chunk(json!({"text": piece, "thought": true}))).collect();
    pieces.extend(reply.text_pieces().map(|piece| chunk(json!({"text": piece}))));
    for call in &reply.calls {
        let arguments: Value =
            serde_json::from_str(&call.arguments_text()).unwrap_or_else(|_| json!({"text": call.arguments_text()}));
        let mut function = json!({"name": call.name, "args": arguments});
        if let Some(id) = &call.id {
            function["id"] = json!(id);
        }
        pieces.push(chunk(json!({"functionCall": function})));
    }
    let finish = match reply.finish_word() {
        "stop" | "calls" => "STOP",
        "length" => "MAX_TOKENS",
        "moderated" => "SAFETY",
        word => word,
    };
    let mut last = json!({"candidates": [{"finishReason": finish, "index": 0}], "modelVersion": model});
    if let Some(usage) = reply.usage {
        last["usageMetadata"] = json!({
            "promptTokenCount": usage.input, "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
            "thoughtsTokenCount": usage.reasoning, "totalTokenCount": usage.input + usage.output,
        });
    }
    Spoken { pieces, end: vec![data(&last)] }
}

pub(super) fn texts(body: &Value) -> Vec<SentText> {
    let parts = |content: &Value| content["parts"].as_array().cloned().unwrap_or_default();
    let mut texts: Vec<SentText> = parts(&body["systemInstruction"])
        .iter()
        .filter_map(|part| Some(SentText::new("system", part["text"].as_str()?)))
        .collect();
    for content in body["contents"].as_array().map_or(&[][..], Vec::as_slice) {
        let role = if content["role"] == "model" { "assistant" } else { "user" };
        texts.extend(parts(content).iter().filter_map(|part| {
            let response = &part["functionResponse"]["response"];
            match (part["text"].as_str(), response["output"].as_str().or(response["error"].as_str())) {
                (Some(text), _) => Some(SentText::new(role, text)),
                (None, Some(text)) => Some(SentText::new("tool", text)),
                (None, None) => None,
            }
        }));
    }
    texts
}
