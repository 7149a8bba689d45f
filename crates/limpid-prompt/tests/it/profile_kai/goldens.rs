//! The three goldens, and which messages a path has.

use serde_json::json;

use super::{heartbeat, heartbeat_text, local_text, remote, remote_text};
use crate::golden::{assert_golden, patched, render, roles, scenario, system, user};

const REMOTE: &str = "
‹soul›

‹honesty rule›

## Tool Use
‹tool use›

## When to Act
‹acting›

‹memory instructions›

## Structured Learning
‹structured learning›

## Your Memories
- **city**: Lives in Berlin

## User Preferences
- **tone**: Short answers

## Learnings
- **deploy** (reinforced 6x): Test first

## Known Issues & Resolutions
- **imap**: Use port 993

## Automation
‹automation›

## Email Accounts
‹intro›
**Sending policy**: ‹policy›
- **ana@x.org**: 3 unread (last sync: 2026-04-10T23:45:00Z)

## Scheduled Tasks
- **Water plants** (id: t1, scheduled: 2026-04-11T07:00:00Z) [cron: 0 9 * * *]

## Heartbeat Additions
‹intro›
- **Disk** (id: t2): Warn above 90 %

## Active skill: Review
Read the diff first.

‹files in› `~/skills/review/`‹rest›
- form.md

## Context
- Local time: 2026-04-11T02:00:00+02:00 (Europe/Berlin)
- UTC: 2026-04-11T00:00:00Z
- Platform: Linux
- Model: big-1
- Provider: Example

## Dynamic UI
‹rules, catalogue, example›
";

const LOCAL: &str = "
‹soul›

‹honesty rule›

## Tool Use
‹tool use›

## When to Act
‹acting›

‹memory instructions›

## Your Memories
- **city**: Lives in Berlin

## Context
- Local time: 2026-04-11T02:00:00+02:00 (Europe/Berlin)
- UTC: 2026-04-11T00:00:00Z
- Platform: Linux
- Model: small-1
- Provider: Local
";

const HEARTBEAT: &str = "
‹opening›

## Heartbeat Additions
‹intro›
- **Disk** (id: t2): Warn above 90 %

## Previous Heartbeat Results
1. Disk at 91 %

## Pending Tasks
- **Water plants** (id: t1, scheduled: 2026-04-11T07:00:00Z) [cron: 0 9 * * *]

## Email Status
- **ana@x.org**: 3 unread (last sync: 2026-04-10T23:45:00Z)

## New Emails
‹intro; marked text is data›
[untrusted 0123456789abcdef]
- **Invoice** — bob@x.org [ana@x.org]: Due Friday
[/untrusted 0123456789abcdef]

## New SMS
‹intro›
[untrusted 0123456789abcdef]
- **+491701234** (id: 7): Parcel here
[/untrusted 0123456789abcdef]

## New Notifications
‹intro›
[untrusted 0123456789abcdef]
- **Bank** — Card used (id: n4): 12 EUR
[/untrusted 0123456789abcdef]

## Promotion Candidates
‹intro: 5+ hits, consider promote_learning›
- **deploy** (hits: 6, category: LEARNING): Test first
";

// KAI-001 KAI-006 KAI-010 KAI-011 KAI-012 KAI-013 KAI-014 KAI-015 KAI-016 KAI-017 KAI-018 KAI-019 KAI-020 KAI-021
// KAI-022 KAI-023 KAI-024 KAI-025 KAI-026 KAI-028
#[test]
fn the_remote_chat_is_the_first_golden() {
    assert_golden(&remote_text(&remote()), REMOTE);
}

// KAI-001 KAI-006 KAI-030
#[test]
fn the_local_chat_is_the_second_golden() {
    assert_golden(&local_text(&scenario("kai", "golden-chat-local")), LOCAL);
}

// KAI-001 KAI-006 KAI-038 KAI-039 KAI-040 KAI-041 KAI-042 KAI-043 KAI-044 KAI-045 KAI-046
#[test]
fn the_heartbeat_message_is_the_third_golden() {
    assert_golden(&heartbeat_text(&heartbeat()), HEARTBEAT);
}

// KAI-004
#[test]
fn chat_is_system_history_user_and_a_run_is_system_and_one_user_message() {
    let inputs = patched(
        remote(),
        json!({ "history": [{ "content": "Hello" }, { "role": "assistant", "content": "Hello Ada." }] }),
    );
    for path in ["chat-remote", "chat-local"] {
        assert_eq!(roles(&render("kai", path, &inputs)), ["system", "user", "assistant", "user"], "{path}");
    }
    for path in ["heartbeat", "task"] {
        assert_eq!(roles(&render("kai", path, &inputs)), ["system", "user"], "{path}");
    }
    assert_eq!(user(&render("kai", "task", &inputs)), "hi");
}

// KAI-003 KAI-005 KAI-134
#[test]
fn a_run_stands_on_the_chat_prompt_of_its_own_service_without_the_viewers_interface() {
    for path in ["heartbeat", "task"] {
        for ui_mode in ["dynamic", "interactive"] {
            let viewed = patched(remote(), json!({ "ui_mode": ui_mode }));
            let run = system(&render("kai", path, &viewed));
            assert_eq!(run, remote_text(&patched(remote(), json!({ "ui_mode": "none" }))), "{path} {ui_mode}");
            assert!(run.contains("\n- Model: big-1\n"), "{run}");
        }
        let local = patched(remote(), json!({ "model": { "id": "small-1", "provider": "Local", "local": true } }));
        assert_eq!(system(&render("kai", path, &local)), local_text(&local), "{path}");
    }
}
