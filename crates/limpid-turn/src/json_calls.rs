//! Tool calls of a model that can only be held to a JSON schema ([`ToolProtocol::Json`](limpid_core::ToolProtocol)).
//!
//! Such a model reads the tools in its prompt and answers with one object: `{"calls":[{"name":…,"arguments":{…}}]}` or
//! `{"answer":"…"}`. Earlier calls stand in its history in the same form, and their results as messages to it.

use limpid_core::{CallId, ToolCall, ToolSpec};
use serde_json::{Map, Value, json};

use crate::event::{Finish, Reply};

/// The schema that holds either calls of these tools or an answer; without tools only an answer.
pub fn schema(tools: &[ToolSpec]) -> Value {
    let answer = object("answer", &json!({ "type": "string" }));
    if tools.is_empty() {
        return answer;
    }
    let calls: Vec<Value> = tools.iter().map(call_schema).collect();
    let calls = json!({ "type": "array", "minItems": 1, "items": { "anyOf": calls } });
    json!({ "anyOf": [object("calls", &calls), answer] })
}

/// Reads a reply. Calls have no names of their own yet; what is no such object is an answer as it stands, since not
/// every server keeps to the schema.
pub fn read(text: &str, finish: Finish) -> Reply {
    let Some(Value::Object(mut object)) = find_object(text) else {
        return Reply { text: text.to_owned(), calls: Vec::new(), finish };
    };
    let calls = read_calls(object.remove("calls"));
    match object.remove("answer") {
        Some(Value::String(answer)) => Reply { text: answer, calls, finish },
        _ if !calls.is_empty() => Reply { text: String::new(), calls, finish },
        _ => Reply { text: text.to_owned(), calls, finish },
    }
}

/// How an earlier message with calls stands in the history.
pub fn calls_text(calls: &[ToolCall]) -> String {
    let calls: Vec<Value> = calls
        .iter()
        .map(|call| {
            let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(&*call.arguments));
            json!({ "name": call.name, "arguments": arguments })
        })
        .collect();
    json!({ "calls": calls }).to_string()
}

/// How an earlier answer stands in the history.
pub fn answer_text(answer: &str) -> String {
    json!({ "answer": answer }).to_string()
}

/// How the result of an earlier call stands in the history.
pub fn result_text(name: &str, result: &str) -> String {
    json!({ "name": name, "result": result }).to_string()
}

fn object(key: &str, value: &Value) -> Value {
    json!({ "type": "object", "properties": { key: value }, "required": [key], "additionalProperties": false })
}

fn call_schema(tool: &ToolSpec) -> Value {
    let arguments: Value = serde_json::from_str(&tool.schema).unwrap_or_else(|_| json!({ "type": "object" }));
    json!({
        "type": "object",
        "properties": { "name": { "const": tool.name }, "arguments": arguments },
        "required": ["name", "arguments"],
        "additionalProperties": false,
    })
}

/// The object that a text is, or that stands between its first and last brace.
fn find_object(text: &str) -> Option<Value> {
    let text = text.get(text.find('{')?..=text.rfind('}')?)?;
    serde_json::from_str(text).ok()
}

fn read_calls(calls: Option<Value>) -> Vec<ToolCall> {
    let Some(Value::Array(calls)) = calls else { return Vec::new() };
    let read = |call: Value| {
        let Value::Object(mut call) = call else { return None };
        let Some(Value::String(name)) = call.remove("name") else { return None };
        let arguments = match call.remove("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(arguments) => arguments,
        };
        Some(ToolCall { id: CallId::new(""), name, arguments: arguments.to_string() })
    };
    calls.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let reply = read(text, Finish::Stop);
        let calls: Vec<String> = reply.calls.iter().map(|call| format!("{}{}", call.name, call.arguments)).collect();
        format!("{:?} {}", reply.text, calls.join(" "))
    }

    #[test]
    fn answers_and_calls_are_read_and_everything_else_is_an_answer() {
        assert_eq!(shown(r#"{"answer":"Hello."}"#), r#""Hello." "#);
        assert_eq!(shown("```json\n{\"answer\":\"Hello.\"}\n```"), r#""Hello." "#);
        let calls = r#"{"calls":[{"name":"clock","arguments":{"b":1,"a":2}},{"name":"list"},{"nonsense":1},7]}"#;
        assert_eq!(shown(calls), r#""" clock{"b":1,"a":2} list{}"#);
        for prose in ["Hello.", "", "{", "}{", r#"{"answer":7}"#, r#"{"calls":"clock"}"#, r#"{"calls":[]}"#] {
            assert_eq!(shown(prose), format!("{prose:?} "));
        }
    }

    #[test]
    fn the_schema_holds_calls_of_offered_tools_or_an_answer() {
        let clock = ToolSpec {
            name: "clock".to_owned(),
            group: String::new(),
            description: String::new(),
            schema: r#"{"type":"object","properties":{"zone":{"type":"string"}}}"#.to_owned(),
        };
        insta::assert_json_snapshot!("schema", [schema(&[clock]), schema(&[])]);
    }

    #[test]
    fn what_is_written_into_the_history_is_read_as_it_was_meant() {
        let call = ToolCall { id: CallId::new("c"), name: "clock".into(), arguments: r#"{"zone":"UTC"}"#.into() };
        assert_eq!(shown(&calls_text(&[call])), r#""" clock{"zone":"UTC"}"#);
        assert_eq!(shown(&answer_text("a \"b\"\n")), r#""a \"b\"\n" "#);
    }
}
