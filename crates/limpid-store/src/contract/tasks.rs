//! What is to be done later, and what its runs came to.

use jiff::Timestamp;
use limpid_core::task::{MissedPolicy, RunOutcome, Standing, TaskKind, TaskStatus, Trigger};
use limpid_core::{ConversationId, TaskId, Trust};

use super::Bench;
use super::sample::{ODD, conversation};
use crate::{
    Audience, DeliveryOrigin, NewConversation, NewDelivery, NewTask, Store, StoreError, Task, TaskRun, TaskRunEnd,
};

/// A task of every trigger comes back as it was made, with a timer when it is due some time.
// KAI-077
pub async fn a_task_comes_back_as_it_was_made(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("a", 0)).await.unwrap();
    let cron = Trigger::cron("0 9 * * mon-fri", "Europe/Berlin").unwrap();
    let every = Trigger::every_seconds(7200, at(0)).unwrap();
    for (trigger, next) in [(Trigger::Once(at(50)), 50), (every, 7_200_000), (cron, 90)] {
        let new = NewTask { trigger, ..new("x") };
        let task = store.keep_task(new.clone(), pending(next), 7).await.unwrap();
        assert_eq!((task.new, task.standing, task.revision, task.made_ms), (new, pending(next), 0, 7));
        assert_eq!(store.task(task.id).await.unwrap().map(|task| task.standing.next), Some(Some(at(next))));
    }
    let never = Standing { next: None, ..pending(0) };
    let beat = NewTask { trigger: Trigger::Heartbeat, conversation: None, ..new(ODD) };
    let beat = store.keep_task(beat, never, 8).await.unwrap();
    assert_eq!(due(store).await, ["1 at 50", "3 at 90", "2 at 7200000"]);
    let listed: Vec<i64> = store.tasks(None).await.unwrap().rows.iter().map(|task| task.id.0).collect();
    assert_eq!(listed, [1, 3, 2, 4]);
    assert!(store.tasks(Some(TaskStatus::Completed)).await.unwrap().rows.is_empty());
    assert_eq!(bench.other.task(beat.id).await.unwrap(), None, "it is its owner's");
    let dead = NewTask { conversation: Some(ConversationId::new("nobody")), ..new("x") };
    let refused = store.keep_task(dead, pending(1), 9).await;
    assert!(matches!(refused, Err(StoreError::NotFound { what: "conversation", .. })), "{refused:?}");
    assert_eq!(store.tasks(None).await.unwrap().rows.len(), 4, "nothing was stored");
}

/// What a task comes to is delivered, so none is kept for a conversation that strangers read.
// SEC-005
pub async fn no_task_tells_strangers(bench: &Bench) {
    let store = bench.store.as_ref();
    let strangers = NewConversation { audience: Audience::Strangers, ..conversation("a", 0) };
    store.create_conversation(strangers).await.unwrap();
    let refused = store.keep_task(new("x"), pending(1), 9).await;
    assert!(matches!(refused, Err(StoreError::ForStrangers { .. })), "{refused:?}");
    assert!(store.tasks(None).await.unwrap().rows.is_empty(), "nothing was stored");
}

/// The same task made again is one task.
// LES-100
pub async fn a_task_made_again_is_one_task(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("a", 0)).await.unwrap();
    let new = NewTask { key: Some("import/7".to_owned()), ..new("x") };
    let first = store.keep_task(new.clone(), pending(50), 1).await.unwrap();
    let again = NewTask { description: "another".to_owned(), ..new };
    assert_eq!(store.keep_task(again, pending(60), 2).await.unwrap(), first);
    assert_eq!(due(store).await, ["1 at 50"]);
}

