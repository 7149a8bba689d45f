//! A prompt that was sent before, from the record that was kept of it: so a request can be shown and sent again, byte
//! for byte, whatever became of the files that it was made from.

use limpid_core::{CallId, ProviderState, Role, ToolCall, ToolSpec, Trust};

use crate::inputs::CallInput;
use crate::prompt::{Loading, OfferedTool, Part, Place, Prompt, PromptMessage, StatePart};
use crate::render::{IN_FLIGHT, PAST, Tools};
use crate::section::{Stability, Subject};

/// What was kept of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptRecord {
    /// The profile that was rendered.
    pub profile: String,
    /// The path that was rendered.
    pub path: String,
    /// The revision of its fixed parts.
    pub revision: String,
    /// The messages, in the order in which they were sent.
    pub messages: Vec<MessageRecord>,
    /// The tools that were declared, each with when the model reads it.
    pub tools: Vec<(ToolSpec, Loading)>,
    /// Whether they are declared to the provider.
    pub declared: bool,
}

/// What was kept of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    /// Who speaks.
    pub role: Role,
    /// Exactly what was sent.
    pub text: String,
    /// The parts, each with its origin.
    pub parts: Vec<PartRecord>,
    /// The calls of an assistant message.
    pub calls: Vec<ToolCall>,
    /// What its provider got back with it.
    pub state: Vec<ProviderState>,
    /// The call that a tool message answers.
    pub call_id: Option<CallId>,
}

/// What was kept of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartRecord {
    /// The section's id.
    pub section: String,
    /// Where the text came from.
    pub origin: String,
    /// The text.
    pub text: String,
    /// How often it changes.
    pub stability: Stability,
    /// Who wrote it.
    pub trust: Trust,
}

impl PromptRecord {
    /// The prompt that it was kept of. It has no report, since nothing was rendered, and no tokens are counted.
    pub fn into_prompt(self) -> Prompt {
        let tool = |(tool, loading): (ToolSpec, Loading)| OfferedTool {
            name: tool.name,
            group: tool.group,
            description: tool.description,
            schema: tool.schema,
            loading,
        };
        let mut messages: Vec<PromptMessage> = self.messages.into_iter().map(message).collect();
        let tools = Tools::of_record(self.tools.into_iter().map(tool).collect(), &mut messages);
        Prompt {
            profile: self.profile,
            path: self.path,
            revision: self.revision,
            messages,
            report: Vec::new(),
            budgets: Vec::new(),
            offered: tools.offered,
            waiting: tools.waiting,
            declared: self.declared,
            counter: String::new(),
            totals: None,
            template: Vec::new(),
            window: None,
            system_target: None,
        }
    }
}

fn message(record: MessageRecord) -> PromptMessage {
    let call = |call: ToolCall| CallInput { id: call.id.to_string(), name: call.name, arguments: call.arguments };
    let part = |part: PartRecord| Part {
        bytes: part.text.len(),
        section: part.section,
        origin: part.origin,
        text: part.text,
        tokens: None,
        stability: part.stability,
        trust: part.trust.into(),
        subject: Subject::default(),
    };
    let holds = |section: &str| record.parts.iter().any(|part| part.section == section);
    let place = match () {
        () if holds(PAST) => Place::History,
        () if holds(IN_FLIGHT) => Place::InFlight,
        () => Place::Path,
    };
    PromptMessage {
        role: record.role.into(),
        text: record.text,
        parts: record.parts.into_iter().map(part).collect(),
        calls: record.calls.into_iter().map(call).collect(),
        state: record.state.iter().map(|state| StatePart::new(&state.into())).collect(),
        call_id: record.call_id.map(|id| id.to_string()),
        loads: Vec::new(),
        call_tokens: None,
        cache_mark: false,
        place,
    }
}
