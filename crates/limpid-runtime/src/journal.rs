//! Events of a turn as JSON text, as the store's journal keeps them. The form stands here alone; the machine's own
//! types have none (ARC-002).

use std::collections::BTreeMap;
use std::time::Duration;

use limpid_core::{CallId, FailureClass, Message, Role, ToolCall, Trust};
use limpid_prompt::Inputs;
use limpid_store::{InboundId, NewEvent, TurnEvent};
use limpid_turn::{Event, Finish, Limits, OfferedTool, Reply, ToolOutcome, Why};
use serde::{Deserialize, Serialize};

use crate::heartbeat;
use crate::tools::HEARTBEAT_DECISION;

/// One entry of a turn's journal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    /// What the turn began with: enough to render its prompt again, byte for byte.
    Began(Box<Began>),
    /// Something that happened to the machine; a steering message comes with the accepted message that it is.
    Event(Event, Option<InboundId>),
    /// Calls that have consequences outside are about to run (SEC-041).
    Running(Vec<CallId>),
}

/// What a turn began with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Began {
    /// The model: `provider/id`.
    pub(crate) model: String,
    pub(crate) profile: String,
    pub(crate) path: String,
    /// Everything that the prompt uses but the history, which is in the store.
    pub(crate) inputs: Inputs,
    pub(crate) tools: Vec<(String, u64)>,
    pub(crate) calls_with_tools: u32,
    pub(crate) result_chars: usize,
    /// Of the tools whose results have a length of their own.
    #[serde(default)]
    pub(crate) own_result_chars: BTreeMap<String, usize>,
}

impl Began {
    pub(crate) fn tools(&self) -> Vec<OfferedTool> {
        let tool = |(name, seconds): &(String, u64)| OfferedTool {
            name: name.clone(),
            timeout: Duration::from_secs(*seconds),
            result_chars: self.own_result_chars.get(name).copied(),
        };
        self.tools.iter().map(tool).collect()
    }

    /// The tool that ends the turn.
    pub(crate) fn decision(&self) -> Option<&str> {
        let names = self.tools.iter().map(|(name, _)| name.as_str());
        names.filter(|_| self.path == heartbeat::PATH).find(|name| *name == HEARTBEAT_DECISION)
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits { calls_with_tools: self.calls_with_tools, result_chars: self.result_chars, ..Limits::default() }
    }
}

impl Entry {
    /// The entry as the store takes it.
    pub(crate) fn to_row(&self) -> NewEvent {
        let (kind, row, trust) = match self {
            Self::Began(began) => ("began", serde_json::to_string(began), Trust::Owner),
            Self::Running(ids) => {
                let ids: Vec<&str> = ids.iter().map(CallId::as_str).collect();
                ("running", serde_json::to_string(&ids), Trust::Owner)
            }
            Self::Event(event, inbound) => {
                let row = Row::new(event, *inbound);
                (row.kind(), serde_json::to_string(&row), trust_of(event))
            }
        };
        // Plain data with text keys always serialises.
        NewEvent { kind: kind.to_owned(), payload: row.unwrap_or_default(), trust }
    }

