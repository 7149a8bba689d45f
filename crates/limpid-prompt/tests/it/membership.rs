//! Where a section stands is said by the manifest, what it says by its file and the inputs, and what is left out by the
//! report.

use std::collections::BTreeSet;

use crate::kit::{included, profile, render, render_with, sections, shipped_file, system};
use limpid_prompt::inputs::{HistoryMessage, Inputs, RoleName, TrustName};
use limpid_prompt::profile::Step;
use limpid_prompt::scenario::EXAMPLE_INPUTS;
use limpid_prompt::{Outcome, Profiles, Prompt};
use serde_json::{Value, json};

fn example() -> Inputs {
    serde_json::from_str(EXAMPLE_INPUTS).unwrap()
}

/// The example with some of its fields replaced.
fn with(patch: &Value) -> Inputs {
    let mut whole: Value = serde_json::from_str(EXAMPLE_INPUTS).unwrap();
    for (field, value) in patch.as_object().unwrap() {
        whole[field] = value.clone();
    }
    serde_json::from_value(whole).unwrap()
}

fn rows(prompt: &Prompt, section: &str) -> Vec<(Outcome, String)> {
    let rows = prompt.report().iter().filter(|row| row.section == section);
    rows.map(|row| (row.outcome, row.reason.clone().unwrap_or_default())).collect()
}

// KAI-002 PRO-003
#[test]
fn a_path_has_the_sections_that_its_manifest_lists_and_no_others() {
    for profile in Profiles::shipped().iter() {
        for path in profile.paths() {
            let listed: BTreeSet<&str> = path
                .steps
                .iter()
                .filter_map(|step| match step {
                    Step::Message(message) => Some(message),
                    Step::History { .. } => None,
                })
                .flat_map(|message| message.sections.iter().map(|section| section.id.as_str()))
                .collect();
            for inputs in [example(), Inputs::default()] {
                let prompt = render_with(profile, &path.name, &inputs);
                let reported = prompt.report().iter().map(|row| row.section.as_str());
                let reported: BTreeSet<&str> = reported.filter(|id| !id.starts_with("workspace:")).collect();
                assert_eq!(reported, listed, "{} {}", profile.name(), path.name);
                let mut shown = sections(&prompt);
                shown.retain(|id| id != "history");
                let strange: Vec<&String> = shown.iter().filter(|id| !listed.contains(id.as_str())).collect();
                assert!(strange.is_empty(), "{} {}: {strange:?}", profile.name(), path.name);
            }
        }
    }
}

// KAI-002
#[test]
fn a_line_of_the_manifest_is_all_that_puts_a_section_on_a_path_or_takes_it_away() {
    let manifest = shipped_file("kai/profile.toml");
    assert!(manifest.contains("\"honesty\""));
    let own = profile("kai", &[("profile.toml", &manifest.replace("\"honesty\", ", ""))]);
    let (shipped, changed) = (profile("kai", &[]), own);
    for path in ["chat-remote", "chat-local"] {
        let [before, after] = [&shipped, &changed].map(|profile| render_with(profile, path, &example()));
        let honesty = included(&before, "honesty").unwrap();
        assert!(!system(&after).contains(&honesty), "{path}");
        assert!(rows(&after, "honesty").is_empty(), "{path}");
        let mut others = sections(&before);
        others.retain(|id| id != "honesty");
        assert_eq!(sections(&after), others, "{path}: every other section stays, in its order");
    }
}

// KAI-009 PRO-003
#[test]
fn a_new_section_is_a_file_and_a_row_of_the_manifest() {
    let manifest = shipped_file("kai/profile.toml").replace("\"honesty\", ", "\"honesty\", \"tea\", ");
    let tea = "---\ntitle: Tea\nwhy: The owner likes tea.\n---\nOffer tea.\n";
    let own = profile("kai", &[("profile.toml", &manifest), ("sections/tea.md", tea)]);
    let prompt = render_with(&own, "chat-remote", &example());
    assert_eq!(included(&prompt, "tea").as_deref(), Some("Offer tea."));
    assert_eq!(crate::kit::origin(&prompt, "tea"), "home:profiles/kai/sections/tea.md:5-5");
}

// KAI-129
#[test]
fn promotion_adds_to_the_default_soul_and_undoing_it_leaves_what_was_before() {
    let before = Inputs { soul: None, ..example() };
    let promoted = Inputs { soul_additions: vec!["Test before you deploy.".to_owned()], ..before.clone() };
    for name in ["kai", "koshi"] {
        for path in ["chat-remote", "chat-local"] {
            let plain = render(name, path, &before);
            let grown = render(name, path, &promoted);
            let soul = included(&plain, "soul").unwrap();
            assert_eq!(included(&grown, "soul"), Some(soul.clone()), "{name} {path}: the default soul stays");
            assert!(system(&grown).starts_with(&format!("{soul}\n\nTest before you deploy.\n\n")), "{name} {path}");
            let undone = render(name, path, &Inputs { soul_additions: Vec::new(), ..promoted.clone() });
            assert_eq!(undone.messages(), plain.messages(), "{name} {path}");
        }
    }
}

