//! Chat Completions: servers that want reasoning back, and servers that refuse it.

use serde_json::{Value, json};

use super::parts::{Issued, Refusal, events, list};

pub(super) fn check(body: &Value, issued: &[Issued]) -> Result<(), Refusal> {
    let given = |message: &Value| {
        let calls = |of: &Value| list(of, "tool_calls").iter().map(|call| call["id"].clone()).collect::<Vec<_>>();
        let mut replies = issued.iter().flat_map(|reply| &reply.content);
        replies.find(|reply| !calls(message).is_empty() && calls(reply) == calls(message)).cloned()
    };
    for message in list(body, "messages") {
        let wanted = given(message).map_or(Value::Null, |reply| reply["reasoning_content"].clone());
        if message["reasoning_content"] != wanted {
            let said = "The `reasoning_content` in the thinking mode must be passed back to the API.";
            return Err((400, said.to_owned()));
        }
    }
    Ok(())
}

/// Refuses what is no field of a message.
pub(super) fn check_plain(body: &Value) -> Result<(), Refusal> {
    let known = ["role", "content", "tool_calls", "tool_call_id"];
    for (at, message) in list(body, "messages").iter().enumerate() {
        let mut names = message.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        if let Some(name) = names.find(|name| !known.contains(name)) {
            return Err((400, format!("Unknown parameter: 'messages[{at}].{name}'.")));
        }
    }
    Ok(())
}

/// Servers before other providers: what they gave with a message comes back with it.
pub(super) fn check_gateway(body: &Value, issued: &[Issued]) -> Result<(), Refusal> {
    let ids = |of: &Value| list(of, "tool_calls").iter().map(|call| call["id"].clone()).collect::<Vec<_>>();
    for (at, message) in list(body, "messages").iter().enumerate().filter(|(_, message)| message["role"] == "assistant")
    {
        let mut replies = issued.iter().flat_map(|reply| &reply.content);
        let Some(given) = replies.find(|reply| ids(reply) == ids(message)) else { continue };
        if given["content"].is_array() && message["content"] != given["content"] {
            return Err((400, format!("messages.{at}.content: thinking chunks must be passed back in their place")));
        }
        let fields = [
            ("reasoning_details", "Function call is missing a thought_signature in functionCall parts."),
            ("thinking_blocks", "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
            ("provider_specific_fields", "provider_specific_fields must be passed back"),
        ];
        if let Some((_, said)) = fields.iter().find(|(name, _)| message[*name] != given[*name]) {
            return Err((400, format!("messages.{at}: {said}")));
        }
        for (sent, given) in list(message, "tool_calls").iter().zip(list(given, "tool_calls")) {
            if sent != given {
                return Err((400, "Function call is missing a thought_signature in functionCall parts.".to_owned()));
            }
        }
    }
    Ok(())
}

/// A list of objects in pieces: their texts come in halves, and what signs them last.
fn pieces(name: &str, entries: &[Value]) -> Vec<Value> {
    let mut pieces = Vec::new();
    for entry in entries {
        let field = ["text", "thinking"].into_iter().find(|field| entry[*field].is_string());
        let Some(field) = field else {
            pieces.push(entry.clone());
            continue;
        };
        let text = entry[field].as_str().unwrap_or_default();
        let (first, second) = text.split_at(text.len() / 2);
        for (part, signed) in [(first, false), (second, false), ("", true)] {
            let mut piece = entry.clone();
            piece[field] = part.into();
            if !signed {
                piece.as_object_mut().map(|fields| fields.shift_remove("signature"));
            }
            pieces.push(piece);
        }
    }
    pieces.into_iter().map(|piece| json!({ name: [piece] })).collect()
}

/// The one entry of `content` is the message.
pub(super) fn stream(content: &[Value]) -> String {
    let chunk =
        |delta: Value, finish: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let mut all = Vec::new();
    let mut finish = "stop";
    for message in content {
        for name in ["reasoning_content", "content"] {
            if message[name].is_string() {
                all.push(chunk(json!({ name: message[name] }), Value::Null));
            }
        }
        for name in ["reasoning_details", "thinking_blocks"] {
            all.extend(pieces(name, list(message, name)).into_iter().map(|delta| chunk(delta, Value::Null)));
        }
        for part in list(message, "content") {
            all.push(chunk(json!({ "content": [part] }), Value::Null));
        }
        if message["provider_specific_fields"].is_object() {
            let fields = &message["provider_specific_fields"];
            all.push(chunk(json!({ "provider_specific_fields": fields }), Value::Null));
        }
        for (index, call) in list(message, "tool_calls").iter().enumerate() {
            let mut call = call.clone();
            call["index"] = index.into();
            all.push(chunk(json!({ "tool_calls": [call] }), Value::Null));
            finish = "tool_calls";
        }
    }
    all.push(chunk(json!({}), finish.into()));
    events(all) + "data: [DONE]\n\n"
}