    /// Reads an entry; none when it is not one of these.
    pub(crate) fn from_row(row: &TurnEvent) -> Option<Self> {
        match row.kind.as_str() {
            "began" => serde_json::from_str(&row.payload).ok().map(|began| Self::Began(Box::new(began))),
            "running" => {
                let ids: Vec<String> = serde_json::from_str(&row.payload).ok()?;
                Some(Self::Running(ids.into_iter().map(CallId::new).collect()))
            }
            _ => serde_json::from_str::<Row>(&row.payload).ok()?.into_event(row.trust),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Row {
    Chunk { text: String },
    Reply { text: String, calls: Vec<Call>, finish: String },
    ModelFailed { class: String, message: String },
    ToolDone { id: String, text: String, boundary: Option<String> },
    ToolFailed { id: String, error: String },
    Held { id: String, reason: String, bound_to: String },
    Decided { id: String, approved: bool },
    Timer { id: String },
    Steer { text: String, boundary: Option<String>, inbound: Option<i64> },
    Cancel,
}

#[derive(Serialize, Deserialize)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Row {
    fn new(event: &Event, inbound: Option<InboundId>) -> Self {
        match event.clone() {
            Event::Chunk { text } => Self::Chunk { text },
            Event::Reply(Reply { text, calls, finish }) => {
                let call =
                    |call: ToolCall| Call { id: call.id.to_string(), name: call.name, arguments: call.arguments };
                Self::Reply { text, calls: calls.into_iter().map(call).collect(), finish: finish.as_str().to_owned() }
            }
            Event::ModelFailed { class, message } => Self::ModelFailed { class: class.as_str().to_owned(), message },
            Event::ToolDone { id, outcome: ToolOutcome::Done { text, boundary, .. } } => {
                Self::ToolDone { id: id.to_string(), text, boundary }
            }
            Event::ToolDone { id, outcome: ToolOutcome::Failed { error } } => {
                Self::ToolFailed { id: id.to_string(), error }
            }
            Event::Held { id, why: Why { reason, bound_to } } => Self::Held { id: id.to_string(), reason, bound_to },
            Event::Decided { id, approved } => Self::Decided { id: id.to_string(), approved },
            Event::Timer { id } => Self::Timer { id: id.to_string() },
            Event::Steer(message) => {
                Self::Steer { text: message.text, boundary: message.boundary, inbound: inbound.map(|id| id.0) }
            }
            Event::Cancel => Self::Cancel,
        }
    }

    const fn kind(&self) -> &'static str {
        match self {
            Self::Chunk { .. } => "chunk",
            Self::Reply { .. } => "reply",
            Self::ModelFailed { .. } => "model-failed",
            Self::ToolDone { .. } => "tool-done",
            Self::ToolFailed { .. } => "tool-failed",
            Self::Held { .. } => "held",
            Self::Decided { .. } => "decided",
            Self::Timer { .. } => "timer",
            Self::Steer { .. } => "steer",
            Self::Cancel => "cancel",
        }
    }

    fn into_event(self, trust: Trust) -> Option<Entry> {
        let event = match self {
            Self::Chunk { text } => Event::Chunk { text },
            Self::Reply { text, calls, finish } => {
                let call =
                    |call: Call| ToolCall { id: CallId::new(call.id), name: call.name, arguments: call.arguments };
                let calls = calls.into_iter().map(call).collect();
                Event::Reply(Reply { text, calls, finish: Finish::parse(&finish)? })
            }
            Self::ModelFailed { class, message } => Event::ModelFailed { class: FailureClass::parse(&class)?, message },
            Self::ToolDone { id, text, boundary } => {
                Event::ToolDone { id: CallId::new(id), outcome: ToolOutcome::Done { text, trust, boundary } }
            }
            Self::ToolFailed { id, error } => {
                Event::ToolDone { id: CallId::new(id), outcome: ToolOutcome::Failed { error } }
            }
            Self::Held { id, reason, bound_to } => Event::Held { id: CallId::new(id), why: Why { reason, bound_to } },
            Self::Decided { id, approved } => Event::Decided { id: CallId::new(id), approved },
            Self::Timer { id } => Event::Timer { id: CallId::new(id) },
            Self::Steer { text, boundary, inbound } => {
                let message = Message { trust, boundary, ..Message::new(Role::User, text) };
                return Some(Entry::Event(Event::Steer(message), inbound.map(InboundId)));
            }
            Self::Cancel => Event::Cancel,
        };
        Some(Entry::Event(event, None))
    }
}

fn trust_of(event: &Event) -> Trust {
    match event {
        Event::ToolDone { outcome: ToolOutcome::Done { trust, .. }, .. } => *trust,
        Event::Steer(message) => message.trust,
        _ => Trust::Owner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, entry: &Entry) -> TurnEvent {
        let NewEvent { kind, payload, trust } = entry.to_row();
        TurnEvent { seq, kind, payload, trust, at_ms: 0 }
    }

    // SEC-041
    #[test]
    fn every_entry_is_read_as_it_was_written() {
        let call = ToolCall { id: CallId::new("c1"), name: "clock".into(), arguments: "{\"a\":".into() };
        let done = ToolOutcome::Done { text: "12:00".into(), trust: Trust::Outside, boundary: Some("00ff".into()) };
        let began = Began {
            model: "openai/gpt-5".into(),
            profile: "limpid".into(),
            path: "chat-remote".into(),
            inputs: Inputs { soul: Some("Kind.\n".into()), ..Inputs::default() },
            tools: vec![("clock".into(), 30)],
            calls_with_tools: 15,
            result_chars: 20_000,
            own_result_chars: [("clock".into(), 50)].into(),
        };
        let steer = Message { trust: Trust::Guest, boundary: Some("0a".into()), ..Message::new(Role::User, "and?") };
        let event = |event| Entry::Event(event, None);
        let entries = [
            Entry::Began(Box::new(began)),
            Entry::Running(vec![CallId::new("c1")]),
            event(Event::Chunk { text: "It\n".into() }),
            event(Event::Reply(Reply { text: "x".into(), calls: vec![call], finish: Finish::Length })),
            event(Event::ModelFailed { class: FailureClass::Rate, message: "slow down".into() }),
            event(Event::ToolDone { id: CallId::new("c1"), outcome: done }),
            event(Event::ToolDone { id: CallId::new("c1"), outcome: ToolOutcome::Failed { error: "no".into() } }),
            event(Event::Held {
                id: CallId::new("c1"),
                why: Why { reason: "text from outside was read".into(), bound_to: "00ff".into() },
            }),
            event(Event::Decided { id: CallId::new("c1"), approved: true }),
            event(Event::Timer { id: CallId::new("c1") }),
            Entry::Event(Event::Steer(steer), Some(InboundId(7))),
            event(Event::Cancel),
        ];
        let rows: Vec<TurnEvent> = entries.iter().zip(1..).map(|(entry, seq)| row(seq, entry)).collect();
        let read: Vec<Entry> = rows.iter().map(|row| Entry::from_row(row).unwrap()).collect();
        assert_eq!(read, entries);
        let shown: Vec<String> =
            rows[1..].iter().map(|row| format!("{} {} {}", row.kind, row.trust, row.payload)).collect();
        insta::assert_snapshot!(shown.join("\n"));
    }
}
