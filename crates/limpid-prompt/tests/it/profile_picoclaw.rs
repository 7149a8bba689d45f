//! The `picoclaw` profile against its specification: goldens A to F, workspace, memory, skills, children.

use crate::golden::{assert_golden, offered, patched, render, roles, scenario, system, user};
use limpid_prompt::{Inputs, Outcome};
use serde_json::{Value, json};

const WS: &str = "/home/ada/.picoclaw/workspace";

const A: &str = "
# picoclaw 🦞

‹name and role›

## Current Time
2026-02-17 14:30 (Tuesday)

## Runtime
linux arm64, Rust 1.90.0

## Workspace
Your workspace is at: WS
- Memory: WS/memory/MEMORY.md
- Daily Notes: WS/memory/YYYYMM/YYYYMMDD.md
- Skills: WS/skills/{skill-name}/SKILL.md

## Available Tools

**CRITICAL**: ‹act through tools, never pretend›

‹lead-in to the list›:

- `read_file` - ‹description›
- `cron` - ‹description›

## Important Rules

1. **ALWAYS use tools** - ‹call the tool, do not just say so›

2. **Be helpful and accurate** - ‹say briefly what you do›

3. **Memory** - ‹to remember, write to› WS/memory/MEMORY.md

---

## SOUL.md

Calm and dry.

## USER.md

Call me Ada.

---

# Skills

‹skills extend you; read a SKILL.md with read_file to use it›

<skills>
  <skill>
    <name>tea</name>
    <description>Steep &amp; time tea</description>
    <location>WS/skills/tea/SKILL.md</location>
    <source>workspace</source>
  </skill>
</skills>

---

# Memory

## Long-term Memory

Likes oolong.

---

## Recent Daily Notes

# 2026-02-17

Quiet.

---

# 2026-02-16

Rain.

---

## Current Session
Channel: telegram
Chat ID: 123456789

## Summary of Previous Conversation

Ada asked for a reminder.";

const B: &str = "
# Heartbeat Check

Current time: 2026-02-17 14:30:00

‹proactive assistant, scheduled check›
‹review the tasks below, act with skills›
‹if nothing needs attention, answer ONLY with› HEARTBEAT_OK

# Heartbeat Check List

- Report current time
";

const C: &str = "
‹concise summary of this segment; keep core context and key points›
Existing context: Ada likes tea.

CONVERSATION:
user: Remind me at 3pm.
assistant: Done.";

const D: &str = "
‹merge these two into one cohesive summary›:

1: Ada asked for a reminder.

2: Ada asked for tea.";

const JOIN: &str = "\n\n---\n\n";

fn everything() -> Inputs {
    scenario("picoclaw", "golden-a")
}

fn text(inputs: &Inputs) -> String {
    system(&render("picoclaw", "chat-remote", inputs))
}

/// Inputs with a clock and a machine and nothing else, under a patch.
fn only(patch: Value) -> Inputs {
    patched(patched(scenario("picoclaw", "only-channel"), json!({ "session": null })), patch)
}

/// What follows the identity, part by part.
fn parts(inputs: &Inputs) -> Vec<String> {
    text(inputs).split(JOIN).skip(1).map(str::to_owned).collect()
}

// PICO-003 PICO-004 PICO-005 PICO-006 PICO-008 PICO-009 PICO-010 PICO-011 PICO-012 PICO-013 PICO-017 PICO-020
#[test]
fn chat_is_golden_a() {
    assert_golden(&text(&everything()), &A.replace("WS", WS));
}

