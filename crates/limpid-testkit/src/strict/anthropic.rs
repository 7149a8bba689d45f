//! Anthropic's rules about thinking.

use serde_json::{Value, json};

use super::parts::{Issued, Refusal, events, list};

pub(super) fn check(body: &Value, issued: &[Issued], preserved: bool) -> Result<(), Refusal> {
    let body = without_marks(body);
    let messages = list(&body, "messages");
    for (at, message) in messages.iter().enumerate().filter(|(_, message)| message["role"] == "assistant") {
        let content = list(message, "content");
        for (n, block) in content.iter().enumerate().filter(|(_, block)| is_thinking(block)) {
            let place = format!("messages.{at}.content.{n}");
            if block["type"] == "thinking" && !block["signature"].is_string() {
                return Err((400, format!("{place}.thinking.signature: Field required")));
            }
            let Some(reply) = issued.iter().find(|reply| reply.content.contains(block)) else {
                return Err((400, format!("{place}: Invalid `signature` in `thinking` block")));
            };
            if reply.content != content {
                let said =
                    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified";
                return Err((400, format!("{place}: {said}")));
            }
            if preserved && prefix(&without_marks(&reply.request), usize::MAX) != prefix(&body, at) {
                return Err((400, format!("{place}: The block is bound to a different conversation")));
            }
        }
    }
    let last = messages.iter().enumerate().rfind(|(_, message)| message["role"] == "assistant");
    let Some((at, first)) = last.and_then(|(at, message)| Some((at, list(message, "content").first()?))) else {
        return Ok(());
    };
    let thought = issued.iter().any(|reply| reply.content.contains(first) && reply.content.iter().any(is_thinking));
    if !preserved && thought && !is_thinking(first) {
        let found = first["type"].as_str().unwrap_or_default();
        let said = format!("Expected `thinking` or `redacted_thinking`, but found `{found}`");
        return Err((
            400,
            format!(
                "messages.{at}.content.0.type: {said}. When `thinking` is enabled, a final `assistant` message must start with a thinking block"
            ),
        ));
    }
    Ok(())
}

fn is_thinking(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// What a block is bound to.
fn prefix(body: &Value, messages: usize) -> Value {
    let all = list(body, "messages");
    json!([body["system"], body["tools"], all[..messages.min(all.len())]])
}

/// A request without what says only where to cache.
fn without_marks(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_marks).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "cache_control");
            kept.map(|(name, value)| (name.clone(), without_marks(value))).collect()
        }
        other => other.clone(),
    }
}

pub(super) fn stream(content: &[Value]) -> String {
    let mut all =
        vec![json!({"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 10}}})];
    for (index, block) in content.iter().enumerate() {
        let (start, deltas) = match block["type"].as_str() {
            Some("text") => {
                (json!({"type": "text", "text": ""}), vec![json!({"type": "text_delta", "text": block["text"]})])
            }
            Some("thinking") => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                    json!({"type": "signature_delta", "signature": block["signature"]}),
                ],
            ),
            Some("tool_use") => (
                json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
                vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})],
            ),
            _ => (block.clone(), Vec::new()),
        };
        all.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        all.extend(
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    let calls = content.iter().any(|block| block["type"] == "tool_use");
    let reason = if calls { "tool_use" } else { "end_turn" };
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}));
    all.push(json!({"type": "message_stop"}));
    events(all)
}
