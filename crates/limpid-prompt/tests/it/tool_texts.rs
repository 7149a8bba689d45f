//! What prompts say of tools names exactly the tools that are sent (OLLM-039).

use std::collections::BTreeSet;

use crate::kit::{TWENTY, included, render, system, tool_files, tools};
use limpid_prompt::OfferedTool;
use limpid_prompt::inputs::{Inputs, ModelInfo, ToolPlacement, ToolProtocolName};
use limpid_prompt::scenario::EXAMPLE_INPUTS;

/// The example with twenty tools, of which every `nth` has no room.
fn inputs(nth: usize, protocol: ToolProtocolName) -> Inputs {
    let example: Inputs = serde_json::from_str(EXAMPLE_INPUTS).unwrap();
    let mut all = tools(&TWENTY);
    all.iter_mut().skip(nth - 1).step_by(nth).for_each(|tool| tool.reach = ToolPlacement::LeftOut);
    let model = ModelInfo { tool_protocol: protocol, ..example.model.clone() };
    Inputs { tools: all, model, ..example }
}

// OLLM-039
#[test]
fn a_list_of_tools_is_the_list_of_those_that_are_sent() {
    for profile in ["limpid", "ollm", "kai", "koshi", "picoclaw"] {
        for nth in [2, 3] {
            let inputs = inputs(nth, ToolProtocolName::Json);
            let prompt = render(profile, "chat-remote", &inputs);
            let sent: BTreeSet<&str> = prompt.offered().iter().map(OfferedTool::name).collect();
            let list = included(&prompt, "tool-list").unwrap();
            let entries = list.lines().filter_map(|line| line.strip_prefix("- ")?.split_once('('));
            assert_eq!(entries.map(|(name, _)| name).collect::<BTreeSet<_>>(), sent, "{profile}: {list}");
            let left = inputs.tools.iter().filter(|tool| tool.reach == ToolPlacement::LeftOut);
            assert!(left.into_iter().all(|tool| !sent.contains(tool.name.as_str())) && !sent.is_empty());
        }
    }
}

// OLLM-039
#[test]
fn no_text_names_a_tool_that_is_not_sent() {
    // The seeds of kai and picoclaw have sentences that name a tool whatever is offered.
    for profile in ["limpid", "ollm", "koshi"] {
        let known: BTreeSet<String> = tool_files("limpid").into_iter().chain(TWENTY.map(str::to_owned)).collect();
        for nth in [1, 2, 3] {
            let prompt = render(profile, "chat-remote", &inputs(nth, ToolProtocolName::Native));
            let sent: Vec<&str> = prompt.tools().iter().map(OfferedTool::name).collect();
            let text = system(&prompt);
            let words = text.split(|letter: char| !(letter.is_ascii_lowercase() || letter == '_'));
            let named: BTreeSet<&str> = words.filter(|word| word.contains('_') && known.contains(*word)).collect();
            let strange: Vec<&&str> = named.iter().filter(|name| !sent.contains(name)).collect();
            assert!(strange.is_empty(), "{profile}: {strange:?} are named and not sent");
        }
    }
}
