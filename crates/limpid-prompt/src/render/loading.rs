//! Which tools a model reads where a result names them, and which before everything else.
//!
//! Some providers take declarations that the model reads only where a result of `find_tools` names them. A tool that is
//! found then changes nothing before the history, and what was cached stays cached. The result itself says what it loads,
//! so the record of a request is enough to make it again.

use limpid_core::Role;
use limpid_core::reach::{FIND_TOOLS, named_in};

use super::tools;
use crate::inputs::{ToolPlacement, ToolProtocolName};
use crate::prompt::{Loading, OfferedTool, PromptMessage};
use crate::scope::Scope;

/// The tools of a prompt.
pub(crate) struct Tools {
    /// Those that the model may call.
    pub(crate) offered: Vec<OfferedTool>,
    /// Those that are declared and not read.
    pub(crate) waiting: Vec<OfferedTool>,
}

impl Tools {
    /// The tools of a scope; what its messages load is written into them.
    pub(super) fn of(scope: &Scope<'_>, messages: [&mut Vec<PromptMessage>; 2]) -> Self {
        let mut offered = tools::sent(scope);
        let model = &scope.inputs().model;
        let finds = scope.offered().iter().any(|tool| tool.name == FIND_TOOLS);
        if !finds || !model.tool_search || model.tool_protocol != ToolProtocolName::Native {
            return Self { offered, waiting: Vec::new() };
        }
        let mut waiting = tools::waiting(scope);
        for tool in &mut waiting {
            tool.loading = Loading::Found;
        }
        let found = scope.sent().iter().filter(|tool| tool.reach == ToolPlacement::Found);
        let found: Vec<String> = found.map(|tool| tool.name.clone()).collect();
        let named = load(messages.into_iter().flatten(), |name| found.iter().any(|found| found == name));
        for tool in offered.iter_mut().filter(|tool| found.contains(&tool.name) && named.contains(&tool.name)) {
            tool.loading = Loading::Found;
        }
        for tool in waiting.iter_mut().filter(|tool| named.contains(&tool.name)) {
            tool.loading = Loading::Held;
        }
        Self { offered, waiting }
    }

    /// The tools of a record; what its messages load is written into them.
    pub(crate) fn of_record(tools: Vec<OfferedTool>, messages: &mut [PromptMessage]) -> Self {
        let found = |name: &str| tools.iter().any(|tool| tool.name == name && tool.loading == Loading::Found);
        load(messages.iter_mut(), found);
        let is_read = |tool: &OfferedTool| {
            tool.loading == Loading::Always || messages.iter().any(|message| message.loads.contains(&tool.name))
        };
        let (offered, waiting) = tools.into_iter().partition(is_read);
        Self { offered, waiting }
    }
}

/// Has the first result that names a tool load it, and returns every name that a result has.
fn load<'m>(messages: impl Iterator<Item = &'m mut PromptMessage>, may: impl Fn(&str) -> bool) -> Vec<String> {
    let mut finds: Vec<String> = Vec::new();
    let mut named: Vec<String> = Vec::new();
    for message in messages {
        let calls = message.calls.iter().filter(|call| call.name == FIND_TOOLS);
        finds.extend(calls.map(|call| call.id.clone()));
        let answers = message.call_id.as_ref().is_some_and(|id| finds.contains(id));
        if message.role() != Role::Tool || !answers {
            continue;
        }
        for name in named_in(&message.text) {
            if named.iter().any(|known| known == name) {
                continue;
            }
            named.push(name.to_owned());
            if may(name) {
                message.loads.push(name.to_owned());
            }
        }
    }
    named
}