// PICO-001
#[test]
fn every_path_has_the_messages_and_tools_of_the_table() {
    let inputs = patched(
        everything(),
        json!({
            "history": [{ "content": "Hello" }, { "role": "assistant", "content": "Hello Ada." }],
            "heartbeat": { "checklist": "- x" },
            "summarize": { "messages": [{ "content": "x" }], "first": "a", "second": "b" },
            "delegate": { "task": "Find the cause." },
        }),
    );
    let chat = ["system", "user", "assistant", "user"].as_slice();
    let run = ["system", "user"].as_slice();
    let all = ["cron", "read_file"].as_slice();
    let table = [
        ("chat-remote", chat, all),
        ("chat-local", chat, all),
        ("coordinator", chat, all),
        ("heartbeat", run, all),
        ("task", run, all),
        ("summarize", &["user"], &[]),
        ("merge-summaries", &["user"], &[]),
        ("subagent-async", run, all),
        ("worker", run, all),
        ("subagent-sync", run, all),
    ];
    for (path, expected, tools) in table {
        let prompt = render("picoclaw", path, &inputs);
        assert_eq!(roles(&prompt), expected, "{path}");
        let mut names = offered(&prompt);
        names.sort();
        assert_eq!(names, tools, "{path}");
    }
    for path in ["chat-local", "coordinator", "task"] {
        assert_eq!(system(&render("picoclaw", path, &inputs)), text(&inputs), "{path}");
    }
    assert_eq!(user(&render("picoclaw", "task", &inputs)), "hi");
}

// PICO-002
#[test]
fn the_system_text_is_the_same_in_every_round_of_a_turn() {
    let round = json!({ "in_flight": [
        { "role": "assistant", "calls": [{ "id": "c1", "name": "read_file", "arguments": "{}" }] },
        { "role": "tool", "content": "text", "call_id": "c1" },
    ] });
    let prompt = render("picoclaw", "chat-remote", &patched(everything(), round));
    assert_eq!(system(&prompt), text(&everything()));
    assert_eq!(roles(&prompt), ["system", "user", "assistant", "tool"]);
}

// PICO-003 PICO-017
#[test]
fn an_empty_workspace_is_identity_and_suffix() {
    let inputs = scenario("picoclaw", "workspace-empty");
    assert_eq!(parts(&inputs), ["## Current Session\nChannel: telegram\nChat ID: 123456789"]);
    let nothing = text(&only(json!({})));
    assert!(!nothing.contains("---") && nothing.contains("## Important Rules"), "{nothing}");
    assert_eq!(nothing.trim(), nothing);
}

// PICO-004
#[test]
fn times_have_their_formats_and_english_weekdays() {
    let days = [
        ("2026-02-16T00:05:09+05:45", "2026-02-16 00:05 (Monday)", "2026-02-16 00:05:09"),
        ("2026-02-22T23:59:59-08:00", "2026-02-22 23:59 (Sunday)", "2026-02-22 23:59:59"),
    ];
    for (local, chat, heartbeat) in days {
        let inputs =
            patched(everything(), json!({ "time": { "local": local, "zone": "Z", "utc": "2026-02-16T00:00:00Z" } }));
        assert!(text(&inputs).contains(&format!("\n## Current Time\n{chat}\n\n")), "{local}");
        let message = user(&render("picoclaw", "heartbeat", &inputs));
        assert!(message.contains(&format!("\nCurrent time: {heartbeat}\n\n")), "{local}");
    }
}

// PICO-006
#[test]
fn tools_stand_in_the_seeds_order_then_by_name() {
    let text = text(&scenario("picoclaw", "all-tools"));
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next()).collect();
    let order = "read_file write_file list_dir edit_file append_file message exec cron spawn subagent web_search \
                 web_fetch i2c spi memory_store zoo";
    assert_eq!(names, order.split_whitespace().collect::<Vec<_>>());
    let described = text.lines().filter(|line| line.starts_with("- `") && line.ends_with('.')).count();
    assert!(described >= 14, "each of the 14 has a description: {text}");
}

// PICO-007 PICO-017
#[test]
fn without_tools_their_block_is_absent_and_the_rules_stay() {
    for off in [json!({ "tools": [] }), json!({ "model": { "tools": false } })] {
        let text = text(&patched(everything(), off));
        assert!(!text.contains("Available Tools") && !text.contains("CRITICAL"), "{text}");
        assert!(text.contains("{skill-name}/SKILL.md\n\n## Important Rules\n\n1. **ALWAYS use tools** - "), "{text}");
    }
}

// PICO-008 PICO-009 PICO-017
#[test]
fn files_stand_in_their_order_with_one_blank_line_between() {
    let text = "## AGENTS.md\n\nRules.\n\n## SOUL.md\n\nCalm.\n\n## IDENTITY.md\n\nNala";
    assert_eq!(parts(&scenario("picoclaw", "only-files")), [text]);
}

