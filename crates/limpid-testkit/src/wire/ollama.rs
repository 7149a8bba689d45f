//! Ollama: one JSON document a line.

use limpid_model::script::Reply;
use serde_json::{Value, json};

use super::words::Spoken;

pub(super) fn speak(reply: &Reply, model: &str) -> Spoken {
    let line = |message: Value| {
        format!(
            "{}\n",
            json!({"model": model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
        )
    };
    let mut pieces: Vec<String> = reply
        .reasoning
        .0
        .iter()
        .map(|piece| line(json!({"role": "assistant", "content": "", "thinking": piece})))
        .collect();
    pieces.extend(reply.text_pieces().map(|piece| line(json!({"role": "assistant", "content": piece}))));
    for call in &reply.calls {
        let arguments: Value =
            serde_json::from_str(&call.arguments_text()).unwrap_or_else(|_| json!({"text": call.arguments_text()}));
        let function = json!({"function": {"name": call.name, "arguments": arguments}});
        pieces.push(line(json!({"role": "assistant", "content": "", "tool_calls": [function]})));
    }
    let finish = match reply.finish_word() {
        "calls" => "stop",
        word => word,
    };
    let mut last = json!({
        "model": model, "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": ""},
        "done": true, "done_reason": finish,
    });
    if let Some(usage) = reply.usage {
        last["prompt_eval_count"] = json!(usage.input);
        last["eval_count"] = json!(usage.output);
    }
    Spoken { pieces, end: vec![format!("{last}\n")] }
}
