//! Tasks: what the model and people ask for, what is done when it is due, and what is told.

use crate::kit::effects::EffectTool;
use crate::kit::{Bench, say};
use jiff::ToSpan as _;
use limpid_core::task::{MissedPolicy, RunOutcome, Standing, TaskKind, TaskStatus};
use limpid_core::{ConversationId, Trust};
use limpid_runtime::tasks::{TaskChange, TaskRequest, When};
use limpid_runtime::{Agent, AgentOptions, ConversationChoice};
use limpid_store::{Audience, ConversationKind, DeliveryOrigin, NewConversation, NewDelivery, TaskRunEnd};
use limpid_testkit::Recorded;

/// A model that nobody asks anything.
const SILENT: &str = "[[reply]]\ntext = \"ok\"\n";

/// A script in which the model makes these calls one after the other, and then says `ok`.
fn calling(calls: &[&str]) -> String {
    let one = |call: &&str| format!("[[reply]]\ncalls = [{call}]\n");
    calls.iter().map(one).collect::<String>() + "[[reply]]\ntext = \"ok\"\n"
}

/// The results that a request brings back, oldest first.
fn results(request: &Recorded) -> String {
    let messages = request.json()["messages"].as_array().unwrap().clone();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
}

fn reminder(text: &str, when: When) -> TaskRequest {
    TaskRequest {
        key: None,
        description: String::new(),
        prompt: text.to_owned(),
        kind: TaskKind::Reminder,
        when,
        zone: None,
        missed: None,
        conversation: None,
    }
}

/// Does what is due now.
async fn due(agent: &Agent) {
    agent.jobs().run_due().await.unwrap();
}

/// The messages of a conversation, a line each.
async fn transcript(agent: &Agent, conversation: &str) -> String {
    let messages = agent.store().messages(&ConversationId::new(conversation), None).await.unwrap().rows;
    messages.iter().map(|row| format!("{}: {}", row.message.role, row.message.text)).collect::<Vec<_>>().join("\n")
}

async fn runs(agent: &Agent, id: &str) -> Vec<String> {
    let (_, runs) = agent.tasks().get(id).await.unwrap();
    runs.rows.iter().map(|run| format!("{} {}", run.end.unwrap().1, run.detail).trim_end().to_owned()).collect()
}

async fn status(agent: &Agent, id: &str) -> String {
    let (task, _) = agent.tasks().get(id).await.unwrap();
    let next = task.standing.next.map(|next| format!(" {next}")).unwrap_or_default();
    format!("{}{next}", task.standing.status)
}

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

// PICO-089 PICO-090
#[tokio::test]
async fn cron_keeps_reminders_tasks_and_commands_under_one_name() {
    let mut bench = Bench::new(&calling(&[
        r#"{ name = "cron", arguments = { action = "add", message = "Drink water", at_seconds = 600 } }"#,
        r#"{ name = "cron", arguments = { action = "add", message = "Stretch", every_seconds = 7200, deliver = true } }"#,
        r#"{ name = "cron", arguments = { action = "add", message = "Sum up the day", cron_expr = "0 18 * * *", tz = "Asia/Tokyo", deliver = false } }"#,
        r#"{ name = "cron", arguments = { action = "add", message = "disk", command = "df -h", every_seconds = 3600 } }"#,
        r#"{ name = "cron", arguments = { action = "list" } }"#,
        r#"{ name = "cron", arguments = { action = "disable", job_id = "2" } }"#,
        r#"{ name = "cron", arguments = { action = "enable", job_id = "2" } }"#,
        r#"{ name = "cron", arguments = { action = "update", job_id = "2", every_seconds = 3600, message = "Stand up" } }"#,
        r#"{ name = "cron", arguments = { action = "update", job_id = "2", command = "rm -r ." } }"#,
        r#"{ name = "cron", arguments = { action = "update", job_id = "2", deliver = false, tz = "Asia/Tokyo" } }"#,
        r#"{ name = "cron", arguments = { action = "update", job_id = "4", command = "df", deliver = false } }"#,
        r#"{ name = "cron", arguments = { action = "get", job_id = "4" } }"#,
        r#"{ name = "cron", arguments = { action = "get", job_id = "2" } }"#,
        r#"{ name = "cron", arguments = { action = "remove", job_id = "3" } }"#,
    ]))
    .await;
    bench.config.agent.profile = "picoclaw".to_owned();
    let agent = bench.agent();
    let before = say(&agent, "plan some things").await;
    assert!(!before.is_empty());
    insta::assert_snapshot!(results(bench.server.calls().last().unwrap()));
    let asked = bench.server.calls().len();
    bench.clock.forward(601.seconds());
    due(&agent).await;
    assert_eq!(bench.server.calls().len(), asked, "a reminder costs no tokens");
    let unread = agent.deliveries().unread().await.unwrap().rows;
    let told: Vec<_> = unread.iter().map(|delivery| (delivery.new.origin, delivery.new.text.as_str())).collect();
    assert_eq!(told, [(DeliveryOrigin::Reminder, "Drink water")]);
}

