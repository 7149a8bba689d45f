//! A logged request as a prompt.

use limpid_core::ToolSpec;
use limpid_prompt::recorded::{MessageRecord, PartRecord, PromptRecord};
use limpid_prompt::{Loading, Prompt, Stability};
use limpid_store::{Request, RequestMessage, RequestPart};

/// A logged request as a prompt. It has no report, and no tokens are counted.
pub fn recorded(request: &Request, declared: bool) -> Prompt {
    let record = PromptRecord {
        profile: request.summary.profile.clone(),
        path: request.summary.path.clone(),
        revision: request.summary.revision.clone(),
        messages: request.messages.iter().map(message_record).collect(),
        tools: tools(&request.tools),
        declared,
    };
    record.into_prompt()
}

fn message_record(message: &RequestMessage) -> MessageRecord {
    MessageRecord {
        role: message.role,
        text: message.text.clone(),
        parts: message.parts.iter().map(part_record).collect(),
        calls: message.calls.clone(),
        state: message.state.clone(),
        call_id: message.call_id.clone(),
    }
}

fn part_record(part: &RequestPart) -> PartRecord {
    let stability = match part.stability.as_str() {
        "fixed" => Stability::Fixed,
        "session" => Stability::Session,
        _ => Stability::Turn,
    };
    PartRecord {
        section: part.section.clone(),
        origin: part.origin.clone(),
        text: part.text.clone(),
        stability,
        trust: part.trust,
    }
}

/// The tools of a request, as [`limpid_context::convert::offered_tools`] wrote them.
fn tools(text: &str) -> Vec<(ToolSpec, Loading)> {
    let rows: Vec<serde_json::Value> = serde_json::from_str(text).unwrap_or_default();
    let field = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let loading = |row: &serde_json::Value| row["loading"].as_str().and_then(Loading::parse).unwrap_or_default();
    let spec = |row: &serde_json::Value| ToolSpec {
        name: field(row, "name"),
        group: String::new(),
        description: field(row, "description"),
        schema: row["schema"].to_string(),
    };
    rows.iter().map(|row| (spec(row), loading(row))).collect()
}