// PICO-024
#[test]
fn agent_md_wins_and_its_front_matter_is_not_shown() {
    let inputs = scenario("picoclaw", "agent-file");
    let parts = parts(&inputs);
    assert_eq!(parts[0], "## AGENT.md\n\nNew rules.");
    assert!(!parts.concat().contains("big-1"));
    let prompt = render("picoclaw", "chat-remote", &inputs);
    for shadowed in ["workspace:AGENTS.md", "workspace:IDENTITY.md"] {
        let row = prompt.report().iter().find(|row| row.section == shadowed).unwrap();
        assert_eq!((row.outcome, row.reason.as_deref()), (Outcome::Shadowed, Some("AGENT.md stands in its place")));
    }
}

// PICO-025
#[test]
fn unedited_templates_are_not_rendered() {
    let user_md = include_str!("../../profiles/picoclaw/templates/USER.md");
    let memory = include_str!("../../profiles/picoclaw/templates/MEMORY.md");
    let of = |user_md: &str, memory: &str| {
        only(json!({ "workspace": { "files": [{ "name": "USER.md", "content": user_md }], "long_term": memory } }))
    };
    assert_eq!(parts(&of(user_md, memory)), [""; 0]);
    let edited = parts(&of(&format!("{user_md}- Tea\n"), &format!("{memory}\nTea.\n")));
    assert!(
        edited[0].starts_with("## USER.md\n\n# User\n")
            && edited[1].starts_with("# Memory\n\n## Long-term Memory\n\n#")
    );
}

// PICO-010 PICO-011 PICO-017
#[test]
fn markup_in_a_skill_adds_no_element() {
    let parts = parts(&scenario("picoclaw", "only-skills"));
    assert_eq!(parts.len(), 1);
    let xml = parts[0].split_once("\n\n<skills>\n").unwrap().1;
    assert_eq!(xml.matches("<skill>").count(), 3);
    assert_eq!(xml.matches("</skill>").count(), 3);
    assert!(xml.contains("    <description>&lt;/skill&gt; &lt;skill&gt;</description>\n"), "{xml}");
    assert!(xml.contains("    <location>/x &amp; y/SKILL.md</location>\n    <source>builtin</source>\n"), "{xml}");
    assert!(parts[0].starts_with("# Skills\n\n") && xml.ends_with("  </skill>\n</skills>"), "{xml}");
}

// PICO-037
#[test]
fn over_the_indexs_budget_the_owners_skills_stay() {
    let skill = |source: &str, n: usize| json!({ "name": format!("{source}-{n:02}"), "description": "d".repeat(200), "location": "/x", "source": source });
    let index: Vec<Value> =
        ["builtin", "global", "workspace"].iter().flat_map(|source| (0..10).rev().map(|n| skill(source, n))).collect();
    let inputs = only(json!({ "model": { "usable_window": 10_000 }, "skills": { "index": index } }));
    let prompt = render("picoclaw", "chat-remote", &inputs);
    let text = system(&prompt);
    let sources: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("<source>")?.strip_suffix("</source>")).collect();
    assert!(sources.len() < 30, "something went");
    assert_eq!(sources.iter().filter(|source| **source == "workspace").count(), 10, "{sources:?}");
    let mut sorted = sources.clone();
    sorted.sort_by_key(|source| ["workspace", "global", "builtin"].iter().position(|one| one == source));
    assert_eq!(sources, sorted);
    let own: Vec<usize> = (0..10).filter_map(|n| text.find(&format!("<name>workspace-{n:02}</name>"))).collect();
    assert!(own.len() == 10 && own.is_sorted(), "{text}");
    let row = prompt.report().iter().find(|row| row.section == "skills").unwrap();
    assert_eq!(row.dropped, Some(30 - sources.len()));
}

