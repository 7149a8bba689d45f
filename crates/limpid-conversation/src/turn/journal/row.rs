//! Events of the machine in the form that they have as JSON.

use limpid_core::{CallId, FailureClass, Labelled, Message, ProviderState, Role, ToolCall, Trust};
use limpid_prompt::inputs::StateInput;
use limpid_store::InboundId;
use limpid_turn::{Event, Finish, Reply, ToolOutcome, Why};
use serde::{Deserialize, Serialize};

/// An event.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Row {
    Chunk {
        text: String,
    },
    Reply {
        text: String,
        calls: Vec<Call>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        state: Vec<StateInput>,
        finish: String,
    },
    ModelFailed {
        class: String,
        message: String,
    },
    ToolDone {
        id: String,
        text: String,
        boundary: Option<String>,
    },
    ToolFailed {
        id: String,
        error: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boundary: Option<String>,
    },
    Held {
        id: String,
        reason: String,
        /// An older row does not have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<String>,
        bound_to: String,
    },
    Decided {
        id: String,
        approved: bool,
        /// An older row does not say when.
        #[serde(default)]
        at_ms: i64,
    },
    Timer {
        id: String,
    },
    Steer {
        text: String,
        boundary: Option<String>,
        inbound: Option<i64>,
    },
    EndAfterCalls,
    Cancel,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Row {
    pub(super) fn new(event: &Event, inbound: Option<InboundId>) -> Self {
        match event.clone() {
            Event::Chunk { text } => Self::Chunk { text: text.into_parts().0 },
            Event::Reply(reply) => {
                let (Reply { text, calls, state, finish }, _) = reply.into_parts();
                let call =
                    |call: ToolCall| Call { id: call.id.to_string(), name: call.name, arguments: call.arguments };
                Self::Reply {
                    text,
                    calls: calls.into_iter().map(call).collect(),
                    state: state.iter().map(StateInput::from).collect(),
                    finish: finish.as_str().to_owned(),
                }
            }
            Event::ModelFailed { class, message } => Self::ModelFailed { class: class.as_str().to_owned(), message },
            Event::ToolDone { id, outcome: ToolOutcome { said, boundary, failed } } => {
                let (id, (text, _)) = (id.to_string(), said.into_parts());
                if failed {
                    Self::ToolFailed { id, error: text, boundary }
                } else {
                    Self::ToolDone { id, text, boundary }
                }
            }
            Event::Held { id, why: Why { reason, about, bound_to } } => {
                Self::Held { id: id.to_string(), reason, about, bound_to }
            }
            Event::Decided { id, approved, at_ms } => Self::Decided { id: id.to_string(), approved, at_ms },
            Event::Timer { id } => Self::Timer { id: id.to_string() },
            Event::Steer(message) => {
                Self::Steer { text: message.text, boundary: message.boundary, inbound: inbound.map(|id| id.0) }
            }
            Event::EndAfterCalls => Self::EndAfterCalls,
            Event::Cancel => Self::Cancel,
        }
    }

    pub(super) const fn kind(&self) -> &'static str {
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
            Self::EndAfterCalls => "end-after-calls",
            Self::Cancel => "cancel",
        }
    }

    pub(super) fn into_event(self, trust: Trust) -> Option<(Event, Option<InboundId>)> {
        let event = match self {
            Self::Chunk { text } => Event::Chunk { text: Labelled::new(text, trust) },
            Self::Reply { text, calls, state, finish } => {
                let call =
                    |call: Call| ToolCall { id: CallId::new(call.id), name: call.name, arguments: call.arguments };
                let calls = calls.into_iter().map(call).collect();
                let state = state.iter().map(ProviderState::from).collect();
                let reply = Reply { text, calls, state, finish: Finish::parse(&finish)? };
                Event::Reply(Labelled::new(reply, trust))
            }
            Self::ModelFailed { class, message } => Event::ModelFailed { class: FailureClass::parse(&class)?, message },
            Self::ToolDone { id, text, boundary } => {
                let outcome = ToolOutcome { said: Labelled::new(text, trust), boundary, failed: false };
                Event::ToolDone { id: CallId::new(id), outcome }
            }
            Self::ToolFailed { id, error, boundary } => {
                let outcome = ToolOutcome { said: Labelled::new(error, trust), boundary, failed: true };
                Event::ToolDone { id: CallId::new(id), outcome }
            }
            Self::Held { id, reason, about, bound_to } => {
                Event::Held { id: CallId::new(id), why: Why { reason, about, bound_to } }
            }
            Self::Decided { id, approved, at_ms } => Event::Decided { id: CallId::new(id), approved, at_ms },
            Self::Timer { id } => Event::Timer { id: CallId::new(id) },
            Self::Steer { text, boundary, inbound } => {
                let message = Message { boundary, ..Message::new(Role::User, text, trust) };
                return Some((Event::Steer(message), inbound.map(InboundId)));
            }
            Self::EndAfterCalls => Event::EndAfterCalls,
            Self::Cancel => Event::Cancel,
        };
        Some((event, None))
    }
}

/// The label of what an event brings; one without words of others has the owner's.
pub(super) fn trust_of(event: &Event) -> Trust {
    match event {
        Event::Chunk { text } => text.trust(),
        Event::Reply(reply) => reply.trust(),
        Event::ToolDone { outcome, .. } => outcome.trust(),
        Event::Steer(message) => message.trust,
        Event::ModelFailed { .. }
        | Event::Held { .. }
        | Event::Decided { .. }
        | Event::Timer { .. }
        | Event::EndAfterCalls
        | Event::Cancel => Trust::Owner,
    }
}
