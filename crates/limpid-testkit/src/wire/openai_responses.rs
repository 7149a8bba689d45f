//! OpenAI Responses.

use limpid_model::script::Reply;
use serde_json::{Value, json};

use super::{SentText, Spoken, content_text, event, halves};

pub(super) fn speak(reply: &Reply, model: &str) -> Spoken {
    let mut pieces = vec![event(&json!({"type": "response.created", "response": {"id": "resp_1", "model": model}}))];
    let mut place = 0;
    if !reply.reasoning.0.is_empty() {
        pieces.extend(reply.reasoning.0.iter().map(|piece| {
            event(&json!({
                "type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0,
                "summary_index": 0, "delta": piece,
            }))
        }));
        place += 1;
    }
    let mut spoken = false;
    for piece in reply.text_pieces() {
        spoken = true;
        pieces.push(event(&json!({
            "type": "response.output_text.delta", "item_id": "msg_1", "output_index": place, "content_index": 0,
            "delta": piece,
        })));
    }
    place += usize::from(spoken);
    for (at, call) in reply.calls.iter().enumerate() {
        pieces.extend(call_events(place + at, &call.id_or(at), &call.name, &call.arguments_text()));
    }
    Spoken { pieces, end: vec![closing(reply, model)] }
}

fn call_events(place: usize, id: &str, name: &str, arguments: &str) -> Vec<String> {
    let item = |arguments: &str| json!({"type": "function_call", "id": format!("fc_{place}"), "call_id": id, "name": name, "arguments": arguments});
    let mut events =
        vec![event(&json!({"type": "response.output_item.added", "output_index": place, "item": item("")}))];
    events.extend(halves(arguments).map(|half| {
        event(&json!({
            "type": "response.function_call_arguments.delta", "item_id": format!("fc_{place}"),
            "output_index": place, "delta": half,
        }))
    }));
    events.push(event(&json!({"type": "response.output_item.done", "output_index": place, "item": item(arguments)})));
    events
}

fn closing(reply: &Reply, model: &str) -> String {
    let incomplete = match reply.finish_word() {
        "length" => Some("max_output_tokens"),
        "moderated" => Some("content_filter"),
        "stop" | "calls" => None,
        other => Some(other),
    };
    let usage = reply.usage.map(|usage| {
        json!({
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning}, "total_tokens": usage.input + usage.output,
        })
    });
    let status = if incomplete.is_some() { "incomplete" } else { "completed" };
    event(&json!({
        "type": format!("response.{status}"),
        "response": {
            "id": "resp_1", "model": model, "status": status,
            "incomplete_details": incomplete.map(|reason| json!({"reason": reason})),
            "usage": usage,
        },
    }))
}

pub(super) fn texts(body: &Value) -> Vec<SentText> {
    let instructions = body["instructions"].as_str().map(|text| SentText::new("system", text));
    let items = body["input"].as_array().map_or(&[][..], Vec::as_slice);
    instructions
        .into_iter()
        .chain(items.iter().filter_map(|item| match item["type"].as_str() {
            Some("function_call_output") => Some(SentText::new("tool", content_text(&item["output"]))),
            Some("function_call") => None,
            _ => Some(SentText::new(item["role"].as_str()?, content_text(&item["content"]))),
        }))
        .collect()
}