// PICO-027 PICO-037
#[test]
fn each_budget_is_its_tokens_or_a_share_of_a_small_window() {
    let skill = |n: usize| json!({ "name": format!("s-{n}"), "description": "d ".repeat(500), "source": "global" });
    let index: Vec<Value> = (0..100).map(skill).collect();
    let memory = "A line of what to remember.\n".repeat(3_000);
    let reasons = |window: usize| {
        let inputs = json!({
            "model": { "usable_window": window }, "skills": { "index": index }, "workspace": { "long_term": memory },
        });
        let prompt = render("picoclaw", "chat-remote", &only(inputs));
        let reasons = prompt.cuts().filter_map(|row| Some(row.reason.as_ref()?.split_once(':')?.0.to_owned()));
        reasons.collect::<Vec<_>>()
    };
    assert_eq!(reasons(10_000), ["budget skills of 1500 tokens", "budget memory of 1500 tokens"]);
    assert_eq!(reasons(1_000_000), ["budget skills of 6000 tokens", "budget memory of 8000 tokens"]);
}

// PICO-012 PICO-017 PICO-020
#[test]
fn a_missing_half_of_memory_takes_its_heading_along() {
    assert_eq!(
        parts(&scenario("picoclaw", "only-long-term")),
        ["# Memory\n\n## Long-term Memory\n\n# Tea\n\nLikes oolong."]
    );
    assert_eq!(
        parts(&scenario("picoclaw", "only-notes")),
        ["# Memory\n\n## Recent Daily Notes\n\nQuiet.", "Rain.", "Sun."]
    );
}

// PICO-020
#[test]
fn memory_enters_verbatim_and_whole() {
    let memory = "# A {{ b }}\r\n\n\n  - c\n\t---\n## d\n\n<e> & \u{1F99E}\nf";
    let text = text(&only(json!({ "workspace": { "long_term": memory } })));
    assert!(text.ends_with(&format!("\n\n## Long-term Memory\n\n{memory}")), "{text}");
}

// PICO-027
#[test]
fn over_the_memorys_budget_the_oldest_note_goes_first_then_lines_of_memory() {
    let note = |date: &str| json!({ "date": date, "content": format!("{date} {}", "word ".repeat(150)) });
    let inputs = |lines: usize, window: usize| {
        let memory: Vec<String> = (0..lines).map(|n| format!("Line {n} of what to remember.")).collect();
        only(json!({
            "model": { "usable_window": window },
            "workspace": {
                "long_term": memory.join("\n"),
                "daily_notes": [note("2026-02-17"), note("2026-02-16"), note("2026-02-15")],
            },
        }))
    };
    let notes_of = |text: &str| text.matches("word word").count();
    let all = text(&inputs(10, 100_000));
    let some = text(&inputs(10, 4_000));
    assert!(all.contains("2026-02-15 word"));
    assert!(some.contains("2026-02-17 word") && !some.contains("2026-02-15 word"), "{some}");
    assert!(notes_of(&all) > notes_of(&some) && some.contains("Line 9 of"), "{some}");

    let mut uneven = inputs(10, 4_000);
    uneven.workspace.daily_notes[2].content = "A short old note.".to_owned();
    uneven.workspace.daily_notes[1].content = "word ".repeat(2_000);
    let uneven = text(&uneven);
    assert!(uneven.contains("2026-02-17 word") && !uneven.contains("A short old note."), "{uneven}");

    let memory_alone = text(&inputs(400, 4_000));
    assert!(!memory_alone.contains("word word") && memory_alone.contains("Line 0 of"), "{memory_alone}");
    assert!(!memory_alone.contains("Line 399 of"), "{memory_alone}");
    assert!(memory_alone.ends_with("of what to remember."), "cut at the border of a line: {memory_alone}");
    let row = render("picoclaw", "chat-remote", &inputs(400, 4_000));
    let row = row.report().iter().find(|row| row.section == "memory").unwrap().clone();
    assert!(row.dropped.unwrap() > 3 && row.kept.unwrap() > 0, "{row:?}");
}