// PICO-091 LES-095
#[tokio::test]
async fn cron_refuses_what_cannot_be_and_stores_nothing() {
    let calls = [
        r#"action = "add", message = "m""#,
        r#"action = "add", message = "m", at_seconds = 60, every_seconds = 60"#,
        r#"action = "add", message = "m", at_seconds = 0"#,
        r#"action = "add", message = "m", at_seconds = -5"#,
        r#"action = "add", message = "m", every_seconds = 59"#,
        r#"action = "add", message = "m", cron_expr = "99 * * * *""#,
        r#"action = "add", message = "m", cron_expr = "0 0 31 4 *""#,
        r#"action = "add", message = "m", cron_expr = "0 9 * * *", tz = "Nowhere""#,
        r#"action = "add", at_seconds = 60"#,
        r#"action = "get", job_id = "7""#,
        r#"action = "remove""#,
        r#"action = "forget""#,
    ];
    let calls: Vec<String> =
        calls.iter().map(|arguments| format!(r#"{{ name = "cron", arguments = {{ {arguments} }} }}"#)).collect();
    let mut bench = Bench::new(&calling(&calls.iter().map(String::as_str).collect::<Vec<_>>())).await;
    bench.config.agent.profile = "picoclaw".to_owned();
    let agent = bench.agent();
    say(&agent, "plan some things").await;
    insta::assert_snapshot!(results(bench.server.calls().last().unwrap()));
    assert!(agent.tasks().list(None).await.unwrap().rows.is_empty());
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

// LES-090 KAI-080
#[tokio::test]
async fn what_was_missed_while_nobody_served_goes_by_its_policy_and_is_logged() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    let within = MissedPolicy::RunIfWithin(jiff::SignedDuration::from_hours(2));
    for (text, missed) in [("skip", MissedPolicy::Skip), ("once", MissedPolicy::RunOnce), ("within", within)] {
        let request = TaskRequest { missed: Some(missed), ..reminder(text, When::Cron("0 9 * * *".to_owned())) };
        agent.tasks().add(request).await.unwrap();
    }
    agent.tasks().add(reminder("one moment", When::In(3600))).await.unwrap();
    // Two days and a bit: on the 30th at 14:00 in Berlin.
    bench.clock.forward(48.hours());
    due(&agent).await;
    for (id, wanted) in [("1", "missed missed 2 times; nobody could run it in time"), ("2", "done missed 2 times")] {
        assert_eq!(runs(&agent, id).await, [wanted]);
        assert_eq!(status(&agent, id).await, "pending 2026-03-31T07:00:00Z");
    }
    assert_eq!(runs(&agent, "3").await, ["missed missed 2 times; nobody could run it in time"]);
    assert_eq!(runs(&agent, "4").await, ["missed missed once; nobody could run it in time"]);
    let told = transcript(&agent, "heartbeat").await;
    // Both run at once, so either may come first.
    assert_eq!(told.matches("user: ").count(), 2, "{told}");
    assert!(told.contains("user: [reminder]\nassistant: once"), "{told}");
    let late = "**one moment**\n\nThis was due at 2026-03-28 14:00, when Limpid was not running.";
    assert!(told.contains(&format!("user: [notice]\nassistant: {late}")), "{told}");
}

// LES-091 LES-092
#[tokio::test]
async fn a_command_that_was_cut_off_is_reported_and_not_begun_again() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    let request = TaskRequest { kind: TaskKind::Command, ..reminder("backup", When::In(60)) };
    let task = agent.tasks().add(request).await.unwrap();
    bench.clock.forward(1.minute());
    // A process begins it and dies.
    let slot_ms = task.standing.next.unwrap().as_millisecond();
    agent.store().begin_task_run(task.id, slot_ms, slot_ms).await.unwrap();
    due(&agent).await;
    assert_eq!(runs(&agent, "1").await, ["cut-off it was cut off, and its outcome is unknown"]);
    assert_eq!(status(&agent, "1").await, "failed");
    let unread = agent.deliveries().unread().await.unwrap().rows;
    assert_eq!(unread.len(), 1);
    assert!(unread[0].new.text.contains("outcome is unknown"), "{}", unread[0].new.text);
}

// LES-091 LES-092
#[tokio::test]
async fn a_reminder_is_sent_once_wherever_its_process_died() {
    for step in ["claimed", "begun", "ended"] {
        let bench = Bench::new(SILENT).await;
        let agent = bench.agent();
        let task = agent.tasks().add(reminder("Drink", When::In(60))).await.unwrap();
        bench.clock.forward(1.minute());
        let slot_ms = task.standing.next.unwrap().as_millisecond();
        // What a process that dies here leaves behind.
        let store = agent.store();
        assert_eq!(store.claim_timers(slot_ms, "elsewhere", 30_000, 9).await.unwrap().len(), 1);
        if step != "claimed" {
            let run = store.begin_task_run(task.id, slot_ms, slot_ms).await.unwrap();
            if step == "ended" {
                agent.conversations().deliver_waiting().await.unwrap();
                let standing = Standing { status: TaskStatus::Completed, next: None, failures: 0 };
                let delivery = Some(message(&agent, slot_ms).await);
                let (outcome, detail, now_ms) = (RunOutcome::Done, String::new(), slot_ms);
                let end = TaskRunEnd { run, outcome, detail, conversation: None, standing, delivery, now_ms };
                assert!(store.end_task_run(end).await.unwrap());
            }
        }
        due(&bench.agent()).await;
        bench.clock.forward(1.minute());
        for _ in 0..3 {
            due(&bench.agent()).await;
        }
        assert_eq!(transcript(&agent, "heartbeat").await.matches("Drink").count(), 1, "{step}");
        assert_eq!(runs(&agent, "1").await, ["done"], "{step}");
    }
}

async fn message(agent: &Agent, now_ms: i64) -> NewDelivery {
    let heartbeat = NewConversation {
        id: ConversationId::new("heartbeat"),
        kind: ConversationKind::Heartbeat,
        title: String::new(),
        profile: "limpid".to_owned(),
        mode: None,
        model: None,
        audience: Audience::Owner,
        now_ms,
    };
    agent.store().create_conversation(heartbeat).await.unwrap();
    NewDelivery {
        key: format!("task/1/{now_ms}"),
        conversation: ConversationId::new("heartbeat"),
        origin: DeliveryOrigin::Reminder,
        title: "Drink".to_owned(),
        text: "Drink".to_owned(),
        trust: Trust::Owner,
        now_ms,
    }
}

// PICO-090
#[tokio::test]
async fn a_command_that_a_stranger_may_have_asked_for_waits_for_the_owner() {
    let mut bench = Bench::new(&calling(&[
        r#"{ name = "page", arguments = {} }"#,
        r#"{ name = "cron", arguments = { action = "add", command = "rm -r .", every_seconds = 3600 } }"#,
    ]))
    .await;
    bench.config.agent.profile = "picoclaw".to_owned();
    let page = EffectTool::outside("page");
    let agent = Agent::open(AgentOptions { tools: vec![page], ..bench.options() }).unwrap();
    say(&agent, "look at the page").await;
    assert!(agent.tasks().list(None).await.unwrap().rows.is_empty());
    assert_eq!(agent.drafts().list(false).await.unwrap().rows.len(), 1);
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

// KAI-077 LES-093
#[tokio::test]
async fn people_change_snooze_finish_and_run_tasks() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    agent.tasks().add(reminder("Drink", When::Cron("0 9 * * *".to_owned()))).await.unwrap();
    assert_eq!(status(&agent, "1").await, "pending 2026-03-29T07:00:00Z");
    let zone = TaskChange { zone: Some("America/New_York".to_owned()), ..TaskChange::default() };
    agent.tasks().change("1", zone).await.unwrap();
    assert_eq!(status(&agent, "1").await, "pending 2026-03-28T13:00:00Z");
    agent.tasks().snooze("1", "10m").await.unwrap();
    assert_eq!(status(&agent, "1").await, "pending 2026-03-28T12:10:00Z");
    agent.tasks().finish("1").await.unwrap();
    assert_eq!(status(&agent, "1").await, "pending 2026-03-28T13:00:00Z");
    let (_, run) = agent.jobs().run_task("1").await.unwrap();
    assert_eq!(run.end.map(|(_, outcome)| outcome), Some(RunOutcome::Done));
    assert_eq!(status(&agent, "1").await, "pending 2026-03-28T13:00:00Z");
    agent.tasks().set_enabled("1", false).await.unwrap();
    bench.clock.forward(2.hours());
    due(&agent).await;
    assert_eq!(runs(&agent, "1").await.len(), 1, "it is switched off");
    agent.tasks().set_enabled("1", true).await.unwrap();
    assert_eq!(status(&agent, "1").await, "pending 2026-03-29T13:00:00Z");
    agent.tasks().cancel("1").await.unwrap();
    assert_eq!(status(&agent, "1").await, "cancelled");
    assert!(agent.tasks().list(Some(TaskStatus::Pending)).await.unwrap().rows.is_empty());
    for refused in [
        agent.tasks().cancel("1").await.err(),
        agent.jobs().run_task("1").await.err(),
        agent.tasks().snooze("1", "10m").await.err(),
        agent.tasks().finish("1").await.err(),
        agent.tasks().get("9").await.err(),
    ] {
        assert!(refused.is_some());
    }
}

// KAI-084
#[tokio::test]
async fn with_scheduling_switched_off_nothing_is_offered_and_nothing_runs() {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.agent().tasks().add(reminder("Drink", When::In(60))).await.unwrap();
    bench.config.scheduling.enabled = false;
    bench.clock.forward(2.minutes());
    let agent = bench.agent();
    due(&agent).await;
    assert!(runs(&agent, "1").await.is_empty());
    say(&agent, "hi").await;
    assert!(!bench.server.calls()[0].text().contains("schedule_task"));
    bench.config.scheduling.enabled = true;
    bench.clock.forward(1.minute());
    due(&bench.agent()).await;
    assert_eq!(runs(&agent, "1").await.len(), 1);
}

// KAI-076
#[tokio::test]
async fn a_heartbeat_task_is_never_due_and_stands_in_every_heartbeat() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    let request = TaskRequest { kind: TaskKind::Agent, ..reminder("Look for bills", When::Heartbeat) };
    agent.tasks().add(request).await.unwrap();
    bench.clock.forward(100.hours());
    due(&agent).await;
    assert_eq!(status(&agent, "1").await, "pending");
    assert!(runs(&agent, "1").await.is_empty());
    assert!(agent.jobs().run_task("1").await.is_err());
    for profile in ["limpid", "kai"] {
        let request = limpid_runtime::PreviewRequest {
            profile: Some(profile.to_owned()),
            path: Some("heartbeat".to_owned()),
            conversation: ConversationChoice::New,
            ..Default::default()
        };
        let shown = format!("{:?}", agent.preview(request).await.unwrap().prompt);
        assert!(shown.contains("Look for bills"), "{profile}: {shown}");
    }
}

