//! OpenAI's rules about reasoning items that it does not store.

use serde_json::{Value, json};

use super::parts::{Issued, Refusal, events, list};

/// `forgetful` is whether an item with an id is looked for, and not found.
pub(super) fn check(body: &Value, issued: &[Issued], forgetful: bool) -> Result<(), Refusal> {
    if !list(body, "include").contains(&json!("reasoning.encrypted_content")) || body["store"] != false {
        return Err((400, "reasoning is asked for with `include` and `store: false` here".to_owned()));
    }
    let input = list(body, "input");
    for (at, item) in input.iter().enumerate() {
        let id = item["id"].as_str().unwrap_or_default();
        let before = at.checked_sub(1).map(|at| &input[at]);
        match item["type"].as_str() {
            Some("reasoning") => {
                if forgetful && !id.is_empty() {
                    return Err((404, not_found(id)));
                }
                let is_it = |given: &Value| without_id(given, forgetful) == *item;
                let known = issued.iter().flat_map(|reply| reply.content.windows(2)).find(|pair| is_it(&pair[0]));
                let next = input.get(at + 1).unwrap_or(&Value::Null);
                match known {
                    None => return Err((404, not_found(id))),
                    Some(pair) if !is_same(&pair[1], next) => {
                        let said = "was provided without its required following item";
                        return Err((400, format!("Item '{id}' of type 'reasoning' {said}.")));
                    }
                    Some(_) => {}
                }
            }
            Some("function_call") => {
                if !id.is_empty() {
                    return Err((404, not_found(id)));
                }
                let pairs = issued.iter().flat_map(|reply| reply.content.windows(2));
                let led = pairs.filter(|pair| is_same(&pair[1], item)).find(|pair| pair[0]["type"] == "reasoning");
                if let Some(pair) = led.filter(|pair| Some(&without_id(&pair[0], forgetful)) != before) {
                    let (id, reasoning) =
                        (pair[1]["id"].as_str().unwrap_or_default(), pair[0]["id"].as_str().unwrap_or_default());
                    let said = "was provided without its required 'reasoning' item";
                    return Err((400, format!("Item '{id}' of type 'function_call' {said}: '{reasoning}'.")));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// An item, without its id when that is not known.
fn without_id(item: &Value, forgetful: bool) -> Value {
    let mut item = item.clone();
    if forgetful && let Some(fields) = item.as_object_mut() {
        fields.shift_remove("id");
    }
    item
}

fn not_found(id: &str) -> String {
    format!(
        "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set \
         to true, or remove this item from your input."
    )
}

/// Whether an item that was sent is the one that was issued.
fn is_same(issued: &Value, sent: &Value) -> bool {
    match issued["type"].as_str() {
        Some(kind @ ("function_call" | "tool_search_call")) => {
            sent["type"] == kind && sent["call_id"] == issued["call_id"]
        }
        _ => sent["content"] == issued["content"][0]["text"] && sent["phase"] == issued["phase"],
    }
}

pub(super) fn stream(content: &[Value]) -> String {
    let mut all = Vec::new();
    for (index, item) in content.iter().enumerate() {
        let mut added = item.clone();
        added["encrypted_content"] = Value::Null;
        added["arguments"] = "".into();
        all.push(json!({"type": "response.output_item.added", "output_index": index, "item": added}));
        if let Some(text) = item["content"][0]["text"].as_str() {
            all.push(json!({"type": "response.output_text.delta", "output_index": index, "delta": text}));
        }
        all.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    all.push(json!({"type": "response.completed", "response": {"output": content, "usage": usage}}));
    events(all)
}
