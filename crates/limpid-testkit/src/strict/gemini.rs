//! Gemini's rules about signatures.

use serde_json::{Value, json};

use super::{Issued, Refusal, events, list};

/// Taken in place of a signature for what another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn check(body: &Value, issued: &[Issued]) -> Result<(), Refusal> {
    for (at, content) in list(body, "contents").iter().enumerate().filter(|(_, content)| content["role"] == "model") {
        let parts = list(content, "parts");
        let calls: Vec<&Value> = calls(parts).collect();
        if let Some(first) = calls.first().filter(|call| !call["thoughtSignature"].is_string()) {
            let name = &first["functionCall"]["name"];
            return Err((
                400,
                format!("Function call is missing a thought_signature in functionCall parts: {name}, position {at}"),
            ));
        }
        let known = issued.iter().map(|reply| reply.content.iter().filter(|part| part["thought"] != true));
        let known: Vec<Vec<&Value>> = known.map(Iterator::collect).collect();
        let signed =
            parts.iter().any(|part| part["thoughtSignature"].is_string() && part["thoughtSignature"] != NO_SIGNATURE);
        if signed && !known.iter().any(|reply| *reply == parts.iter().collect::<Vec<_>>()) {
            return Err((400, format!("Corrupted thought signature, position {at}")));
        }
        let substitutes = parts.iter().filter(|part| part["thoughtSignature"] == NO_SIGNATURE).count();
        if substitutes > 1 {
            return Err((400, format!("Thought signature is not valid, position {at}")));
        }
    }
    Ok(())
}

fn calls(parts: &[Value]) -> impl Iterator<Item = &Value> {
    parts.iter().filter(|part| part["functionCall"].is_object())
}

pub(super) fn stream(content: &[Value]) -> String {
    let chunk = |part: &Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]});
    let end = json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}});
    events(content.iter().map(chunk).chain([end]))
}
