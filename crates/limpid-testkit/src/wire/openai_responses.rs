//! OpenAI Responses.

use limpid_model::script::Reply;
use serde_json::{Value, json};

use super::words::{SentText, Spoken, content_text, event, halves};

pub(super) fn speak(reply: &Reply, model: &str) -> Spoken {
    let begun = response(model, "in_progress", &[]);
    let mut pieces = vec![event(&json!({"type": "response.created", "response": begun}))];
    let mut output = Vec::new();
    if !reply.reasoning.0.is_empty() {
        pieces.extend(reply.reasoning.0.iter().map(|piece| {
            event(&json!({
                "type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0,
                "summary_index": 0, "delta": piece,
            }))
        }));
        let summary = json!([{"type": "summary_text", "text": reply.reasoning.0.concat()}]);
        output.push(json!({"type": "reasoning", "id": "rs_1", "summary": summary}));
    }
    let texts: Vec<_> = reply.text_pieces().collect();
    if !texts.is_empty() {
        let place = output.len();
        pieces.push(event(&json!({
            "type": "response.output_item.added", "output_index": place, "item": message("in_progress", None),
        })));
        pieces.push(event(&json!({
            "type": "response.content_part.added", "item_id": "msg_1", "output_index": place, "content_index": 0,
            "part": part(""),
        })));
        pieces.extend(texts.iter().map(|piece| {
            event(&json!({
                "type": "response.output_text.delta", "item_id": "msg_1", "output_index": place, "content_index": 0,
                "delta": piece,
            }))
        }));
        output.push(message("completed", Some(&texts.concat())));
    }
    for (at, call) in reply.calls.iter().enumerate() {
        let place = output.len();
        pieces.extend(call_events(place, &call.id_or(at), &call.name, &call.arguments_text()));
        output.push(function_call(place, &call.id_or(at), &call.name, &call.arguments_text()));
    }
    Spoken { pieces, end: vec![closing(reply, model, &output)] }
}

/// A response as its first and last events bear it.
fn response(model: &str, status: &str, output: &[Value]) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 0, "model": model, "status": status, "output": output,
        "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
    })
}

fn message(status: &str, text: Option<&str>) -> Value {
    let content: Vec<Value> = text.into_iter().map(part).collect();
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": content})
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn function_call(place: usize, id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{place}"), "call_id": id, "name": name, "arguments": arguments})
}

fn call_events(place: usize, id: &str, name: &str, arguments: &str) -> Vec<String> {
    let item = |arguments: &str| function_call(place, id, name, arguments);
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

fn closing(reply: &Reply, model: &str, output: &[Value]) -> String {
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
    let mut ended = response(model, status, output);
    ended["incomplete_details"] = incomplete.map(|reason| json!({"reason": reason})).into();
    ended["usage"] = usage.into();
    event(&json!({"type": format!("response.{status}"), "response": ended}))
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
