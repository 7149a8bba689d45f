//! The sections that teach forms.

use serde_json::json;

use super::{remote, remote_text};
use crate::golden::{headings, patched};

// KAI-026 KAI-027 KAI-101 KAI-104 KAI-106
#[test]
fn the_interface_sections_teach_every_component_action_and_limit() {
    for (mode, heading) in [("dynamic", "## Dynamic UI"), ("interactive", "## Interactive UI Mode")] {
        let text = remote_text(&patched(remote(), json!({ "ui_mode": mode })));
        let section = &text[text.find(heading).unwrap()..];
        assert_eq!(headings(&text).iter().filter(|head| head.contains("UI")).count(), 1, "{mode}");
        let types = "column row card box divider text image icon code button text_input checkbox switch select \
                     radio_group slider chip_group progress countdown alert tabs accordion quote badge stat avatar \
                     list table";
        assert_eq!(types.split_whitespace().count(), 28);
        for word in
            types.split_whitespace().chain(["callback", "toggle", "open_url", "copy_to_clipboard", "collectFrom"])
        {
            assert!(section.contains(&format!("`{word}`")), "{mode}: {word}");
        }
        assert!(section.contains("No label may promise more"), "{mode}");
        let fence = section.split("```kai-ui\n").nth(1).unwrap().split("\n```").next().unwrap();
        let tree: serde_json::Value = serde_json::from_str(fence).unwrap();
        assert_eq!(tree["type"], "card");
    }
}

// KAI-108
#[test]
fn interactive_wins_and_a_model_without_tools_gets_no_interface() {
    let text = remote_text(&patched(remote(), json!({ "ui_mode": "interactive" })));
    assert!(headings(&text).contains(&"## Interactive UI Mode") && !headings(&text).contains(&"## Dynamic UI"));
    for mode in ["dynamic", "interactive"] {
        let text = remote_text(&patched(remote(), json!({ "ui_mode": mode, "model": { "tools": false } })));
        assert!(!text.contains("kai-ui") && !text.contains(" UI"), "{mode}: {text}");
    }
}
