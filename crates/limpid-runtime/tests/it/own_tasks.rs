//! What people do with their tasks.

use crate::kit::tasks::{SILENT, due, reminder, runs, status};
use crate::kit::{Bench, say};
use jiff::ToSpan as _;
use limpid_core::task::{RunOutcome, TaskKind, TaskStatus};
use limpid_runtime::ConversationChoice;
use limpid_runtime::tasks::{TaskChange, TaskRequest, When};

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

    bench.config.owner.zone = Some(limpid_core::zone::named("Asia/Tokyo").unwrap());
    let agent = bench.agent();
    for _ in 0..2 {
        agent.jobs().run_due().await.unwrap();
    }
    let told = agent.store().deliveries(10).await.unwrap().rows;
    assert_eq!(told.len(), 1, "asked once: {told:?}");
    let text = &told[0].new.text;
    assert!(text.starts_with("Your zone is Asia/Tokyo; before, it was Europe/Berlin. These tasks go on by"), "{text}");
    assert!(text.contains(" old zone: 1. ") && !text.contains("Stand up"), "{text}");
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
    bench.config.owner.zone = Some(limpid_core::zone::named("Europe/Berlin").unwrap());
    let agent = bench.agent();
    agent.jobs().run_due().await.unwrap();
    assert_eq!(agent.store().deliveries(10).await.unwrap().rows.len(), 1);
}