// PICO-029
#[test]
fn where_others_read_along_memory_notes_and_user_md_stay_out() {
    for session in [json!({ "group": true }), json!({ "sender": "bob" })] {
        let text = text(&patched(everything(), json!({ "session": session })));
        for private in ["oolong", "Quiet", "Call me Ada", "# Memory", "## USER.md"] {
            assert!(!text.contains(private), "{private}: {text}");
        }
        assert!(text.contains("\n\n---\n\n## SOUL.md\n\nCalm and dry.\n\n---\n\n# Skills\n"), "{text}");
    }
}

// PICO-013 PICO-017
#[test]
fn the_suffix_has_a_session_with_both_halves_and_a_summary() {
    let session = "## Current Session\nChannel: telegram\nChat ID: 1";
    let summary = "## Summary of Previous Conversation\n\nAda asked.";
    let of = |session: Value, summary: Value| parts(&only(json!({ "session": session, "summary": summary })));
    let both = json!({ "channel": "telegram", "chat_id": "1" });
    assert_eq!(of(both.clone(), Value::Null), [session]);
    assert_eq!(of(Value::Null, json!("Ada asked.")), [summary]);
    assert_eq!(of(both, json!("Ada asked.")), [format!("{session}\n\n{summary}")]);
    for half in [json!({ "channel": "telegram" }), json!({ "chat_id": "1" }), json!({ "channel": "", "chat_id": "1" })]
    {
        assert_eq!(of(half, Value::Null), [""; 0]);
    }
}

// PICO-014
#[test]
fn the_heartbeat_is_the_chats_system_text_without_summary_and_golden_b() {
    let inputs = scenario("picoclaw", "golden-b");
    let prompt = render("picoclaw", "heartbeat", &inputs);
    assert_eq!(roles(&prompt), ["system", "user"]);
    assert_eq!(system(&prompt), text(&patched(inputs.clone(), json!({ "summary": null }))));
    assert!(system(&prompt).ends_with("## Current Session\nChannel: telegram\nChat ID: 123456789"));
    assert_golden(&user(&prompt), B);

    let list = "\n {{ x }}\t\r\n\n- [x] a\n\n\n";
    let raw = render("picoclaw", "heartbeat", &patched(inputs, json!({ "heartbeat": { "checklist": list } })));
    assert!(user(&raw).ends_with(&format!("HEARTBEAT_OK\n\n{list}")), "byte-equal");
}

// PICO-015
#[test]
fn summaries_are_goldens_c_and_d() {
    assert_golden(&user(&render("picoclaw", "summarize", &scenario("picoclaw", "golden-c"))), C);
    assert_golden(&user(&render("picoclaw", "merge-summaries", &scenario("picoclaw", "golden-d"))), D);
    let first = user(&render("picoclaw", "summarize", &scenario("picoclaw", "golden-c-first")));
    let (instruction, conversation) = first.split_once("\n\n").unwrap();
    assert!(!instruction.contains('\n') && !first.contains("Existing context"), "{first}");
    assert_eq!(conversation, "CONVERSATION:\nuser: Remind me at 3pm.\ntool: cron: 3pm, set\nassistant: Done.");
}

// PICO-016
#[test]
fn children_get_golden_e_or_f_and_the_task_alone() {
    let inputs = patched(
        crate::golden::example(),
        json!({ "delegate": { "skill": { "name": "review", "body": "Read the diff." } } }),
    );
    for (path, lines) in [("subagent-async", 3), ("worker", 3), ("subagent-sync", 1)] {
        let prompt = render("picoclaw", path, &inputs);
        assert_eq!(system(&prompt).lines().count(), lines, "{path}");
        assert!(system(&prompt).contains("subagent"), "{path}");
        assert_eq!(user(&prompt), "Find the cause.", "{path}");
        for other in ["memory_store", "Review", "Berlin", "Alex", "Hello"] {
            assert!(prompt.messages().iter().all(|message| !message.text().contains(other)), "{path}: {other}");
        }
    }
}

// SEC-100
#[test]
fn the_chat_prompt_says_where_the_workspace_is_and_that_of_limpid_does_not() {
    let names = |profile: &str| {
        let profiles = limpid_prompt::Profiles::shipped();
        let profile = profiles.get(profile).unwrap();
        profile.names_workspace(profile.path("chat-remote").unwrap())
    };
    assert!(names("picoclaw") && !names("limpid"));
}