/// Patterns keep their clock when the owner travels: they are asked once, shown what a move changes, and take it back.
#[tokio::test]
async fn a_task_keeps_its_zone_when_the_owner_travels_until_they_move_it() {
    let mut bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    agent.tasks().add(reminder("Stand up", When::Cron("0 9 * * *".to_owned()))).await.unwrap();
    agent.tasks().add(reminder("Call Ada", When::At("2026-03-30T09:00".to_owned()))).await.unwrap();
    let elsewhere =
        TaskRequest { zone: Some("UTC".to_owned()), ..reminder("Logs", When::Cron("0 9 * * *".to_owned())) };
    agent.tasks().add(elsewhere).await.unwrap();
    agent.jobs().run_due().await.unwrap();
    assert!(agent.tasks().zone_changes().await.unwrap().moves.is_empty());
    drop(agent);

    bench.config.owner.zone = Some(jiff::tz::TimeZone::get("Asia/Tokyo").unwrap());
    let agent = bench.agent();
    for _ in 0..2 {
        agent.jobs().run_due().await.unwrap();
    }
    let told = agent.store().deliveries(10).await.unwrap().rows;
    assert_eq!(told.len(), 1, "asked once: {told:?}");
    assert!(told[0].new.text.starts_with("Your zone is Asia/Tokyo; before, it was Europe/Berlin. These go on by the"));
    assert!(told[0].new.text.contains(": “Stand up”. "), "{}", told[0].new.text);
    assert_eq!(status(&agent, "1").await, "pending 2026-03-29T07:00:00Z", "nothing moves by itself");
    let shown = agent.tasks().zone_changes().await.unwrap();
    let times: Vec<_> = shown.moves.iter().map(|one| (one.task.id.0, one.next.unwrap().to_string())).collect();
    assert_eq!((shown.zone.as_str(), times), ("Asia/Tokyo", vec![(1, "2026-03-29T00:00:00Z".to_owned())]));

    assert_eq!(agent.tasks().change_zones().await.unwrap(), shown);
    let all = ["1", "2", "3"];
    let mut moved = Vec::new();
    for id in all {
        moved.push(status(&agent, id).await);
    }
    assert_eq!(
        moved,
        ["pending 2026-03-29T00:00:00Z", "pending 2026-03-30T07:00:00Z", "pending 2026-03-29T09:00:00Z"],
        "a moment stays a moment, and what never was the owner's zone stays"
    );
    let back = agent.tasks().undo_zone_changes().await.unwrap();
    assert_eq!(back.iter().map(|task| task.id.0).collect::<Vec<_>>(), [1]);
    assert_eq!(status(&agent, "1").await, "pending 2026-03-29T07:00:00Z");
    assert!(agent.tasks().undo_zone_changes().await.is_err(), "once");
    drop(agent);

    // Home again: nothing keeps another clock, so nobody is asked.
    bench.config.owner.zone = Some(jiff::tz::TimeZone::get("Europe/Berlin").unwrap());
    let agent = bench.agent();
    agent.jobs().run_due().await.unwrap();
    assert_eq!(agent.store().deliveries(10).await.unwrap().rows.len(), 1);
}
