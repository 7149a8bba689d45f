//! The `koshi` profile against its specification: order, gates, verbatim identity, tools by group, size.

use crate::golden::{assert_golden, headings, offered, patched, render, roles, scenario, system, user};
use crate::kit::profile;
use limpid_prompt::Inputs;
use serde_json::{Value, json};

const EVERYTHING: &str = "
You are Ada's assistant. Calm and direct.

- Ask before you delete anything. Why: deletions cannot be undone.

## Architecture
‹framing: think, decide, delegate›
Forbidden: Read, Write, Edit, Bash, Glob, Grep, WebFetch, WebSearch, NotebookEdit. ‹reason›
Permitted:
- Scheduling: schedule_job, cancel_job, list_jobs
- Memory: memory_store, memory_query, memory_update, memory_reinforce, memory_demote
- Skills: load_skill, create_skill, update_skill
- Delegation: spawn_agent, list_agents, read_file
‹read_file is not Read›
‹spawn in the background›

## Recall
‹protocol›

## Time
2026-04-11T00:00:00Z

## Skills
- review: Review a change.

## Active Skill: Review
Read the diff first.

## Active Context
Moving the backup to the new disk.
";

const PERMITTED: [&str; 14] = [
    "schedule_job",
    "cancel_job",
    "list_jobs",
    "memory_store",
    "memory_query",
    "memory_update",
    "memory_reinforce",
    "memory_demote",
    "load_skill",
    "create_skill",
    "update_skill",
    "spawn_agent",
    "list_agents",
    "read_file",
];

fn everything() -> Inputs {
    scenario("koshi", "everything")
}

fn text(inputs: &Inputs) -> String {
    system(&render("koshi", "chat-remote", inputs))
}

fn tools(names: &[&str]) -> Value {
    names.iter().map(|name| json!({ "name": name })).collect()
}

// KOSHI-010 KOSHI-014 KOSHI-015 KOSHI-030
#[test]
fn sections_stand_in_the_order_of_the_table() {
    for path in ["chat-remote", "chat-local", "coordinator"] {
        // The seed knows no goals.
        let prompt = render("koshi", path, &patched(everything(), json!({ "goal": null })));
        assert_golden(&format!("{}\n", system(&prompt)), EVERYTHING);
        assert_eq!(roles(&prompt), ["system", "user", "assistant", "user"], "{path}");
        assert_eq!(user(&prompt), "hi");
    }
}

