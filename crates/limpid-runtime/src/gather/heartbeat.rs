//! What a heartbeat reads besides tasks and news.

use limpid_prompt::Profile;
use limpid_prompt::inputs::Inputs;

use crate::heartbeat::PATH;
use crate::tools::HEARTBEAT_DECISION;

/// Leaves the tool that ends a heartbeat to a heartbeat whose path lists it; elsewhere there is nothing to end.
pub(super) fn keep_decision(inputs: &mut Inputs, profile: &Profile, path: &str) {
    let lists = |tools: &Vec<String>| tools.iter().any(|tool| tool == HEARTBEAT_DECISION);
    let decides = path == PATH && profile.path(path).is_ok_and(|path| path.tools.as_ref().is_some_and(lists));
    if !decides {
        inputs.tools.retain(|tool| tool.name != HEARTBEAT_DECISION);
    }
}
