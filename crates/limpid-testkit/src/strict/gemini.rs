//! Gemini's rules about signatures, and about the names of calls.

use serde_json::{Value, json};

use super::parts::{Issued, Refusal, events, list};

/// Taken in place of a signature for what another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn check(body: &Value, issued: &[Issued]) -> Result<(), Refusal> {
    check_batches(body)?;
    let contents = list(body, "contents");
    for (at, pair) in contents.windows(2).enumerate() {
        let names = |content: &Value, kind: &str| -> Vec<Value> {
            let parts = list(content, "parts").iter().map(|part| &part[kind]).filter(|kind| kind.is_object());
            parts.map(|kind| kind["id"].clone()).collect()
        };
        let (called, answered) = (names(&pair[0], "functionCall"), names(&pair[1], "functionResponse"));
        if called != answered || called.contains(&Value::Null) {
            return Err((
                400,
                format!("Function response does not carry the id of its function call, position {}", at + 1),
            ));
        }
    }
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

/// Earlier models know no names of calls.
pub(super) fn check_earlier(body: &Value) -> Result<(), Refusal> {
    check_batches(body)?;
    for (at, content) in list(body, "contents").iter().enumerate() {
        for (n, part) in list(content, "parts").iter().enumerate() {
            for (kind, name) in [("functionCall", "function_call"), ("functionResponse", "function_response")] {
                if part[kind].get("id").is_some() {
                    let place = format!("contents[{at}].parts[{n}].{name}");
                    let said = "Invalid JSON payload received. Unknown name \"id\" at";
                    return Err((400, format!("{said} '{place}': Cannot find field.")));
                }
            }
        }
    }
    Ok(())
}

/// All results of a batch stand in the next message, as many as calls, and each says how it went.
fn check_batches(body: &Value) -> Result<(), Refusal> {
    let contents = list(body, "contents");
    for (at, content) in contents.iter().enumerate() {
        let count =
            |content: &Value, kind: &str| list(content, "parts").iter().filter(|part| part[kind].is_object()).count();
        let responses = contents.get(at + 1).map_or(0, |next| count(next, "functionResponse"));
        if count(content, "functionCall") != responses {
            let said = "Please ensure that the number of function response parts is equal to the number of function call parts \
                        of the function call turn.";
            return Err((400, said.to_owned()));
        }
        for part in list(content, "parts").iter().filter(|part| part["functionResponse"].is_object()) {
            let response = &part["functionResponse"]["response"];
            let keys: Vec<&str> = response.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            if keys != ["output"] && keys != ["error"] {
                return Err((400, format!("Function response has neither `output` nor `error`, position {at}")));
            }
        }
    }
    Ok(())
}

/// An answer whose calls have names, as newer models give them.
pub(super) fn named(content: &[Value], reply: usize) -> Vec<Value> {
    let mut content = content.to_vec();
    for (at, part) in content.iter_mut().enumerate() {
        if let Some(call) = part.get_mut("functionCall").and_then(Value::as_object_mut) {
            call.shift_insert(0, "id".to_owned(), format!("fc-{reply}-{at}").into());
        }
    }
    content
}

fn calls(parts: &[Value]) -> impl Iterator<Item = &Value> {
    parts.iter().filter(|part| part["functionCall"].is_object())
}

pub(super) fn stream(content: &[Value]) -> String {
    let chunk = |part: &Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]});
    let end = json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}});
    events(content.iter().map(chunk).chain([end]))
}