const GATES: [(&str, &str); 6] = [
    ("## Architecture", r#"{ "tools": [] }"#),
    ("## Recall", r#"{ "memory": { "enabled": false } }"#),
    ("## Time", r#"{ "time": null }"#),
    ("## Skills", r#"{ "skills": { "index": [] } }"#),
    ("## Active Skill: Review", r#"{ "skills": { "active": [] } }"#),
    ("## Active Context", r#"{ "active_context": null }"#),
];

// KOSHI-010 KOSHI-030
#[test]
fn a_gate_takes_out_its_section_without_a_gap() {
    let all = text(&everything());
    for (heading, off) in GATES {
        assert!(headings(&all).contains(&heading), "{heading} is missing");
        let text = text(&patched(everything(), serde_json::from_str(off).unwrap()));
        let mut rest = headings(&all);
        rest.retain(|other| *other != heading);
        assert_eq!(headings(&text), rest, "{heading}");
        assert!(!text.contains("\n\n\n") && text.trim_end() == text, "{heading}: {text:?}");
    }
}

// KOSHI-011
#[test]
fn the_soul_is_the_first_bytes_unaltered() {
    let souls = [
        "plain",
        "# I\n\n\n## Architecture\n",
        "{{ user_message }} {% if %} {# x #} {{ }}",
        "---\nwhen: false\n---\n",
        "ends with newlines\n\n\n",
        "\u{feff}\r\n tabs\tand \u{1F99E}",
    ];
    for soul in souls {
        let text = text(&patched(everything(), json!({ "soul": soul })));
        let rest = text.strip_prefix(soul).unwrap_or_else(|| panic!("{soul:?} is not the beginning of {text}"));
        assert!(rest.starts_with("\n\n- Ask before"), "{soul:?}: {rest:?}");
    }
}

// KOSHI-012
#[test]
fn safety_follows_the_soul_and_can_be_emptied_or_restored() {
    let shipped = text(&patched(everything(), json!({ "safety": null })));
    let rules: Vec<&str> = shipped.split("\n\n").nth(1).unwrap().lines().collect();
    assert!(
        rules.len() >= 4 && rules.iter().all(|rule| rule.starts_with("- ") && rule.contains(" Why: ")),
        "{rules:?}"
    );
    let emptied = text(&patched(everything(), json!({ "safety": "" })));
    assert!(emptied.starts_with("You are Ada's assistant. Calm and direct.\n\n## Architecture\n"), "{emptied}");
}

// KOSHI-013
#[test]
fn the_framing_says_think_decide_delegate_in_that_order() {
    let text = text(&everything());
    let framing = text.split("## Architecture\n").nth(1).unwrap().lines().next().unwrap().to_lowercase();
    let at = |word: &str| framing.find(word).unwrap_or_else(|| panic!("{word} is missing in {framing}"));
    assert!(at("think") < at("decide") && at("decide") < at("delegate"));
    assert!(framing.contains("in that order") && framing.contains("do not act directly"), "{framing}");
}

// KOSHI-014
#[test]
fn forbidden_tools_have_their_reason() {
    let text = text(&everything());
    let line = text.lines().find(|line| line.starts_with("Forbidden: ")).unwrap();
    for reason in ["main thread", "window", "defeat"] {
        assert!(line.contains(reason), "{reason}");
    }
}

// KOSHI-015
#[test]
fn a_tool_that_is_not_offered_is_not_named() {
    for withdrawn in PERMITTED {
        let rest: Vec<&str> = PERMITTED.into_iter().filter(|name| *name != withdrawn).collect();
        let text = text(&patched(everything(), json!({ "tools": tools(&rest), "skills": null })));
        assert!(!text.contains(withdrawn), "{withdrawn}: {text}");
        assert!(rest.iter().all(|name| text.contains(name)), "{withdrawn}: {text}");
    }
    let one = text(&patched(everything(), json!({ "tools": tools(&["load_skill"]), "memory": { "enabled": false } })));
    assert!(one.contains("\nPermitted:\n- Skills: load_skill\n\n## Time"), "{one}");
}

// KOSHI-016
#[test]
fn read_file_is_told_from_read() {
    let text = text(&everything());
    let line = text.lines().find(|line| line.starts_with("`read_file`")).unwrap();
    assert!(line.contains("unlike Read") && line.contains("finished agents"), "{line}");
}

// KOSHI-017
#[test]
fn only_permitted_tools_are_sent_on_every_path() {
    let koshi = profile("koshi", &[]);
    let others = ["exec", "write_file", "web_fetch", "schedule_task", "read_email", "Read", "Bash", "memory_forget"];
    for path in koshi.paths().map(|path| path.name.as_str()).filter(|path| *path != "worker") {
        // What ends a heartbeat is there in heartbeats alone.
        let decision = ["heartbeat_decision"].into_iter().filter(|_| path == "heartbeat");
        let names: Vec<&str> = PERMITTED.into_iter().chain(others).chain(decision.clone()).collect();
        for local in [false, true] {
            let patch = json!({ "tools": tools(&names), "model": { "local": local } });
            let mut got = offered(&render("koshi", path, &patched(everything(), patch)));
            let may = |name: &String| PERMITTED.into_iter().chain(decision.clone()).any(|permitted| permitted == name);
            assert!(got.iter().all(may), "{path}: {got:?}");
            assert_eq!(got.iter().any(|name| name == "heartbeat_decision"), path == "heartbeat");
            if ["chat-remote", "chat-local", "coordinator", "task"].contains(&path) {
                got.sort();
                let mut permitted = PERMITTED;
                permitted.sort_unstable();
                assert_eq!(got, permitted, "{path}");
            }
        }
    }
}

// KOSHI-017
#[test]
fn a_job_gets_the_coordinators_system_text_and_nothing_of_the_chat() {
    let chat = render("koshi", "chat-remote", &everything());
    let job = render("koshi", "task", &everything());
    assert_eq!(system(&job), system(&chat));
    assert_eq!(roles(&job), ["system", "user"]);
    assert_eq!(user(&job), "hi");
}

// KOSHI-016
#[test]
fn without_agents_read_file_is_not_said_to_read_their_output() {
    let inputs = patched(everything(), json!({ "tools": tools(&["read_file", "schedule_job"]) }));
    let prompt = render("koshi", "chat-remote", &inputs);
    let told: Vec<&str> = prompt.tools().iter().map(limpid_prompt::OfferedTool::description).collect();
    assert!(told[0].starts_with("Read a text file") && !told[0].contains("agent"), "{told:?}");
    assert!(!system(&prompt).contains("finished agents"));
}

// KOSHI-030
#[test]
fn the_index_of_many_skills_has_a_budget() {
    let about = "Creates, reviews and improves documents of one kind. Use it whenever the owner speaks of such a \
                 document, names a file of the kind, or asks for something that ends as one; not for the others.";
    let skill = |n: usize| json!({ "name": format!("skill-number-{n}"), "description": about });
    let index = |count: usize| -> Value { (0..count).map(skill).collect() };
    let bytes = |count: usize| {
        let prompt =
            render("koshi", "chat-remote", &patched(everything(), json!({ "skills": { "index": index(count) } })));
        let text = system(&prompt);
        text.split("## Skills\n").nth(1).unwrap().split("\n\n").next().unwrap().to_owned()
    };
    assert_eq!(bytes(31).lines().count(), 31, "each of thirty-one is named");
    assert!(bytes(31).len() < 4096, "{} bytes", bytes(31).len());
    assert!(bytes(90).len() < 4096, "{} bytes", bytes(90).len());
}

// KOSHI-018
#[test]
fn agents_are_spawned_in_the_background() {
    let rule = "`run_in_background: true` unless";
    assert!(text(&everything()).contains(rule));
    let rest = tools(&PERMITTED[..11]);
    assert!(!text(&patched(everything(), json!({ "tools": rest }))).contains("run_in_background"));
}

// KOSHI-020
#[test]
fn no_memory_is_put_into_the_prompt() {
    let text = text(&everything());
    for memory in ["Lives in Berlin", "Short answers", "Test first", "Use port 993", "The owner is Ada"] {
        assert!(!text.contains(memory), "{memory}");
    }
}

// KOSHI-021
#[test]
fn the_recall_protocol_has_its_six_steps() {
    let text = text(&everything());
    let section = text.split("## Recall\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let steps: Vec<&str> = section.lines().collect();
    assert_eq!(steps.len(), 6, "{section}");
    let expected: [&[&str]; 6] = [
        &["Read", "\"hi\" needs no query"],
        &["key concepts"],
        &["`memory_query`", "targeted words", "natural synonyms"],
        &["other words", "at most 3 queries a message"],
        &["[id:N]", "`memory_reinforce`", "`memory_demote`"],
        &["Answer", "found"],
    ];
    for (n, (step, words)) in steps.iter().zip(expected).enumerate() {
        assert!(step.starts_with(&format!("{}. ", n + 1)), "{step}");
        assert!(words.iter().all(|word| step.contains(word)), "{step}");
    }
}

// KOSHI-030 KOSHI-031
#[test]
fn the_index_has_one_line_a_skill_and_no_body_but_the_active_ones() {
    let skills = json!({ "skills": {
        "index": [{ "name": "tea", "description": "Steep\ntea." }, { "name": "review", "description": "Review." }],
        "active": [{ "name": "tea", "body": "Three minutes.\n" }],
    } });
    let some = text(&patched(everything(), skills));
    assert!(
        some.contains(
            "\n\n## Skills\n- tea: Steep tea.\n- review: Review.\n\n## Active Skill: tea\nThree minutes.\n\n"
        )
    );
    let none = text(&patched(
        everything(),
        json!({ "skills": { "index": [{ "name": "tea", "description": "Tea." }], "active": [] } }),
    ));
    assert!(none.contains("\n\n## Skills\n- tea: Tea.\n\n## Active Context") && !none.contains("Three minutes"));
}

// KOSHI-042 LES-114
#[test]
fn a_worker_gets_its_own_prompt_and_nothing_of_the_coordinators() {
    let inputs = scenario("koshi", "worker-with-skill");
    let prompt = render("koshi", "worker", &inputs);
    assert_eq!(roles(&prompt), ["system", "user"]);
    let text = system(&prompt);
    assert!(text.starts_with("You are a worker agent of Limpid"), "{text}");
    assert!(text.contains("\n\n## Skill: Review\n") && text.contains("\n\n## Rules\n"), "{text}");
    for other in ["Calm and direct", "## Architecture", "memory_", "spawn_agent", "## Recall", "Lives in Berlin"] {
        assert!(!text.contains(other), "{other}: {text}");
    }
    assert_eq!(user(&prompt), "Review the last change.\n\n## Context\nThe change is in /srv/app.");

    let bare = render("koshi", "worker", &patched(inputs, json!({ "delegate": { "skill": null, "context": null } })));
    assert!(system(&bare).len() < 1024);
    assert_eq!(user(&bare), "Review the last change.");
}

// KOSHI-001 LES-008
#[test]
fn every_byte_is_a_files_or_a_records_and_only_joins_stand_between() {
    for path in ["chat-remote", "chat-local", "coordinator", "worker"] {
        let prompt = render("koshi", path, &everything());
        for message in prompt.messages() {
            let mut rest = message.text();
            for part in message.parts() {
                let at =
                    rest.find(part.text()).unwrap_or_else(|| panic!("{path}: {:?} is not in {rest:?}", part.text()));
                assert_eq!(rest[..at].trim(), "", "{path}: text without an origin before {:?}", part.text());
                rest = &rest[at + part.text().len()..];
                let origin = part.origin();
                let kind = origin.split(':').next().unwrap();
                assert!(["shipped", "input", "skill", "goal", "message"].contains(&kind), "{path}: {origin}");
            }
            assert_eq!(rest.trim(), "", "{path}: text without an origin at the end");
        }
    }
}

// KOSHI-060
#[test]
fn a_typical_turn_is_below_two_kilobytes() {
    let inputs = scenario("koshi", "typical");
    let identity = inputs.soul.as_ref().unwrap().len() + inputs.safety.as_ref().unwrap().len();
    assert!((550..=600).contains(&identity), "the scenario's identity has {identity} bytes");
    let longest = inputs.skills.index.iter().map(|skill| skill.name.len() + skill.description.len() + 4).max().unwrap();
    assert!(inputs.skills.index.len() == 10 && longest <= 45, "{longest}");

    let mut full = inputs;
    full.soul = Some("s".repeat(300));
    full.safety = Some("s".repeat(300));
    for skill in &mut full.skills.index {
        skill.description.push_str(&"x".repeat(41 - skill.name.len() - skill.description.len()));
    }
    let text = text(&full);
    assert!(text.len() < 2048, "{} bytes: {text}", text.len());
    assert!(PERMITTED.iter().all(|name| text.contains(name)), "with every permitted tool");
}

// KOSHI-061
#[test]
fn the_shipped_identity_is_about_200_tokens_or_less() {
    let text = text(&patched(Inputs::default(), json!({ "agent_name": "Koshi" })));
    let tokens = tiktoken_rs::o200k_base().unwrap().encode_ordinary(&text).len();
    assert!(tokens <= 200, "{tokens} tokens: {text}");
}
