//! The model that the killed agent talks to, as an answer to each request that comes over the socket.

use limpid_model::script::{Arguments, Pieces, Reply, ScriptedCall};
use limpid_testkit::Recorded;
use serde_json::{Value, json};

use super::world::ADDRESS;

/// What stands before the key of something that came in, where a prompt shows it.
pub(super) const FRESH: &str = "fresh:";

/// What stands before the key of something that came in, where a heartbeat reports it.
pub(super) const TOLD: &str = "told:";

/// Milliseconds before the first byte and between the pieces, so that kills fall into answers too.
const DELAY: u64 = 2;

/// Answers a request: `note KEY`, `letter KEY` and `work KEY` are done by their tools, every one that was said since the
/// model spoke last; a heartbeat reports each thing that came in.
pub(super) fn answer(request: &Recorded) -> Reply {
    let reply = if offers(request, "heartbeat_decision") { heartbeat(request) } else { turn(request) };
    Reply { delay_ms: DELAY, between_ms: DELAY, ..reply }
}

fn offers(request: &Recorded, tool: &str) -> bool {
    let body = request.json();
    let mut tools = body["tools"].as_array().into_iter().flatten();
    tools.any(|offered| offered["function"]["name"] == tool)
}

fn turn(request: &Recorded) -> Reply {
    let texts = request.texts();
    let newest = texts.iter().rev().take_while(|text| text.role == "user");
    let calls: Vec<ScriptedCall> = newest.flat_map(|text| asked(&text.text)).collect();
    if calls.is_empty() { said("It is done.") } else { Reply { calls, ..Reply::default() } }
}

/// The calls that a text asks for.
fn asked(text: &str) -> Vec<ScriptedCall> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let call = |pair: &[&str]| {
        let &[what, key] = pair else { return None };
        if !is_key(key) {
            return None;
        }
        match what {
            "note" | "work" => Some(called("note", key, &json!({ "key": key }))),
            "letter" => {
                let letter = json!({
                    "to": [format!("{key}@example.com")], "subject": key, "text": "See you.", "account": ADDRESS,
                });
                Some(called("compose_email", key, &letter))
            }
            _ => None,
        }
    };
    words.windows(2).filter_map(call).collect()
}

/// The keys of what came in that a request shows, as it shows them.
pub(super) fn shown(request: &Recorded) -> Vec<String> {
    request.texts().iter().flat_map(|text| text.text.split_whitespace()).filter_map(fresh).collect()
}

/// A report of everything that came in. Where the first key is odd it is none at first, and is then asked for as an
/// object.
fn heartbeat(request: &Recorded) -> Reply {
    let keys = shown(request);
    let decision = match keys.first() {
        None => json!({ "action": "quiet" }),
        Some(first) => {
            let text = keys.iter().map(|key| format!("{TOLD}{key}")).collect::<Vec<_>>().join(" ");
            json!({ "action": "report", "key": format!("{first}-{}", keys.len()), "text": text })
        }
    };
    if request.json()["response_format"].is_object() {
        return said(&decision.to_string());
    }
    let first = keys.first().map_or("quiet", String::as_str);
    if first.ends_with(['1', '3', '5', '7', '9']) {
        return said("Let me see.");
    }
    Reply { calls: vec![called("heartbeat_decision", first, &decision)], ..Reply::default() }
}

/// The key of a word that names something that came in.
fn fresh(word: &str) -> Option<String> {
    let (_, key) = word.split_once(FRESH)?;
    Some(key.chars().take_while(char::is_ascii_alphanumeric).collect())
}

/// A letter and a number.
fn is_key(word: &str) -> bool {
    word.get(1..).is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

fn called(name: &str, key: &str, arguments: &Value) -> ScriptedCall {
    ScriptedCall {
        id: Some(format!("call-{name}-{key}")),
        name: name.to_owned(),
        arguments: Arguments::Text(arguments.to_string()),
    }
}

fn said(text: &str) -> Reply {
    Reply { text: Pieces(text.split_inclusive(' ').map(str::to_owned).collect()), ..Reply::default() }
}
