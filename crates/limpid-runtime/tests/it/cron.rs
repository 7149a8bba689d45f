//! The tool `cron`, which keeps reminders, tasks and commands.

use crate::kit::effects::EffectTool;
use crate::kit::tasks::{calling, due, results};
use crate::kit::{Bench, say};
use jiff::ToSpan as _;
use limpid_core::Trust;
use limpid_runtime::{Agent, AgentOptions};
use limpid_store::DeliveryOrigin;

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
    let drafts = agent.drafts().list(false).await.unwrap().rows;
    assert_eq!(drafts.len(), 1);
    // The yes makes none of its words the owner's: it will run as a program that a stranger's text led to.
    agent.drafts().approve(drafts[0].id, None).await.unwrap();
    let planned = agent.tasks().list(None).await.unwrap().rows;
    assert_eq!(planned.iter().map(|task| task.new.trust).collect::<Vec<_>>(), [Trust::Outside]);
    let (approved, _) = agent.drafts().get(drafts[0].id).await.unwrap();
    assert_eq!(agent.drafts().in_words(&approved), "was carried out: the command was planned", "nothing has run yet");
}

/// Nobody reads the hidden conversation of a run, so what a heartbeat plans is told where its report would be.
// PICO-089 SEC-042
#[tokio::test]
async fn a_reminder_that_a_heartbeat_plans_is_told_where_reports_go() {
    let add = r#"{ name = "cron", arguments = { action = "add", message = "Drink water", at_seconds = 600 } }"#;
    let mut bench = Bench::new(&calling(&[add])).await;
    bench.config.agent.profile = "picoclaw".to_owned();
    bench.write("workspace/HEARTBEAT.md", "# List\n\n- Remind me to drink\n");
    let agent = bench.agent();
    agent.jobs().run_heartbeat().await.unwrap();
    let planned = agent.tasks().list(None).await.unwrap().rows;
    assert_eq!(planned.iter().map(|task| task.new.conversation.clone()).collect::<Vec<_>>(), [None]);
    bench.clock.forward(601.seconds());
    due(&agent).await;
    let unread = agent.deliveries().unread().await.unwrap().rows;
    let told = unread.iter().find(|delivery| delivery.new.origin == DeliveryOrigin::Reminder).unwrap();
    assert_eq!((told.new.conversation.as_str(), told.new.text.as_str()), ("heartbeat", "Drink water"));
}
