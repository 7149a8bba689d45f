//! Tasks whose time passed while nobody served, or whose process died.

use crate::kit::Bench;
use crate::kit::tasks::{SILENT, due, reminder, runs, status, transcript};
use jiff::ToSpan as _;
use limpid_core::task::{MissedPolicy, RunOutcome, Standing, TaskKind, TaskStatus};
use limpid_core::{ConversationId, Trust};
use limpid_runtime::Agent;
use limpid_runtime::tasks::{TaskChange, TaskRequest, When};
use limpid_store::{Audience, ConversationKind, DeliveryOrigin, NewConversation, NewDelivery, TaskRunEnd};

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
        draft: None,
        now_ms,
    }
}

/// A heartbeat works in the workspace, so it takes over nothing that is about other files.
// SUR-034 SEC-041 KAI-080
#[tokio::test]
async fn nothing_is_added_to_the_heartbeat_in_another_folder() {
    let mut bench = Bench::new(SILENT).await;
    let here = bench.config.clone();
    bench.config.files.base = Some(bench.home.path().join("project"));
    let editor = bench.agent();
    let refused = editor.tasks().add(reminder("Look at notes.md", When::Heartbeat)).await.unwrap_err();
    assert!(refused.to_string().contains("the heartbeat works in the workspace"), "{refused}");
    editor.tasks().add(reminder("Look at notes.md", When::In(3600))).await.unwrap();
    bench.config = here;
    let agent = bench.agent();
    let change = TaskChange { when: Some(When::Heartbeat), ..TaskChange::default() };
    let refused = agent.tasks().change("1", change).await.unwrap_err();
    assert!(refused.to_string().contains("the heartbeat works in the workspace"), "{refused}");
    agent.tasks().add(reminder("Look at notes.md", When::Heartbeat)).await.unwrap();
}

/// What was planned in an editor's session is about the files there.
// SUR-034 SEC-041
#[tokio::test]
async fn a_task_that_was_planned_in_another_folder_changes_nothing_here() {
    let plan = "[[reply]]\ncalls = [{ name = \"schedule_task\", arguments = { description = \"Notes\", \
                prompt = \"Begin notes.md anew\", execute_at = \"2026-03-28T13:00\" } }]\n";
    let done = "[[reply]]\ntext = \"Planned.\"\n";
    let write =
        "[[reply]]\ncalls = [{ name = \"write_file\", arguments = { path = \"notes.md\", content = \"x\" } }]\n";
    for elsewhere in [true, false] {
        let mut bench = Bench::new(&[plan, done, done, write, done].concat()).await;
        bench.config.agent.profile = "kai".to_owned();
        bench.write("workspace/notes.md", "mine\n");
        let here = bench.config.clone();
        if elsewhere {
            bench.write("project/notes.md", "theirs\n");
            bench.config.files.base = Some(bench.home.path().join("project"));
        }
        crate::kit::say(&bench.agent(), "plan it").await;
        bench.config = here;
        let agent = bench.agent();
        // What is said in that chat elsewhere says nothing of the task.
        crate::kit::say(&agent, "hello").await;
        bench.clock.forward(2.hours());
        due(&agent).await;
        let notes = std::fs::read_to_string(bench.home.path().join("workspace/notes.md")).unwrap();
        assert_eq!(notes == "mine\n", elsewhere, "{:?}", runs(&agent, "1").await);
        let told: Vec<_> =
            agent.store().deliveries(9).await.unwrap().rows.into_iter().map(|one| one.new.text).collect();
        let text = "This was planned in an editor's session, where paths mean other files, so it was not carried out:\n\nBegin notes.md anew";
        assert_eq!(told.iter().any(|told| told.contains(text)), elsewhere, "{told:?}");
    }
}
