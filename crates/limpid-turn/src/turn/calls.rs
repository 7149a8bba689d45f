//! Calls of tools: under which names they run, which are refused, and how much of a result the model gets to read.

use limpid_core::{CallId, Labelled, Message, Role, ToolCall, Trust, sentence};

use super::start::{OfferedTool, TurnStart};
use crate::event::ToolOutcome;
use crate::{arguments, result};

impl TurnStart {
    /// The result of a call that must not be run: an unknown tool, or arguments that are no JSON object. `trust` is the label
    /// of what the model wrote. Words of a stranger are not repeated, so that no boundary has to be drawn for them here: they
    /// are in the model's own message.
    pub(super) fn refuse(&self, call: &ToolCall, trust: Trust) -> Option<Message> {
        let error = match self.tools.iter().find(|tool| tool.name == call.name) {
            None => {
                let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
                let declared = Labelled::new(names.join(", "), Trust::Owner);
                if trust.is_foreign() {
                    sentence!("there is no tool of that name; there are: {}", declared)
                } else {
                    sentence!("there is no tool `{}`; there are: {}", Labelled::new(&call.name, trust), declared)
                }
            }
            Some(tool) => {
                let why = arguments::canonical(&call.arguments).err()?;
                let name = Labelled::new(&tool.name, Trust::Owner);
                if trust.is_foreign() {
                    sentence!(
                        "the arguments of `{}` cannot be used: they are not one JSON object with each field once",
                        name
                    )
                } else {
                    sentence!("the arguments of `{}` cannot be used: {}", name, why)
                }
            }
        };
        // Nothing ran, so nothing is kept to be read on in.
        let cap = Cap { pointer: false, ..self.cap(None) };
        Some(result_message(&call.id, ToolOutcome::failed(error, String::new), cap))
    }

    /// The calls under names that no earlier call has; a model's own names stay unless they are blank or taken.
    pub(super) fn named(&mut self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let mut named = Vec::with_capacity(calls.len());
        for mut call in calls {
            let own = if call.id.as_str().trim().is_empty() { "call" } else { call.id.as_str() };
            let later = (2..).map(|n: u64| CallId::new(format!("{own}-{n}")));
            let free = std::iter::once(CallId::new(own)).chain(later).find(|id| !self.taken.contains(id));
            call.id = free.unwrap_or(call.id);
            // Models that want no arguments often write nothing at all.
            if call.arguments.trim().is_empty() {
                call.arguments = "{}".to_owned();
            }
            // From here on this is the only form that there is of them.
            if let Ok(canonical) = arguments::canonical(&call.arguments) {
                call.arguments = canonical;
            }
            self.taken.insert(call.id.clone());
            named.push(call);
        }
        named
    }

    pub(super) fn cap(&self, tool: Option<&OfferedTool>) -> Cap {
        let pointer = self.tools.iter().any(|tool| tool.name == result::READ_ON);
        let own = tool.and_then(|tool| tool.result_chars);
        Cap { chars: own.unwrap_or(self.limits.result_chars), pointer }
    }
}

/// The last batch of calls without their ids, and how often it came in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Repeated {
    batch: Vec<(String, String)>,
    times: u32,
}

impl Repeated {
    /// How often this batch came in a row, this time included.
    pub(super) fn count(&mut self, calls: &[ToolCall]) -> u32 {
        let batch: Vec<_> = calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
        self.times = if batch == self.batch { self.times + 1 } else { 1 };
        self.batch = batch;
        self.times
    }
}

/// How much of a result the model gets to read.
#[derive(Clone, Copy)]
pub(super) struct Cap {
    pub(super) chars: usize,
    /// Whether a cut result says how to read on.
    pub(super) pointer: bool,
}

impl Cap {
    fn cut(self, text: &str, id: &CallId) -> String {
        if self.pointer { result::with_pointer(text, self.chars, id) } else { result::keep_both_ends(text, self.chars) }
    }
}

pub(super) fn result_message(id: &CallId, outcome: ToolOutcome, cap: Cap) -> Message {
    let ToolOutcome { said, boundary, failed } = outcome;
    let (text, trust) = said.into_parts();
    let text = cap.cut(&text, id);
    let text = if failed { result::failure(&text) } else { result::returned(text) };
    Message { boundary, call_id: Some(id.clone()), ..Message::new(Role::Tool, text, trust) }
}
