//! What the default profile never says: tools that are not offered, memories nobody asked for, what changes every turn
//! before the history; and that its owner's files take the place of its own.

use crate::kit::{
    CHATS, TWENTY, exact, included, kathmandu, part, profile, render, render_with, system, tools, typical,
};
use limpid_prompt::inputs::{
    DelegateInput, GoalInput, Inputs, MemoryEntry, MemoryInput, ModelInfo, Quoted, SessionInput, SkillEntry,
    SkillsInput, TimeInfo, ToolProtocolName, TrustName,
};
use limpid_prompt::{OfferedTool, Prompt, PromptMessage, Stability};

fn limpid(path: &str, inputs: &Inputs) -> Prompt {
    render("limpid", path, inputs)
}

// LES-010
#[test]
fn tools_are_listed_in_text_only_for_a_model_without_calls_of_its_own() {
    let listed = ["memory_store", "web_fetch"];
    for path in ["chat-remote", "subagent-async", "heartbeat"] {
        let inputs = Inputs { tools: tools(&listed), ..Inputs::default() };
        let native = limpid(path, &inputs);
        assert_eq!(included(&native, "tool-list"), None);
        assert!(!native.tools().is_empty());
        let model = ModelInfo { tool_protocol: ToolProtocolName::Json, ..ModelInfo::default() };
        let json = limpid(path, &Inputs { model, ..inputs.clone() });
        let text = part(&json, "tool-list");
        assert!(text.contains(r#"{"calls":[{"name":"#) && text.contains(r#"{"answer":"#), "{text}");
        assert!(text.contains("- web_fetch(url: string): Read a web page as text."), "{text}");
        assert_eq!(text.contains("- memory_store(key: string, content: string): "), path != "heartbeat", "{text}");
        let model = ModelInfo { tools: false, ..ModelInfo::default() };
        assert_eq!(included(&limpid(path, &Inputs { model, ..inputs }), "tool-list"), None);
    }
}

// LES-011
#[test]
fn a_tool_that_is_withdrawn_leaves_every_text() {
    let every_tool = crate::kit::tool_files("limpid");
    let paths = ["chat-remote", "chat-local", "coordinator", "heartbeat", "task", "subagent-async", "worker"];
    let inputs = |names: &[&str]| Inputs {
        tools: tools(names),
        goal: Some(GoalInput { description: "Move house".to_owned(), ..GoalInput::by(TrustName::Owner) }),
        memory: MemoryInput {
            enabled: true,
            promotions: vec![MemoryEntry { key: "k".to_owned(), hits: 6, ..MemoryEntry::by(TrustName::Owner) }],
            ..MemoryInput::default()
        },
        delegate: DelegateInput { task: "Brew.".to_owned(), ..DelegateInput::by(TrustName::Owner) },
        ..typical()
    };
    for withdrawn in &every_tool {
        let rest: Vec<&str> = every_tool.iter().filter(|name| *name != withdrawn).map(String::as_str).collect();
        for path in paths {
            let prompt = limpid(path, &inputs(&rest));
            for message in prompt.messages() {
                assert!(!crate::kit::names(message.text(), withdrawn), "{path} names {withdrawn}: {}", message.text());
            }
        }
    }
    let prompt = limpid("chat-remote", &inputs(&[]));
    for name in &every_tool {
        assert!(prompt.messages().iter().all(|message| !crate::kit::names(message.text(), name)), "{name}");
    }
}

// LES-057
#[test]
fn a_group_sees_no_long_term_memory() {
    let memory = MemoryInput {
        enabled: true,
        pinned: vec![MemoryEntry {
            key: "name".to_owned(),
            content: "Ada".to_owned(),
            ..MemoryEntry::by(TrustName::Owner)
        }],
        ..MemoryInput::default()
    };
    let session =
        SessionInput { channel: Some("matrix".to_owned()), group: true, ..SessionInput::by(TrustName::Owner) };
    let inputs = Inputs { memory, session, ..Inputs::default() };
    for path in CHATS {
        assert!(limpid(path, &inputs).messages().iter().all(|message| !message.text().contains("Ada")));
    }
}

// LES-130
#[test]
fn ninety_skills_stay_below_1500_tokens_and_the_first_ones_stay() {
    let skill = |n: usize| SkillEntry {
        name: format!("skill-{n}"),
        description: "Does one of the many things that a person may want to have done on some day of the week."
            .to_owned(),
        ..SkillEntry::by(TrustName::Owner)
    };
    let skills = SkillsInput { index: (0..90).map(skill).collect(), ..SkillsInput::default() };
    let prompt = limpid("chat-remote", &Inputs { skills, ..Inputs::default() });
    let text = part(&prompt, "skills");
    assert!(exact(&text) < 1500, "{} tokens", exact(&text));
    assert!(["skill-0:", "skill-1:", "skill-2:"].iter().all(|name| text.contains(name)));
    let row = prompt.report().iter().find(|row| row.section == "skills").unwrap();
    assert!(row.dropped > Some(0), "what is missing is reported: {row:?}");
}

// LES-002 LES-009
#[test]
fn every_section_can_be_replaced_extended_or_switched_off_by_a_file() {
    let shipped = profile("limpid", &[]);
    let inputs = typical();
    let before = render_with(&shipped, "chat-remote", &inputs);
    for id in crate::kit::sections(&before).iter().filter(|id| *id != "mode" && *id != "user-message") {
        let file = format!("sections/{id}.md");
        let own = profile("limpid", &[(&file, "Said in my own words.\n")]);
        let after = render_with(&own, "chat-remote", &inputs);
        assert_eq!(part(&after, id), "Said in my own words.", "{id}");
        let origin = crate::kit::origin(&after, id);
        assert!(origin.starts_with("home:") && origin.contains(&file), "{origin}");

        let text = part(&before, id);
        let shipped_file = crate::kit::shipped_file(&format!("limpid/{file}"));
        let own = profile("limpid", &[(&file, &format!("{shipped_file}\nAnd this.\n"))]);
        assert_eq!(part(&render_with(&own, "chat-remote", &inputs), id), format!("{text}\n\nAnd this."), "{id}");

        let own = profile("limpid", &[(&file, "{# off #}\n")]);
        let after = render_with(&own, "chat-remote", &inputs);
        assert_eq!(included(&after, id), None, "{id}");
        let gone = system(&before).replacen(&format!("{text}\n\n"), "", 1);
        let gone = if gone == system(&before) { gone.replacen(&format!("\n\n{text}"), "", 1) } else { gone };
        assert_eq!(system(&after), gone, "without {id} nothing else changed");
    }
}

// LES-052
#[test]
fn hi_brings_no_memory_but_the_pinned_ones() {
    let entry = |key: &str| MemoryEntry {
        key: key.to_owned(),
        content: format!("about {key}"),
        ..MemoryEntry::by(TrustName::Owner)
    };
    let memory = MemoryInput {
        enabled: true,
        general: vec![entry("city")],
        preference: vec![entry("tone")],
        learning: vec![entry("deploy")],
        error: vec![entry("imap")],
        pinned: vec![entry("name")],
        promotions: vec![entry("deploy")],
        ..MemoryInput::default()
    };
    for path in CHATS {
        let prompt = limpid(path, &Inputs { memory: memory.clone(), ..typical() });
        let all: String = prompt.messages().iter().map(PromptMessage::text).collect();
        assert!(all.contains("about name"));
        for other in ["city", "tone", "deploy", "imap"] {
            assert!(!all.contains(other), "{path} recalls {other}");
        }
    }
}

// PRO-040 LES-020
#[test]
fn nothing_that_changes_every_turn_stands_before_the_history() {
    for path in CHATS {
        let inputs = Inputs {
            time: Some(kathmandu()),
            history: crate::kit::history(&["Hello", "Hello."]),
            pin: Some(Quoted::new("Build it.", TrustName::Owner)),
            summary: Some(Quoted::new("They met.", TrustName::Owner)),
            ..typical()
        };
        let prompt = limpid(path, &inputs);
        let first = |section: &str| {
            prompt.messages().iter().position(|message| message.parts().iter().any(|part| part.section() == section))
        };
        let history = first("history").unwrap();
        for message in &prompt.messages()[..history] {
            for part in message.parts() {
                assert_ne!(part.stability(), Stability::Turn, "{} on {path}", part.section());
            }
        }
        assert_eq!(first("user-message"), Some(history + 2), "the newest message follows the history");
        assert_eq!((first("pin"), first("digests")), (Some(1), Some(1)), "what was kept stands before the history");
    }
}

/// Another person in another chat, a month later: only the newest message tells of it.
// LES-020
#[test]
fn who_writes_where_and_when_stands_in_the_newest_message_alone() {
    for path in CHATS {
        let said = |sender: &str, channel: &str, local: &str| {
            let named = |name: &str| Some(name.to_owned());
            let inputs = Inputs {
                session: SessionInput {
                    sender: named(sender),
                    channel: named(channel),
                    ..SessionInput::by(TrustName::Owner)
                },
                time: Some(TimeInfo { local: local.to_owned(), ..kathmandu() }),
                history: crate::kit::history(&["Hello", "Hello."]),
                ..typical()
            };
            let prompt = limpid(path, &inputs);
            let mut texts: Vec<String> = prompt.messages().iter().map(|message| message.text().to_owned()).collect();
            (texts.pop(), texts)
        };
        let (ada, before_ada) = said("ada", "telegram", "2026-01-31T23:59:00+05:45");
        let (bob, before_bob) = said("bob", "matrix", "2026-03-01T00:00:00+05:45");
        assert_eq!(before_ada, before_bob, "{path}");
        assert_ne!(ada, bob, "{path}");
    }
}

// LES-114
#[test]
fn a_child_knows_that_it_is_one_and_shares_nothing_with_a_chat() {
    let delegate = DelegateInput { task: "Brew a pot.".to_owned(), ..DelegateInput::by(TrustName::Owner) };
    let inputs = Inputs { delegate, ..typical() };
    let chat: Vec<String> = crate::kit::sections(&limpid("chat-remote", &inputs));
    for (path, word) in [("subagent-async", "sub-agent"), ("subagent-sync", "sub-agent"), ("worker", "worker")] {
        let prompt = limpid(path, &inputs);
        assert!(system(&prompt).starts_with(&format!("You are a {word}")));
        assert!(system(&prompt).len() < 1024);
        let shared: Vec<String> = crate::kit::sections(&prompt).into_iter().filter(|id| chat.contains(id)).collect();
        assert!(shared.is_empty(), "{path} shares {shared:?}");
    }
}

// LES-043
#[test]
fn a_heartbeat_is_offered_nothing_that_schedules_sends_writes_or_changes_settings() {
    let inputs = Inputs { tools: tools(&TWENTY), ..Inputs::default() };
    let prompt = limpid("heartbeat", &inputs);
    let offered: Vec<&str> = prompt.tools().iter().map(OfferedTool::name).collect();
    assert_eq!(offered, ["memory_query", "read_file", "web_fetch"]);
}