// KAI-088
#[test]
fn mail_messages_and_notifications_stand_between_the_lines_of_a_drawn_tag_only() {
    const TAG: &str = "5be1f00d5be1f00d";
    let patch = json!({
        "boundary": TAG,
        "email": { "enabled": true, "accounts": [{ "address": "ana@x.org", "unread": 1 }],
            "new": [{ "id": "1", "account": "ana@x.org", "from": "FOREIGN-1", "subject": "FOREIGN-2", "preview": "FOREIGN-3" }] },
        "sms": { "enabled": true, "new": [{ "id": "2", "from": "FOREIGN-4", "preview": "FOREIGN-5" }] },
        "notifications": { "enabled": true,
            "new": [{ "id": "3", "app": "FOREIGN-6", "title": "FOREIGN-7", "preview": "FOREIGN-8", "posted_at": "2026-04-10T23:50:00Z" }] },
    });
    let mut inputs = with(&patch);
    let result = |content: &str, tag: &str| HistoryMessage {
        role: RoleName::Tool,
        content: content.to_owned(),
        trust: TrustName::Outside,
        boundary: Some(tag.to_owned()),
        ..HistoryMessage::by(TrustName::Owner)
    };
    inputs.history.push(result("FOREIGN-9", "00112233445566aa"));
    inputs.in_flight.push(result("FOREIGN-10", "00112233445566bb"));
    let mut seen = BTreeSet::new();
    for profile in Profiles::shipped().iter() {
        for path in profile.paths() {
            let prompt = render_with(profile, &path.name, &inputs);
            for message in prompt.messages() {
                let mut open: Option<String> = None;
                for line in message.text().lines() {
                    if let Some(tag) = line.strip_prefix("[untrusted ").and_then(|rest| rest.strip_suffix(']')) {
                        assert!(tag.len() == 16 && tag.bytes().all(|byte| byte.is_ascii_hexdigit()), "{tag}");
                        open = Some(tag.to_owned());
                    } else if open.as_ref().is_some_and(|tag| line == format!("[/untrusted {tag}]")) {
                        open = None;
                    }
                    let foreign = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
                    for word in foreign.filter(|word| word.starts_with("FOREIGN-")) {
                        assert!(open.is_some(), "{} {}: {line}", profile.name(), path.name);
                        seen.insert((word.to_owned(), open.clone().unwrap()));
                    }
                }
                assert_eq!(open, None, "{} {}: a boundary that is not closed", profile.name(), path.name);
            }
        }
    }
    let drawn = |n: usize| match n {
        9 => "00112233445566aa",
        10 => "00112233445566bb",
        _ => TAG,
    };
    let all: BTreeSet<(String, String)> = (1..=10).map(|n| (format!("FOREIGN-{n}"), drawn(n).to_owned())).collect();
    assert_eq!(seen, all, "each text is shown somewhere, behind the tag that was drawn for it");
}

// KOSHI-006
#[test]
fn what_was_considered_and_not_used_is_listed_with_the_reason() {
    let own = "---\ntitle: Recall\nwhy: W\nwhen: memory\n---\nRemember.\n";
    let koshi = profile("koshi", &[("sections/recall.md", own)]);
    let inputs = with(&json!({ "soul": "", "safety": null, "memory": { "enabled": false } }));
    let prompt = render_with(&koshi, "chat-remote", &inputs);
    let empty = (Outcome::Skipped, "`soul` is empty".to_owned());
    let shadow = "home:profiles/koshi/sections/recall.md stands in place of shipped:profiles/koshi/sections/recall.md";
    assert_eq!(rows(&prompt, "soul"), [empty]);
    assert_eq!(
        rows(&prompt, "recall"),
        [(Outcome::Skipped, "`memory` is false".to_owned()), (Outcome::Shadowed, shadow.to_owned())]
    );

    // The same for files of the workspace, and for what a budget leaves out.
    let files = [("AGENT.md", "I am Ada."), ("AGENTS.md", "Old."), ("SOUL.md", " \n"), ("NOTES.md", "Milk.")];
    let files: Vec<Value> = files.iter().map(|(name, content)| json!({ "name": name, "content": content })).collect();
    let prompt = render("picoclaw", "chat-remote", &with(&json!({ "workspace": { "path": "/w", "files": files } })));
    let listed: Vec<_> = ["AGENTS.md", "SOUL.md", "NOTES.md"]
        .map(|name| rows(&prompt, &format!("workspace:{name}")))
        .into_iter()
        .flatten()
        .map(|(outcome, reason)| format!("{} ({reason})", outcome.as_str()))
        .collect();
    assert_eq!(
        listed,
        [
            "shadowed (AGENT.md stands in its place)",
            "skipped (it is blank)",
            "skipped (`[order] files` of the profile does not name it)",
        ]
    );
    let facts: Vec<Value> = (0..80).map(|n| json!({ "key": format!("k{n}"), "content": "x".repeat(60) })).collect();
    let memory = json!({ "enabled": true, "general": facts, "learning": [{ "key": "last", "content": "y" }] });
    let prompt = render("kai", "chat-local", &with(&json!({ "memory": memory })));
    let cut: Vec<(&str, Outcome)> = prompt.cuts().map(|row| (row.section.as_str(), row.outcome)).collect();
    assert_eq!(cut, [("memories-general", Outcome::Trimmed), ("memories-learning", Outcome::Dropped)]);
    for row in prompt.cuts() {
        assert!(row.reason.as_deref().is_some_and(|reason| reason.starts_with("budget memories of ")), "{row:?}");
    }
}