/// Of two who change a task one wins; the timer follows the task.
// KAI-077
pub async fn a_changed_task_moves_its_timer(bench: &Bench) {
    let store = bench.store.as_ref();
    let task = made(store, 50).await;
    let changed =
        Task { standing: pending(80), new: NewTask { prompt: "y".to_owned(), ..task.new.clone() }, ..task.clone() };
    let changed = store.change_task(changed, 5).await.unwrap();
    assert_eq!((changed.revision, changed.new.prompt.as_str()), (1, "y"));
    assert_eq!(due(store).await, ["1 at 80"]);
    let late = store.change_task(task.clone(), 6).await;
    assert!(matches!(late, Err(StoreError::Conflict { .. })), "{late:?}");
    let cancelled = Standing { status: TaskStatus::Cancelled, ..pending(80) };
    store.change_task(Task { standing: cancelled, ..changed }, 7).await.unwrap();
    assert!(due(store).await.is_empty());
    let missing = store.change_task(Task { id: TaskId(99), ..task }, 8).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

/// A slot has one run; its end, the task, its timer and its message are written together, once.
// LES-091 KAI-083
pub async fn a_slot_has_one_run_and_one_end(bench: &Bench) {
    let store = bench.store.as_ref();
    let task = made(store, 50).await;
    let run = store.begin_task_run(task.id, 50, 51).await.unwrap();
    assert_eq!((run.fresh, run.end), (true, None));
    let again = store.begin_task_run(task.id, 50, 99).await.unwrap();
    assert_eq!((again.fresh, again.began_ms), (false, 51));
    let end = end(&run, pending(150), Some(message("a", "task/1/50")));
    assert!(store.end_task_run(end.clone()).await.unwrap());
    assert!(!store.end_task_run(end).await.unwrap());
    assert_eq!(due(store).await, ["1 at 150"]);
    assert_eq!(store.pending_deliveries(None).await.unwrap().rows.len(), 1);
    let run = store.begin_task_run(task.id, 50, 200).await.unwrap();
    assert_eq!((run.fresh, run.end, run.detail.as_str()), (false, Some((60, RunOutcome::Done)), "fine"));
    // A message that cannot be kept takes everything with it.
    let run = store.begin_task_run(task.id, 150, 151).await.unwrap();
    let refused = store.end_task_run(self::end(&run, pending(250), Some(message("nobody", "task/1/150")))).await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    assert_eq!(due(store).await, ["1 at 150"]);
    assert_eq!(store.begin_task_run(task.id, 150, 152).await.unwrap().end, None);
}

/// What a person sets while a task runs is what holds.
// KAI-077
pub async fn a_task_changed_during_its_run_stays_as_it_was_set(bench: &Bench) {
    let store = bench.store.as_ref();
    let task = made(store, 50).await;
    let run = store.begin_task_run(task.id, 50, 51).await.unwrap();
    let cancelled = Standing { status: TaskStatus::Cancelled, next: None, failures: 0 };
    store.change_task(Task { standing: cancelled, ..task.clone() }, 55).await.unwrap();
    assert!(store.end_task_run(end(&run, pending(150), None)).await.unwrap());
    assert_eq!(store.task(task.id).await.unwrap().unwrap().standing, cancelled);
    assert!(due(store).await.is_empty());
}

/// The ten newest runs of a task are kept.
// KAI-084
pub async fn the_ten_newest_runs_are_kept(bench: &Bench) {
    let store = bench.store.as_ref();
    let (task, other) = (made(store, 1).await, made(store, 1).await);
    for slot in 1..=14 {
        for task in [&task, &other] {
            let run = store.begin_task_run(task.id, slot, slot).await.unwrap();
            store.end_task_run(end(&run, pending(slot + 1), None)).await.unwrap();
        }
    }
    for task in [task, other] {
        let slots: Vec<i64> = store.task_runs(task.id).await.unwrap().rows.iter().map(|run| run.slot_ms).collect();
        assert_eq!(slots, (5..=14).rev().collect::<Vec<_>>());
    }
}

async fn made(store: &dyn Store, due_ms: i64) -> Task {
    let _ = store.create_conversation(conversation("a", 0)).await;
    store.keep_task(new("x"), pending(due_ms), 1).await.unwrap()
}

fn new(prompt: &str) -> NewTask {
    NewTask {
        key: None,
        description: "Water the plants".to_owned(),
        prompt: prompt.to_owned(),
        kind: TaskKind::Reminder,
        trigger: Trigger::Once(at(50)),
        zone: "Europe/Berlin".to_owned(),
        missed: MissedPolicy::RunIfWithin(jiff::SignedDuration::from_hours(12)),
        base: Some("/repo".to_owned()),
        conversation: Some(ConversationId::new("a")),
        trust: Trust::Outside,
        typed: true,
    }
}

fn pending(next_ms: i64) -> Standing {
    Standing { status: TaskStatus::Pending, next: Some(at(next_ms)), failures: 0 }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

fn end(run: &TaskRun, standing: Standing, delivery: Option<NewDelivery>) -> TaskRunEnd {
    TaskRunEnd {
        run: run.clone(),
        outcome: RunOutcome::Done,
        detail: "fine".to_owned(),
        conversation: None,
        standing,
        delivery,
        now_ms: 60,
    }
}

fn message(conversation: &str, key: &str) -> NewDelivery {
    NewDelivery {
        key: key.to_owned(),
        conversation: ConversationId::new(conversation),
        origin: DeliveryOrigin::Reminder,
        title: "Water the plants".to_owned(),
        text: "x".to_owned(),
        trust: Trust::Owner,
        draft: None,
        now_ms: 60,
    }
}

async fn due(store: &dyn Store) -> Vec<String> {
    let timers = store.timers().await.unwrap().rows;
    timers.iter().map(|timer| format!("{} at {}", timer.name, timer.due_ms)).collect()
}
