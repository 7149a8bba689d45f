//! The fields that Ollama's own library knows, and that it needs.

use serde_json::{Value, json};

use super::parts::{Refusal, list};

const REQUEST: [&str; 10] =
    ["model", "messages", "tools", "stream", "format", "options", "keep_alive", "think", "logprobs", "top_logprobs"];

const OPTIONS: [&str; 9] =
    ["num_ctx", "num_predict", "num_keep", "seed", "temperature", "top_k", "top_p", "repeat_penalty", "stop"];

pub(super) fn check(body: &Value) -> Result<(), Refusal> {
    known("request", body, &REQUEST)?;
    known("options", &body["options"], &OPTIONS)?;
    if body["options"]["num_ctx"].as_u64().is_none() {
        return Err((400, "a request without num_ctx would be cut in silence".to_owned()));
    }
    if !body["think"].is_null() && !body["think"].is_boolean() && !body["think"].is_string() {
        return Err((400, "invalid think value".to_owned()));
    }
    for message in list(body, "messages") {
        known("message", message, &["role", "content", "thinking", "images", "tool_calls", "tool_name"])?;
        if !message["thinking"].is_null() && !message["thinking"].is_string() {
            return Err((400, "json: cannot unmarshal thinking into a string".to_owned()));
        }
        for call in list(message, "tool_calls") {
            known("tool call", call, &["function"])?;
            known("function", &call["function"], &["name", "arguments"])?;
            if !call["function"]["arguments"].is_object() {
                return Err((400, "json: cannot unmarshal arguments into an object".to_owned()));
            }
        }
    }
    for tool in list(body, "tools") {
        known("tool", tool, &["type", "function"])?;
        known("tool function", &tool["function"], &["name", "description", "parameters"])?;
    }
    Ok(())
}

/// Refuses a field that is not known.
fn known(what: &str, value: &Value, names: &[&str]) -> Result<(), Refusal> {
    let mut fields = value.as_object().into_iter().flatten().map(|(name, _)| name);
    match fields.find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err((400, format!("unknown field {name} of a {what}"))),
        None => Ok(()),
    }
}

/// The one entry of `content` is the message.
pub(super) fn stream(content: &[Value]) -> String {
    let line = |message: Value, done: bool| json!({"model": "m", "message": message, "done": done}).to_string() + "\n";
    let mut lines = String::new();
    for message in content {
        for name in ["thinking", "content", "tool_calls"] {
            if !message[name].is_null() {
                lines += &line(json!({"role": "assistant", "content": "", name: message[name]}), false);
            }
        }
    }
    lines + &line(json!({"role": "assistant", "content": ""}), true)
}
