//! A clock that jumps: forward, as on a machine that slept, and back, as on one whose clock was wrong.

use crate::kit::Bench;
use jiff::{Span, ToSpan as _};
use limpid_core::ConversationId;
use limpid_core::task::TaskKind;
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, ServeEvent};
use tokio::sync::{mpsc, oneshot};

const SILENT: &str = "[[reply]]\ntext = \"HEARTBEAT_OK\"\n";

fn hourly(text: &str) -> TaskRequest {
    TaskRequest {
        key: None,
        description: String::new(),
        prompt: text.to_owned(),
        kind: TaskKind::Reminder,
        when: When::Every(3_600),
        zone: None,
        missed: None,
        conversation: None,
    }
}

/// How often it was said.
async fn times(agent: &Agent, text: &str) -> usize {
    let rows = agent.store().messages(&ConversationId::new("heartbeat"), None).await.unwrap().rows;
    rows.iter().filter(|row| row.message.text == text).count()
}

/// How often an hourly reminder came after these jumps, and in how many hours it comes next.
async fn said_after(jumps: &[Span]) -> (usize, i64) {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    agent.tasks().add(hourly("Drink water")).await.unwrap();
    for jump in jumps {
        bench.clock.forward(*jump);
        agent.jobs().run_due().await.unwrap();
    }
    let next = agent.tasks().get("1").await.unwrap().0.standing.next.unwrap();
    (times(&agent, "Drink water").await, next.duration_since(agent.now()).as_hours())
}

// SEC-042
#[tokio::test]
async fn a_clock_that_jumps_forward_has_what_was_missed_done_once() {
    assert_eq!(said_after(&[2.hours(), 500.hours()]).await, (2, 1));
}

// SEC-042
#[tokio::test]
async fn a_clock_that_was_set_back_keeps_nothing_waiting_for_a_time_that_never_was() {
    assert_eq!(said_after(&[8_000.hours(), (-8_000).hours()]).await, (1, 1));
    // What was said by the wrong clock is not said for the same time again.
    assert_eq!(said_after(&[8_000.hours(), (-8_000).hours(), 2.hours(), 1.hour(), 1.hour()]).await, (3, 1));
}

/// The heartbeat too.
// SEC-042
#[tokio::test]
async fn a_heartbeat_by_a_wrong_clock_silences_none_by_the_right_one() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    let mut runs = Vec::new();
    for jump in [0.hours(), 96.hours(), (-96).hours(), 2.hours(), 2.hours()] {
        bench.clock.forward(jump);
        agent.jobs().run_due().await.unwrap();
        runs.push(agent.store().heartbeat().await.unwrap().idle.count);
    }
    assert_eq!(runs, [0, 1, 1, 2, 3]);
}

/// Waits until the log of a daemon says so.
async fn says(log: &mut mpsc::UnboundedReceiver<ServeEvent>, wanted: impl Fn(&ServeEvent) -> bool) {
    let found = async { while !wanted(&log.recv().await.unwrap()) {} };
    tokio::time::timeout(crate::kit::PATIENCE, found).await.unwrap();
}

/// A daemon that is not started anew notices it by itself, says so, and goes on.
// SEC-042
#[tokio::test]
async fn a_daemon_outlives_a_clock_that_jumps_either_way() {
    let bench = Bench::new(SILENT).await;
    let agent = bench.agent();
    agent.tasks().add(hourly("Drink water")).await.unwrap();
    let (sender, mut log) = mpsc::unbounded_channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let daemon = agent.clone();
    let serving = tokio::spawn(async move {
        let log = move |event: &ServeEvent| drop(sender.send(event.clone()));
        daemon.jobs().serve(log, async { stopped.await.unwrap() }).await
    });
    let done = |event: &ServeEvent| matches!(event, ServeEvent::Done { kind, .. } if kind == "task");
    let set_back =
        |event: &ServeEvent| matches!(event, ServeEvent::Notice { text, .. } if text.contains("was set back"));
    says(&mut log, |event| matches!(event, ServeEvent::Ready)).await;
    // Whoever adds a task wakes it, as the end of its sleep would.
    let wake = async || {
        agent.tasks().add(TaskRequest { when: When::Every(90_000_000), ..hourly("Much later") }).await.unwrap()
    };
    for jump in [2.hours(), 8_000.hours()] {
        bench.clock.forward(jump);
        wake().await;
        says(&mut log, done).await;
    }
    bench.clock.forward((-8_000).hours());
    wake().await;
    says(&mut log, set_back).await;
    // The time that the wrong clock had come to first is not said again; the one after it is.
    for said in [2, 3] {
        bench.clock.forward(61.minutes());
        wake().await;
        says(&mut log, done).await;
        agent.conversations().deliver_waiting().await.unwrap();
        assert_eq!(times(&agent, "Drink water").await, said);
    }
    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
}
