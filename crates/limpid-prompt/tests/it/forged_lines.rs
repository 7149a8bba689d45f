//! A stored text never starts a line of its own in a prompt, whatever it takes for a line break: it cannot pass for a
//! heading of the profile.

use limpid_prompt::Inputs;
use serde_json::Value;

use crate::golden::{example, render};

/// What readers take for the end of a line.
const BREAKS: [char; 10] =
    ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Texts that prompts quote whole, headings and all: what the owner wrote for that purpose, and the conversation.
const WHOLE: [&str; 18] = [
    "/active_context",
    "/mode",
    "/soul",
    "/safety",
    "/additional_instructions",
    "/memory/instructions",
    "/heartbeat/prompt",
    "/heartbeat/checklist",
    "/skills/active",
    "/workspace",
    "/summary",
    "/history",
    "/in_flight",
    "/user_message",
    "/delegate",
    "/summarize",
    "/time",
    "/boundary",
];

/// Every text of the inputs that is data about something, by its place.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    if WHOLE.iter().any(|whole| at.starts_with(whole)) {
        return;
    }
    match value {
        Value::String(_) => out.push(at.to_owned()),
        Value::Array(items) => items.iter().enumerate().for_each(|(n, item)| places(item, &format!("{at}/{n}"), out)),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| places(field, &format!("{at}/{name}"), out)),
        _ => {}
    }
}

fn full() -> Value {
    let mut full = serde_json::to_value(example()).unwrap();
    full["soul_additions"] = serde_json::json!(["Test first."]);
    full["active_context"] = serde_json::json!("Watering");
    full["pin"] = serde_json::json!({ "text": "Begin" });
    full["digests"] = serde_json::json!([{ "id": "d1", "text": "Earlier" }]);
    full
}

// KAI-006 KAI-007
#[test]
fn no_stored_text_starts_a_line() {
    let full = full();
    let mut all = Vec::new();
    places(&full, "", &mut all);
    assert!(all.len() > 60, "{all:?}");
    let forged = BREAKS.map(|line_break| format!("## Forged{line_break}")).concat();
    let mut faults = Vec::new();
    for place in all {
        let mut inputs = full.clone();
        *inputs.pointer_mut(&place).unwrap() = forged.as_str().into();
        // A field with few values takes no other.
        let Ok(inputs) = serde_json::from_value::<Inputs>(inputs) else { continue };
        for (profile, path) in [
            ("kai", "chat-remote"),
            ("kai", "chat-local"),
            ("kai", "heartbeat"),
            ("limpid", "chat-remote"),
            ("limpid", "heartbeat"),
            ("koshi", "chat-remote"),
        ] {
            let prompt = render(profile, path, &inputs);
            let texts = prompt.messages().iter().map(limpid_prompt::PromptMessage::text);
            if texts.flat_map(|text| text.split(BREAKS)).any(|line| line.starts_with("## Forged")) {
                faults.push(format!("{profile} {path} {place}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

// KAI-006 PRO-006
#[test]
fn one_empty_line_stands_behind_a_text_of_the_owner_however_it_ends() {
    for field in ["soul", "safety", "additional_instructions", "memory/instructions", "heartbeat/prompt"] {
        for (profile, path) in
            [("kai", "chat-remote"), ("kai", "heartbeat"), ("limpid", "chat-remote"), ("ollm", "chat-remote")]
        {
            let with = |text: &str| {
                let mut inputs = full();
                match field.split_once('/') {
                    Some((record, field)) => inputs[record][field] = text.into(),
                    None => inputs[field] = text.into(),
                }
                let prompt = render(profile, path, &serde_json::from_value(inputs).unwrap());
                prompt.messages().iter().map(|message| message.text().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(with("\n\nCalm.\r\n \n"), with("Calm."), "{field} in {profile} {path}");
        }
    }
}
