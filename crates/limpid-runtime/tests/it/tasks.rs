//! Tasks: what the model asks for, what is done when it is due, and what is told.

use crate::kit::tasks::{SILENT, calling, due, reminder, results, runs, status, transcript};
use crate::kit::{Bench, say};
use jiff::ToSpan as _;
use limpid_core::ConversationId;
use limpid_core::task::{RunOutcome, TaskKind};
use limpid_runtime::ConversationChoice;
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_store::DeliveryOrigin;

// KAI-075 KAI-078 KAI-081 KAI-077
#[tokio::test]
async fn the_model_makes_lists_and_cancels_tasks() {
    let bench = Bench::new(&calling(&[
        r#"{ name = "schedule_task", arguments = { description = "Call Ada", prompt = "Remind me to call Ada", execute_at = "2026-03-29T03:30", cron = "", on_heartbeat = false } }"#,
        r#"{ name = "schedule_task", arguments = { description = "Week", prompt = "Plan the week", cron = "30 2 * * *" } }"#,
        r#"{ name = "schedule_task", arguments = { description = "Mail", prompt = "Look for bills", on_heartbeat = true, zone = "Asia/Tokyo" } }"#,
        r#"{ name = "list_tasks", arguments = {} }"#,
        r#"{ name = "cancel_task", arguments = { task_id = "2" } }"#,
        r#"{ name = "list_tasks", arguments = { status = "CANCELLED" } }"#,
        r#"{ name = "list_tasks", arguments = { status = "sleeping" } }"#,
        r#"{ name = "cancel_task", arguments = { task_id = "2" } }"#,
        r#"{ name = "cancel_task", arguments = { task_id = "nine" } }"#,
    ]))
    .await;
    let agent = bench.agent();
    say(&agent, "plan some things").await;
    insta::assert_snapshot!(results(bench.server.calls().last().unwrap()));
}

