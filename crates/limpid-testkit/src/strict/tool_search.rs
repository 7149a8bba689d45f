//! Rules about tools that a model reads only once they were found.

use serde_json::Value;

use super::parts::{Refusal, list};

/// Anthropic's. A deferred tool without a search tool of the provider's own is taken.
pub(super) fn anthropic(body: &Value) -> Result<(), Refusal> {
    let tools = list(body, "tools");
    let is_deferred = |tool: &Value| tool["defer_loading"] == true;
    if !tools.is_empty() && tools.iter().all(is_deferred) {
        return refuse("At least one tool must have defer_loading=false. All tools cannot be deferred.");
    }
    if let Some(at) = tools.iter().position(|tool| is_deferred(tool) && tool.get("cache_control").is_some()) {
        return refuse(&format!("tools.{at}: Tool cannot have both defer_loading=true and cache_control set."));
    }
    for message in list(body, "messages").iter().filter(|message| message["role"] == "user") {
        let blocks = list(message, "content");
        let is_result = |block: &Value| block["type"] == "tool_result";
        if blocks.iter().skip_while(|block| is_result(block)).any(is_result) {
            return refuse("`tool_use` ids were found without `tool_result` blocks immediately after");
        }
        for block in blocks.iter().filter(|block| is_result(block)) {
            references(list(block, "content"), tools)?;
        }
    }
    Ok(())
}

/// What stands in one result.
fn references(content: &[Value], tools: &[Value]) -> Result<(), Refusal> {
    let is_reference = |block: &Value| block["type"] == "tool_reference";
    if content.iter().any(is_reference) && !content.iter().all(is_reference) {
        return refuse("Tool definitions/code execution functions cannot be mixed with other content");
    }
    for block in content.iter().filter(|block| is_reference(block)) {
        let known = |tool: &Value| tool["name"] == block["tool_name"] && tool["defer_loading"] == true;
        if !tools.iter().any(known) {
            let name = block["tool_name"].as_str().unwrap_or_default();
            return refuse(&format!("Tool reference '{name}' not found in available tools"));
        }
    }
    Ok(())
}

/// OpenAI's. What it says of a result without its call is what it says of functions; of searches it is not known.
pub(super) fn responses(body: &Value) -> Result<(), Refusal> {
    let (tools, input) = (list(body, "tools"), list(body, "input"));
    let searches = tools.iter().any(|tool| tool["type"] == "tool_search");
    let given = input.iter().filter(|item| item["type"] == "tool_search_output").flat_map(|item| list(item, "tools"));
    if !searches && tools.iter().chain(given).any(|tool| tool["defer_loading"] == true) {
        return refuse("Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.");
    }
    for (at, item) in input.iter().enumerate() {
        let (answers, what) = match item["type"].as_str() {
            Some("tool_search_output") => ("tool_search_call", "tool search"),
            Some("function_call_output") => ("function_call", "function call"),
            _ => continue,
        };
        let is_call = |call: &Value| call["type"] == answers && call["call_id"] == item["call_id"];
        if !input[..at].iter().any(is_call) {
            return refuse(&format!("No tool call found for {what} output with call_id {}.", item["call_id"]));
        }
    }
    Ok(())
}

fn refuse(said: &str) -> Result<(), Refusal> {
    Err((400, said.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // MOD-055
    #[test]
    fn what_the_real_ones_refuse_is_refused_in_their_words() {
        let find = json!({ "name": "find_tools" });
        let late = json!({ "name": "late", "defer_loading": true });
        let marked = json!({ "name": "late", "defer_loading": true, "cache_control": { "type": "ephemeral" } });
        let reference = |name: &str| json!({ "type": "tool_reference", "tool_name": name });
        let text = json!({ "type": "text", "text": "x" });
        let result = |content: &[&Value]| json!({ "type": "tool_result", "tool_use_id": "f", "content": content });
        let body = |tools: &[&Value], content: &[Value]| json!({ "tools": tools, "messages": [{ "role": "user", "content": content }] });
        let said = |checked: Result<(), Refusal>| {
            checked.map_or_else(|(status, said)| format!("{status} {said}"), |()| "ok".to_owned())
        };
        let loads = result(&[&reference("late")]);
        let bodies = [
            body(&[&find, &late], &[loads.clone(), text.clone()]),
            body(&[&late], &[]),
            body(&[&find, &marked], &[]),
            body(&[&find, &late], &[result(&[&reference("late"), &text])]),
            body(&[&find], std::slice::from_ref(&loads)),
            body(&[&find, &late], &[loads.clone(), text, loads]),
        ];
        let anthropic: Vec<String> = bodies.iter().map(|body| said(anthropic(body))).collect();
        let search = json!({ "type": "tool_search", "execution": "client" });
        let call = json!({ "type": "tool_search_call", "call_id": "f", "execution": "client", "arguments": {} });
        let output = json!({ "type": "tool_search_output", "call_id": "f", "execution": "client", "tools": [late] });
        let body = |tools: &[&Value], input: &[&Value]| json!({ "tools": tools, "input": input });
        let bodies = [
            body(&[&search], &[&call, &output]),
            body(&[&late], &[]),
            body(&[&find], &[&call, &output]),
            body(&[&search], &[&output]),
        ];
        let responses: Vec<String> = bodies.iter().map(|body| said(responses(body))).collect();
        insta::assert_snapshot!([anthropic, responses].concat().join("\n"));
    }
}
