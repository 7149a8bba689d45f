//! Messages as a request for a summary quotes them: calls in plain words, long texts as head and tail.

use std::collections::BTreeMap;

use limpid_core::{Entry, Message, MessageId, Role, ToolCall};
use serde_json::Value;

use super::Count;
use super::shown::shorten_message;

/// Characters of a call's input.
const INPUT: usize = 120;

/// Characters of a call's result.
const RESULT: usize = 200;

/// Tokens that a quoted message keeps however many there are.
const LEAST: usize = 20;

/// A message as the person typed it.
pub fn as_typed(entry: &Entry, typed: &BTreeMap<MessageId, String>) -> Entry {
    match typed.get(&entry.id) {
        Some(text) => Entry { id: entry.id, message: Message { text: text.clone(), ..entry.message.clone() } },
        None => entry.clone(),
    }
}

/// The messages within so many tokens in all; those over `limit` tokens are left out.
pub fn messages(entries: &[Entry], room: usize, limit: usize, count: Count<'_>) -> Vec<Message> {
    let whole: Vec<Message> = entries
        .iter()
        .filter(|entry| count(&entry.message.text) <= limit)
        .flat_map(|entry| plain(entry, entries))
        .collect();
    let mut each = room.max(LEAST);
    loop {
        let quoted: Vec<Message> = whole
            .iter()
            .map(|message| Message { text: shorten_message(message, each, count), ..message.clone() })
            .collect();
        if each <= LEAST || quoted.iter().map(|message| count(&message.text) + 3).sum::<usize>() <= room {
            return quoted;
        }
        each = (each / 2).max(LEAST);
    }
}

/// What was left out of a summary, and under which numbers it is found.
pub fn left_out(entries: &[Entry], limit: usize, count: Count<'_>) -> String {
    let large = entries.iter().filter(|entry| count(&entry.message.text) > limit);
    let note =
        |entry: &Entry| format!("[message {} left out: {} characters]", entry.id, entry.message.text.chars().count());
    large.map(note).collect::<Vec<_>>().join("\n")
}

/// One message in plain words; a call stands at its result, and a result without text at nothing.
fn plain(entry: &Entry, entries: &[Entry]) -> Option<Message> {
    let message = &entry.message;
    if message.role != Role::Tool {
        let text = message.text.trim();
        return (!text.is_empty()).then(|| Message { calls: Vec::new(), state: Vec::new(), ..message.clone() });
    }
    let id = message.call_id.as_ref()?;
    let mut calls = entries.iter().flat_map(|entry| entry.message.calls.iter().map(|call| (call, entry.message.trust)));
    let call = calls.rfind(|(call, _)| call.id == *id);
    let (text, trust) = match call {
        // The model wrote the call, so its words have the label of its message.
        Some((call, trust)) => {
            (format!("{} {}: {}", call.name, input(call), line(&message.text, RESULT)), message.trust.join(trust))
        }
        None => (line(&message.text, RESULT), message.trust),
    };
    Some(Message { text, trust, call_id: None, ..message.clone() })
}

/// The arguments of a call without the syntax of one.
fn input(call: &ToolCall) -> String {
    let words = match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(map)) => {
            let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            map.iter().map(|(name, given)| format!("{name} {}", value(given))).collect::<Vec<_>>().join(", ")
        }
        _ => call.arguments.clone(),
    };
    let bare: String = words.chars().filter(|c| !"{}[]<>\"".contains(*c)).collect();
    line(&bare, INPUT)
}

fn line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::{CallId, Trust};

    use super::*;

    fn call_and_result() -> Vec<Entry> {
        let call = ToolCall {
            id: CallId::new("c1"),
            name: "exec".into(),
            arguments: r#"{"command":"make test","tags":["a","b"],"deep":{"x":"<tool_call>"}}"#.into(),
        };
        vec![
            Entry {
                id: MessageId(1),
                message: Message { calls: vec![call], ..Message::new(Role::Assistant, "", Trust::Owner) },
            },
            Entry {
                id: MessageId(2),
                message: Message {
                    call_id: Some(CallId::new("c1")),
                    ..Message::new(Role::Tool, format!("3 tests failed\n{}", "x".repeat(500)), Trust::Owner)
                },
            },
        ]
    }

    // PICO-046 LES-074 LES-075
    #[test]
    fn a_call_is_one_line_in_plain_words_with_its_result() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let quoted = messages(&call_and_result(), 1000, usize::MAX, &count);
        assert_eq!(quoted.len(), 1);
        assert_eq!((quoted[0].role, quoted[0].calls.len()), (Role::Tool, 0));
        insta::assert_snapshot!(quoted[0].text);
        assert!(!quoted[0].text.contains(['{', '}', '[', ']', '<', '>']));
    }

    // PICO-046
    #[test]
    fn of_a_long_input_a_hundred_and_twenty_characters_stay() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let mut entries = call_and_result();
        entries[0].message.calls[0].arguments = format!(r#"{{"command":"{}"}}"#, "x".repeat(500));
        entries[1].message.text = "done".to_owned();
        let quoted = messages(&entries, 1000, usize::MAX, &count);
        assert_eq!(quoted[0].text, format!("exec command {}…: done", "x".repeat(120 - "command ".len())));
    }

    // OLLM-091
    #[test]
    fn what_is_quoted_fits_its_room() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let entries: Vec<Entry> = (1..=10)
            .map(|n| Entry { id: MessageId(n), message: Message::new(Role::User, "word ".repeat(400), Trust::Owner) })
            .collect();
        for room in [300, 500, 2000, 6000] {
            let quoted = messages(&entries, room, usize::MAX, &count);
            assert_eq!(quoted.len(), 10);
            assert!(quoted.iter().map(|message| count(&message.text)).sum::<usize>() <= room, "{room}");
        }
    }

    // PICO-047
    #[test]
    fn a_message_that_is_too_large_is_left_out_and_named() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let entries = call_and_result();
        assert_eq!(messages(&entries, 1000, 100, &count).len(), 0);
        assert_eq!(left_out(&entries, 100, &count), "[message 2 left out: 515 characters]");
    }
}