// KAI-075 KAI-078 KAI-127 LES-095 KAI-079
#[tokio::test]
async fn what_cannot_be_is_refused_and_nothing_is_stored() {
    let call = |arguments: &str| {
        format!(r#"{{ name = "schedule_task", arguments = {{ description = "d", prompt = "p"{arguments} }} }}"#)
    };
    let calls = [
        "",
        r#", cron = "", on_heartbeat = false"#,
        r#", cron = "0 9 * * *", execute_at = "2026-04-11T09:00""#,
        r#", cron = "0 9 * * *", on_heartbeat = true"#,
        r#", execute_at = "2026-03-28T12:58""#,
        r#", execute_at = "2026-03-27T12:00:00Z""#,
        r#", execute_at = "tomorrow""#,
        r#", cron = "61 * * * *""#,
        r#", cron = "*/0 * * * *""#,
        r#", cron = "0 0 30 2 *""#,
        r#", cron = "x""#,
        r#", cron = "0 9 * * *", zone = "Mars/Base""#,
        r#", prompt = "  ", cron = "0 9 * * *""#,
    ];
    let calls: Vec<String> = calls.iter().take(12).map(|arguments| call(arguments)).collect();
    let blank = r#"{ name = "schedule_task", arguments = { description = "d", prompt = " ", cron = "0 9 * * *" } }"#;
    let calls: Vec<&str> = calls.iter().map(String::as_str).chain([blank]).collect();
    let bench = Bench::new(&calling(&calls)).await;
    let agent = bench.agent();
    say(&agent, "plan some things").await;
    insta::assert_snapshot!(results(bench.server.calls().last().unwrap()));
    assert!(agent.tasks().list(None).await.unwrap().rows.is_empty());
    assert!(agent.store().timers().await.unwrap().rows.is_empty());
}

// KAI-082 KAI-083 LES-099
#[tokio::test]
async fn a_task_is_a_fresh_request_whose_answer_comes_to_its_chat() {
    let schedule = r#"{ name = "schedule_task", arguments = { description = "Weather", prompt = "Look at the sky", execute_at = "2026-03-28T14:00" } }"#;
    let script = format!(
        "[[reply]]\ncalls = [{schedule}]\n{}",
        ["Planned.", "It rains.", "I said it rains."].map(|text| format!("[[reply]]\ntext = \"{text}\"\n")).concat()
    );
    let bench = Bench::new(&script).await;
    let agent = bench.agent();
    say(&agent, "tell me at two").await;
    due(&agent).await;
    assert_eq!(bench.server.calls().len(), 2, "it is not due yet");
    bench.clock.forward(1.hour());
    due(&agent).await;
    let sent = bench.server.calls()[2].text().to_owned();
    assert!(sent.contains("Look at the sky") && !sent.contains("tell me at two"), "{sent}");
    assert!(sent.contains("memory_store"), "with full tools: {sent}");
    let unread = agent.deliveries().unread().await.unwrap().rows;
    assert_eq!(unread.len(), 1);
    assert_eq!(unread[0].new.origin, DeliveryOrigin::Task);
    assert_eq!(unread[0].new.text, "**Weather**\n\nIt rains.");
    assert_eq!(status(&agent, "1").await, "completed");
    due(&agent).await;
    say(&agent, "what did you just say?").await;
    assert!(bench.server.calls()[3].text().contains("It rains."));
    assert_eq!(bench.server.calls().len(), 4, "it ran once");
}

// KOSHI-017
#[tokio::test]
async fn a_coordinators_job_may_call_what_the_coordinator_may_and_nothing_else() {
    let job = r#"name = "schedule_job", arguments = { description = "Look", prompt = "Look again", execute_at = "2026-03-28T14:00" }"#;
    let next = r#"name = "schedule_job", arguments = { description = "Next", prompt = "And again", execute_at = "2026-03-29T14:00" }"#;
    let write = r#"name = "write_file", arguments = { path = "x.txt", content = "x" }"#;
    let exec = r#"name = "exec", arguments = { command = "id" }"#;
    let script = format!(
        "[[reply]]\ncalls = [{{ {job} }}]\n[[reply]]\ntext = \"Planned.\"\n[[reply]]\ncalls = [{{ id = \"a\", {write} }}, {{ \
         id = \"b\", {exec} }}, {{ id = \"c\", {next} }}]\n[[reply]]\ntext = \"Done.\"\n"
    );
    let mut bench = Bench::new(&script).await;
    bench.config.agent.profile = "koshi".to_owned();
    let agent = bench.agent();
    say(&agent, "look at two").await;
    bench.clock.forward(1.hour());
    due(&agent).await;
    let calls = bench.server.calls();
    let declared = |call: usize| {
        let tools = calls[call].json()["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(declared(2), declared(0), "a job has the tools of the chat");
    assert!(declared(2).contains(&"schedule_job".to_owned()), "{:?}", declared(2));
    let results = results(&calls[3]);
    assert!(results.contains("there is no tool `write_file`"), "{results}");
    assert!(results.contains("there is no tool `exec`"), "{results}");
    assert!(!bench.home.path().join("workspace/x.txt").exists());
    assert_eq!(status(&agent, "1").await, "completed");
    assert!(status(&agent, "2").await.starts_with("pending"), "it may plan the next one");
}

// KAI-083 KAI-136
#[tokio::test]
async fn what_always_fails_is_given_up_after_ten_tries_and_reported() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    // No program is run here, so the command fails each time.
    let request = TaskRequest { kind: TaskKind::Command, ..reminder("df -h", When::In(60)) };
    agent.tasks().add(request).await.unwrap();
    let mut tries = 0;
    for _ in 0..2_000 {
        bench.clock.forward(1.minute());
        due(&agent).await;
        tries = runs(&agent, "1").await.len();
        if status(&agent, "1").await == "failed" {
            break;
        }
        assert!(agent.deliveries().unread().await.unwrap().rows.is_empty(), "each try alone is not reported");
    }
    assert_eq!(tries, 10);
    bench.clock.forward(2.hours());
    due(&agent).await;
    assert_eq!(runs(&agent, "1").await.len(), 10);
    insta::assert_snapshot!(transcript(&agent, "heartbeat").await);
}

// LES-096
#[tokio::test]
async fn reading_changes_nothing() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    agent.tasks().add(reminder("Drink", When::Every(7200))).await.unwrap();
    let before = agent.tasks().get("1").await.unwrap();
    for minute in 0..100 {
        bench.clock.forward(1.minute());
        agent.tasks().list(None).await.unwrap();
        agent.tasks().get("1").await.unwrap();
        if minute < 60 {
            due(&agent).await;
        }
    }
    assert_eq!(agent.tasks().get("1").await.unwrap(), before);
}

// LES-098
#[tokio::test]
async fn a_task_whose_output_can_go_nowhere_is_refused() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    let dead = TaskRequest { conversation: Some(ConversationId::new("c99")), ..reminder("Drink", When::In(60)) };
    let refused = agent.tasks().add(dead).await.unwrap_err().to_string();
    assert!(refused.contains("c99"), "{refused}");
    assert!(agent.tasks().list(None).await.unwrap().rows.is_empty());
}

