//! Chat Completions: servers that want reasoning back, and servers that refuse it.

use serde_json::{Value, json};

use super::{Issued, Refusal, events, list};

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
