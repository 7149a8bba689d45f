//! The local path: its sections, its tools, the budget of its memories.

use limpid_core::tool::LOCAL_TOOL_ALLOWLIST;
use limpid_prompt::Inputs;
use limpid_prompt::inputs::{MemoryEntry, TrustName};
use serde_json::json;

use super::{local_text, remote, remote_text};
use crate::golden::{headings, offered, patched, render};

/// Sections that the local path does not have.
const REMOTE_ONLY: [&str; 7] = [
    "## Structured Learning",
    "## Automation",
    "## Email Accounts",
    "## Scheduled Tasks",
    "## Heartbeat Additions",
    "## Dynamic UI",
    "## Interactive UI Mode",
];

// KAI-030
#[test]
fn the_local_chat_has_no_text_of_a_remote_section() {
    for ui_mode in ["dynamic", "interactive"] {
        let inputs = patched(remote(), json!({ "ui_mode": ui_mode }));
        let text = local_text(&inputs);
        for heading in REMOTE_ONLY {
            assert!(!headings(&text).contains(&heading), "{heading}");
        }
        for word in ["kai-ui", "memory_learn", "schedule_task", "ana@x.org", "Water plants", "Warn above"] {
            assert!(!text.contains(word), "{word}");
        }
    }
}

// KAI-033
#[test]
fn the_local_allowlist_is_locked() {
    assert_eq!(
        LOCAL_TOOL_ALLOWLIST,
        [
            "get_local_time",
            "get_location_from_ip",
            "web_search",
            "open_url",
            "memory_store",
            "memory_forget",
            "memory_reinforce",
            "execute_shell_command",
        ]
    );
    let others = ["memory_learn", "memory_query", "schedule_task", "send_sms", "read_file", "promote_learning"];
    let tools: Vec<_> = others.iter().chain(&LOCAL_TOOL_ALLOWLIST).map(|name| json!({ "name": name })).collect();
    let mut got = offered(&render("kai", "chat-local", &patched(remote(), json!({ "tools": tools }))));
    let mut allowed = LOCAL_TOOL_ALLOWLIST;
    got.sort();
    allowed.sort_unstable();
    assert_eq!(got, allowed);

    let switched_on = json!({ "tools": [{ "name": "open_url" }, { "name": "memory_learn" }] });
    assert_eq!(offered(&render("kai", "chat-local", &patched(remote(), switched_on))), ["open_url"]);
}

fn memories(general: &[(&str, String)], preference: &[(&str, String)]) -> Inputs {
    let entries = |list: &[(&str, String)]| {
        list.iter()
            .map(|(key, content)| MemoryEntry {
                key: (*key).into(),
                content: content.clone(),
                ..MemoryEntry::by(TrustName::Owner)
            })
            .collect::<Vec<_>>()
    };
    let mut inputs = Inputs::default();
    inputs.memory.enabled = true;
    inputs.memory.general = entries(general);
    inputs.memory.preference = entries(preference);
    inputs
}

// KAI-034 KAI-035 KAI-036 KAI-037
#[test]
fn a_memory_of_1971_characters_fits_and_one_of_1972_takes_all_later_ones_along() {
    for letter in ["a", "\u{1F99E}"] {
        let fits = memories(&[("k", letter.repeat(1971))], &[]);
        assert!(local_text(&fits).contains(&format!("\n\n## Your Memories\n- **k**: {}\n\n", letter.repeat(1971))));

        let too_long = memories(&[("k", letter.repeat(1972))], &[("p", "x".to_owned())]);
        let text = local_text(&too_long);
        assert!(!text.contains("## Your Memories") && !text.contains("## User Preferences"), "{text}");
        assert!(remote_text(&too_long).contains(&letter.repeat(1972)), "the remote path has no limit");
    }
}

// KAI-034 KAI-035 KAI-036
#[test]
fn the_four_categories_share_the_budget_in_their_order() {
    // 19 + (9 + 1,000 + 1) of the first, 22 + (9 + n + 1) of the second: n = 939 is the last that fits.
    let of = |n: usize| memories(&[("k", "a".repeat(1000))], &[("p", "b".repeat(n)), ("q", String::new())]);
    let fits = local_text(&of(939));
    assert!(fits.contains(&format!("\n\n## User Preferences\n- **p**: {}\n\n", "b".repeat(939))), "{fits}");
    assert!(!fits.contains("**q**"));
    let too_long = local_text(&of(940));
    assert!(too_long.contains("## Your Memories") && !too_long.contains("## User Preferences"), "{too_long}");

    let mut later = of(940);
    later.memory.learning = vec![MemoryEntry { key: "l".into(), hits: 1, ..MemoryEntry::by(TrustName::Owner) }];
    later.memory.error = vec![MemoryEntry { key: "e".into(), ..MemoryEntry::by(TrustName::Owner) }];
    assert_eq!(local_text(&later), too_long, "later categories go too");
}

// KAI-036
#[test]
fn a_category_costs_its_header_once_however_many_entries_it_has() {
    // 19 once, then 9 + 980 + 1 and 9 + 981 + 1.
    let of = |n: usize| memories(&[("k", "a".repeat(980)), ("l", "b".repeat(n))], &[]);
    assert!(local_text(&of(981)).contains("- **l**: b"));
    assert!(!local_text(&of(982)).contains("- **l**: b"));
}

// KAI-036
#[test]
fn memories_stand_in_the_order_given() {
    let inputs = memories(&[("b", "2".into()), ("a", "1".into())], &[]);
    for text in [remote_text(&inputs), local_text(&inputs)] {
        assert!(text.contains("## Your Memories\n- **b**: 2\n- **a**: 1\n\n"), "{text}");
    }
}