/// Nothing deletes a conversation but a hand in the file.
// LES-098
#[tokio::test]
async fn a_task_whose_chat_is_gone_has_failed_and_its_owner_is_told() {
    let bench = Bench::new("[[reply]]\ntext = \"Hello.\"\n").await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    agent.conversations().wait_idle(&chat).await;
    let request = TaskRequest { conversation: Some(chat.clone()), ..reminder("Drink", When::In(60)) };
    agent.tasks().add(request).await.unwrap();
    let file = rusqlite::Connection::open(bench.home.path().join("data/limpid.db")).unwrap();
    file.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    file.execute("DELETE FROM conversation WHERE id = ?", [chat.as_str()]).unwrap();
    bench.clock.forward(2.minutes());
    due(&agent).await;
    let (_, log) = agent.tasks().get("1").await.unwrap();
    let (outcome, detail) = (log.rows[0].end.map(|(_, outcome)| outcome), log.rows[0].detail.clone());
    assert_eq!((outcome, detail), (Some(RunOutcome::Failed), format!("there is no conversation {chat}")));
    let told = agent.store().deliveries(10).await.unwrap().rows;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].new.text, format!("“Drink” could not be delivered: there is no conversation {chat}."));
    assert!(told[0].turn.is_some());
}

// LES-100
#[tokio::test]
async fn a_task_that_is_asked_for_twice_is_one() {
    let bench = Bench::new(SILENT).await;
    let request = TaskRequest { key: Some("import/1".to_owned()), ..reminder("Drink", When::In(60)) };
    let first = bench.agent().tasks().add(request.clone()).await.unwrap();
    let second = bench.agent().tasks().add(request).await.unwrap();
    assert_eq!(first.id, second.id);
    assert_eq!(bench.agent().tasks().list(None).await.unwrap().rows.len(), 1);
}

// KAI-077 SEC-043
#[tokio::test]
async fn a_run_that_is_refused_leaves_the_task_as_it_was() {
    let refusals =
        ["[scheduling]\nenabled = false\n", "[limits]\nbackground_tokens_per_day = 0\n", "model = \"nobody/none\"\n"];
    for config in refusals {
        let mut bench = Bench::new(SILENT).await;
        let daily = When::Cron("0 9 * * *".to_owned());
        let request = TaskRequest { kind: TaskKind::Agent, ..reminder("Look for bills", daily) };
        bench.agent().tasks().add(request).await.unwrap();
        let usual = if config.starts_with("model") { "" } else { "model = \"openai/scripted\"\n" };
        bench.config = limpid_runtime::Config::parse(&format!("{usual}{config}"), "limpid.toml").unwrap();
        let agent = bench.agent();
        let (before, _) = agent.tasks().get("1").await.unwrap();
        agent.jobs().run_task("1").await.unwrap_err();
        assert_eq!(agent.tasks().get("1").await.unwrap().0, before, "{config}");
        assert_eq!(bench.server.calls().len(), 0, "{config}");
    }
}
