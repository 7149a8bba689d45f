//! MEA-12: ten thousand owners who all want something at nine o'clock.

use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use limpid_core::task::{MissedPolicy, RunOutcome, Standing, TaskKind, TaskStatus, Trigger};
use limpid_core::{ConversationId, Trust};
use limpid_store::{
    Audience, ConversationKind, Conversations as _, Deliveries as _, DeliveryOrigin, NewConversation, NewDelivery,
    NewTask, SqliteOptions, SqliteStore, StoreError, TASK_TIMER, TaskRunEnd, Tasks as _, Timers as _,
};

use super::Table;
use super::program::block_on;

const OWNERS: usize = 10_000;

/// Owners that are worked on at a time, by each of two schedulers.
const AT_ONCE: usize = 128;

/// The conversation of each.
const CONVERSATION: &str = "heartbeat";

// MEA-12
pub(crate) fn measure() -> Result<Table, String> {
    let (seconds, once) = block_on(async { run().await.map_err(|error| error.to_string()) })?;
    Ok(Table {
        title: "MEA-12 Many agents",
        how: format!(
            "{OWNERS} owners in one database, each with a daily reminder that is due in the same minute. Two schedulers \
             go over all owners, {AT_ONCE} at a time, each in its own order: claim the timer, begin the run, then its \
             end, its message, how the task stands and its next time in one transaction, give the claim back. Every \
             commit is durable; those that wait together share one. No model is asked."
        ),
        target: "each exactly once, within 60 s, on 2 cores",
        head: vec!["owners", "exactly once", "seconds", "a second"],
        rows: vec![vec![
            OWNERS.to_string(),
            once.to_string(),
            format!("{seconds:.1}"),
            format!("{:.0}", OWNERS as f64 / seconds),
        ]],
    })
}

/// The seconds that it took, and the owners who were reminded exactly once.
async fn run() -> Result<(f64, usize), StoreError> {
    let folder = tempfile::tempdir().map_err(|error| StoreError::Invalid(error.to_string()))?;
    let store = SqliteStore::open(folder.path().join("limpid.db"), SqliteOptions::default())?;
    let due = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(9);
    let owners: Arc<Vec<SqliteStore>> =
        Arc::new((0..OWNERS).map(|owner| store.for_owner(&format!("owner-{owner}"))).collect());
    stream::iter(owners.iter()).map(Ok).try_for_each_concurrent(AT_ONCE, |owner| set_up(owner, due)).await?;

    let began = Instant::now();
    let serve = |name: &'static str, backwards: bool| {
        let owners = Arc::clone(&owners);
        async move {
            let at = |n: usize| if backwards { OWNERS - 1 - n } else { n };
            let order = stream::iter((0..OWNERS).map(|n| Ok(at(n))));
            order.try_for_each_concurrent(AT_ONCE, |owner| remind(&owners[owner], name, due)).await
        }
    };
    tokio::try_join!(serve("one", false), serve("two", true))?;
    let seconds = began.elapsed().as_secs_f64();

    let mut once = 0;
    for owner in owners.iter() {
        let sent = owner.pending_deliveries(None).await?.rows.len();
        let timers = owner.timers().await?.rows;
        let is_next = |ms: i64| ms == due.as_millisecond() + 24 * 60 * 60 * 1000;
        once += usize::from(sent == 1 && timers.len() == 1 && is_next(timers[0].due_ms));
    }
    Ok((seconds, once))
}

async fn set_up(owner: &SqliteStore, due: Timestamp) -> Result<(), StoreError> {
    let conversation = NewConversation {
        id: ConversationId::new(CONVERSATION),
        kind: ConversationKind::Heartbeat,
        title: String::new(),
        profile: "limpid".to_owned(),
        mode: None,
        model: None,
        audience: Audience::Owner,
        now_ms: 0,
    };
    owner.create_conversation(conversation).await?;
    let trigger = Trigger::cron("0 9 * * *", "UTC").map_err(|error| StoreError::Invalid(error.to_string()))?;
    let task = NewTask {
        key: None,
        description: "Drink water".to_owned(),
        prompt: "Drink water".to_owned(),
        kind: TaskKind::Reminder,
        trigger,
        zone: "UTC".to_owned(),
        missed: MissedPolicy::RunOnce,
        base: None,
        conversation: None,
        trust: Trust::Owner,
        typed: true,
    };
    let standing = Standing { status: TaskStatus::Pending, next: Some(due), failures: 0 };
    owner.keep_task(task, standing, 0).await.map(drop)
}

/// What a scheduler and its job write for one owner.
async fn remind(owner: &SqliteStore, holder: &str, due: Timestamp) -> Result<(), StoreError> {
    let now_ms = due.as_millisecond();
    for lease in owner.claim_timers(now_ms, holder, 60_000, 16).await?.iter().filter(|it| it.kind == TASK_TIMER) {
        let number = lease.name.parse().map_err(|_| StoreError::Invalid(lease.name.clone()))?;
        let Some(task) = owner.task(limpid_core::TaskId(number)).await? else { continue };
        let run = owner.begin_task_run(task.id, lease.due_ms, now_ms).await?;
        let delivery = NewDelivery {
            draft: None,
            key: format!("task/{}/{}", task.id, lease.due_ms),
            conversation: ConversationId::new(CONVERSATION),
            origin: DeliveryOrigin::Reminder,
            title: task.new.description.clone(),
            text: task.new.prompt.clone(),
            trust: Trust::Owner,
            now_ms,
        };
        let standing = task.standing.after(&task.new.trigger, RunOutcome::Done, due);
        let (detail, delivery) = (String::new(), Some(delivery));
        let end = TaskRunEnd { run, outcome: RunOutcome::Done, detail, conversation: None, standing, delivery, now_ms };
        owner.end_task_run(end).await?;
        owner.settle_timer(lease, standing.next.map(Timestamp::as_millisecond)).await?;
    }
    Ok(())
}
