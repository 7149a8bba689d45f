//! What is to be done later, and what its runs came to.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use limpid_core::task::{MissedPolicy, RunOutcome, Standing, TaskKind, TaskStatus, Trigger};
use limpid_core::{ConversationId, TaskId};
use rusqlite::{Row, named_params};

use super::deliveries::insert_delivery;
use super::failure::{Outcome, is_orphan};
use super::inbox::end_of_run;
use super::row::{self, Read, Unreadable, get, parsed, word};
use super::{SqliteStore, Tx, conversation_row, timers, turns};
use crate::{KEPT_RUNS, Listed, NewTask, StoreError, TASK_TIMER, Task, TaskRun, TaskRunEnd, Tasks};

#[async_trait]
impl Tasks for SqliteStore {
    async fn keep_task(&self, new: NewTask, standing: Standing, now_ms: i64) -> Result<Task, StoreError> {
        self.write(move |tx| add(tx, &new, &standing, now_ms)).await
    }

    async fn task(&self, id: TaskId) -> Result<Option<Task>, StoreError> {
        self.read(move |tx| find(tx, id)).await
    }

    async fn tasks(&self, status: Option<TaskStatus>) -> Result<Listed<Task>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM task WHERE owner = :owner AND (:status IS NULL OR status = :status)
                 ORDER BY next_ms IS NULL, next_ms, id",
            )?;
            let params = named_params! { ":owner": tx.owner, ":status": status.map(TaskStatus::as_str) };
            row::list(&mut statement, params, "task", "id", task)
        })
        .await
    }

    async fn change_task(&self, task: Task, now_ms: i64) -> Result<Task, StoreError> {
        self.write(move |tx| change(tx, &task, now_ms)).await
    }

    async fn begin_task_run(&self, id: TaskId, slot_ms: i64, now_ms: i64) -> Result<TaskRun, StoreError> {
        self.write(move |tx| begin(tx, id, slot_ms, now_ms)).await
    }

    async fn end_task_run(&self, end: TaskRunEnd) -> Result<bool, StoreError> {
        self.write(move |tx| end_run(tx, &end)).await
    }

    async fn task_runs(&self, id: TaskId) -> Result<Listed<TaskRun>, StoreError> {
        self.search(move |tx| {
            let mut statement = tx
                .sql
                .prepare_cached("SELECT * FROM task_run WHERE owner = :owner AND task = :task ORDER BY slot_ms DESC")?;
            row::list(&mut statement, named_params! { ":owner": tx.owner, ":task": id.0 }, "task_run", "slot_ms", run)
        })
        .await
    }
}

fn add(tx: &Tx<'_>, new: &NewTask, standing: &Standing, now_ms: i64) -> Outcome<Task> {
    if let Some(key) = &new.key {
        let mut known = tx.sql.prepare_cached("SELECT * FROM task WHERE owner = :owner AND key = :key")?;
        let params = named_params! { ":owner": tx.owner, ":key": key };
        if let Some(task) = row::one(&mut known, params, "task", key, task)? {
            return Ok(task);
        }
    }
    if let Some(conversation) = &new.conversation {
        conversation_row::check_no_strangers(tx, conversation)?;
    }
    let times = Times::of(&new.trigger);
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO task (owner, key, description, prompt, kind, trigger, at_ms, period_ms, pattern, zone, missed,
                               conversation, base, trust, typed, status, next_ms, failures, made_ms,
                               changed_ms)
             VALUES (:owner, :key, :description, :prompt, :kind, :trigger, :at, :period, :pattern, :zone, :missed,
                     :conversation, :base, :trust, :typed, :status, :next, :failures, :now, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":key": new.key, ":description": new.description, ":prompt": new.prompt,
            ":kind": new.kind.as_str(), ":trigger": times.name, ":at": times.at_ms, ":period": times.period_ms,
            ":pattern": times.pattern, ":zone": new.zone, ":missed": new.missed.to_string(),
            ":conversation": new.conversation.as_ref().map(ConversationId::as_str), ":base": new.base,
            ":trust": new.trust.as_str(), ":typed": new.typed,
            ":status": standing.status.as_str(), ":next": next_ms(standing), ":failures": standing.failures,
            ":now": now_ms,
        });
    match (inserted, &new.conversation) {
        (Err(error), Some(conversation)) if is_orphan(&error) => {
            return Err(conversation_row::missing(conversation).into());
        }
        (inserted, _) => inserted?,
    };
    let id = TaskId(tx.sql.last_insert_rowid());
    set_timer(tx, id, standing)?;
    find(tx, id)?.ok_or_else(|| missing(id).into())
}

fn change(tx: &Tx<'_>, task: &Task, now_ms: i64) -> Outcome<Task> {
    let Task { id, new, standing, revision, .. } = task;
    let times = Times::of(&new.trigger);
    let changed = tx
        .sql
        .prepare_cached(
            "UPDATE task SET description = :description, prompt = :prompt, kind = :kind, trigger = :trigger,
                             at_ms = :at, period_ms = :period, pattern = :pattern, zone = :zone, missed = :missed,
                             trust = :trust, typed = :typed, status = :status, next_ms = :next, failures = :failures,
                             revision = revision + 1, changed_ms = :now
             WHERE owner = :owner AND id = :id AND revision = :revision",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": id.0, ":description": new.description, ":prompt": new.prompt,
            ":kind": new.kind.as_str(), ":trigger": times.name, ":at": times.at_ms, ":period": times.period_ms,
            ":pattern": times.pattern, ":zone": new.zone, ":missed": new.missed.to_string(),
            ":trust": new.trust.as_str(), ":typed": new.typed, ":status": standing.status.as_str(),
            ":next": next_ms(standing),
            ":failures": standing.failures, ":revision": revision, ":now": now_ms,
        })?;
    let Some(found) = find(tx, *id)? else { return Err(missing(*id).into()) };
    if changed == 0 {
        return Err(StoreError::Conflict { what: "task" }.into());
    }
    set_timer(tx, *id, standing)?;
    Ok(found)
}

fn begin(tx: &Tx<'_>, id: TaskId, slot_ms: i64, now_ms: i64) -> Outcome<TaskRun> {
    if find(tx, id)?.is_none() {
        return Err(missing(id).into());
    }
    let begun = tx
        .sql
        .prepare_cached(
            "INSERT INTO task_run (owner, task, slot_ms, began_ms) VALUES (?, ?, ?, ?)
             ON CONFLICT (task, slot_ms) DO NOTHING",
        )?
        .execute((tx.owner, id.0, slot_ms, now_ms))?;
    let mut statement =
        tx.sql.prepare_cached("SELECT * FROM task_run WHERE owner = :owner AND task = :task AND slot_ms = :slot")?;
    let params = named_params! { ":owner": tx.owner, ":task": id.0, ":slot": slot_ms };
    let found = row::one(&mut statement, params, "task run", &id.to_string(), run)?.ok_or_else(|| missing(id))?;
    Ok(TaskRun { fresh: begun == 1, ..found })
}

fn end_run(tx: &Tx<'_>, end: &TaskRunEnd) -> Outcome<bool> {
    let TaskRunEnd { run, standing, .. } = end;
    let ended = tx
        .sql
        .prepare_cached(
            "UPDATE task_run SET ended_ms = :now, outcome = :outcome, detail = :detail, conversation = :conversation
             WHERE owner = :owner AND task = :task AND slot_ms = :slot AND ended_ms IS NULL",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":task": run.task.0, ":slot": run.slot_ms, ":now": end.now_ms,
            ":outcome": end.outcome.as_str(), ":detail": end.detail,
            ":conversation": end.conversation.as_ref().map(ConversationId::as_str),
        })?;
    if ended == 0 {
        return Ok(false);
    }
    let moved = tx
        .sql
        .prepare_cached(
            "UPDATE task SET status = :status, next_ms = :next, failures = :failures, changed_ms = :now
             WHERE owner = :owner AND id = :id AND status = 'pending' AND next_ms = :slot",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": run.task.0, ":status": standing.status.as_str(), ":next": next_ms(standing),
            ":failures": standing.failures, ":slot": run.slot_ms, ":now": end.now_ms,
        })?;
    if moved == 1 {
        set_timer(tx, run.task, standing)?;
    }
    if let Some(conversation) = &end.conversation {
        end_of_run(tx, conversation, end.outcome == RunOutcome::Done, end.now_ms)?;
    }
    if let Some(delivery) = &end.delivery {
        insert_delivery(tx, delivery)?;
    }
    if let Some(conversation) = &end.conversation {
        turns::forget_run(tx, conversation)?;
    }
    tx.sql
        .prepare_cached(
            "DELETE FROM task_run WHERE owner = :owner AND task = :task AND slot_ms < (
               SELECT min(slot_ms) FROM (
                 SELECT slot_ms FROM task_run WHERE task = :task ORDER BY slot_ms DESC LIMIT :kept))",
        )?
        .execute(named_params! { ":owner": tx.owner, ":task": run.task.0, ":kept": KEPT_RUNS })?;
    Ok(true)
}

/// A task that waits for a time has a timer, and no other has.
fn set_timer(tx: &Tx<'_>, id: TaskId, standing: &Standing) -> Outcome<()> {
    let name = id.to_string();
    match next_ms(standing) {
        Some(next) if standing.status == TaskStatus::Pending => timers::set(tx, TASK_TIMER, &name, next),
        _ => timers::remove(tx, TASK_TIMER, &name),
    }
}

fn next_ms(standing: &Standing) -> Option<i64> {
    standing.next.map(Timestamp::as_millisecond)
}

fn find(tx: &Tx<'_>, id: TaskId) -> Outcome<Option<Task>> {
    let mut statement = tx.sql.prepare_cached("SELECT * FROM task WHERE owner = :owner AND id = :id")?;
    row::one(&mut statement, named_params! { ":owner": tx.owner, ":id": id.0 }, "task", &id.to_string(), task)
}

fn missing(id: TaskId) -> StoreError {
    StoreError::NotFound { what: "task", id: id.to_string() }
}

/// A trigger as a row holds it.
struct Times {
    name: &'static str,
    at_ms: Option<i64>,
    period_ms: Option<i64>,
    pattern: Option<String>,
}

impl Times {
    fn of(trigger: &Trigger) -> Self {
        let none = Self { name: "heartbeat", at_ms: None, period_ms: None, pattern: None };
        match trigger {
            Trigger::Once(at) => Self { name: "time", at_ms: Some(at.as_millisecond()), ..none },
            Trigger::Every { first, period } => Self {
                name: "interval",
                at_ms: Some(first.as_millisecond()),
                period_ms: Some(row::stored(period.as_millis())),
                ..none
            },
            Trigger::Cron { pattern, .. } => Self { name: "cron", pattern: Some(pattern.to_string()), ..none },
            Trigger::Heartbeat => none,
        }
    }
}

fn trigger(row: &Row<'_>) -> Read<Trigger> {
    let at = |column: &str| moment(get::<i64>(row, column)?);
    match get::<String>(row, "trigger")?.as_str() {
        "time" => Ok(Trigger::Once(at("at_ms")?)),
        "interval" => {
            let period = SignedDuration::from_millis(get(row, "period_ms")?);
            Ok(Trigger::Every { first: at("at_ms")?, period })
        }
        "cron" => {
            let (pattern, zone): (String, String) = (get(row, "pattern")?, get(row, "zone")?);
            Trigger::stored_cron(&pattern, &zone).map_err(|error| Unreadable(error.to_string()))
        }
        "heartbeat" => Ok(Trigger::Heartbeat),
        other => Err(Unreadable(format!("trigger: `{other}` is not known"))),
    }
}

fn moment(ms: i64) -> Read<Timestamp> {
    Timestamp::from_millisecond(ms).map_err(|error| Unreadable(error.to_string()))
}

fn task(row: &Row<'_>) -> Read<Task> {
    Ok(Task {
        id: TaskId(get(row, "id")?),
        new: NewTask {
            key: get(row, "key")?,
            description: get(row, "description")?,
            prompt: get(row, "prompt")?,
            kind: parsed(row, "kind", TaskKind::parse)?,
            trigger: trigger(row)?,
            zone: get(row, "zone")?,
            missed: parsed(row, "missed", MissedPolicy::parse)?,
            conversation: get::<Option<String>>(row, "conversation")?.map(ConversationId::new),
            base: get(row, "base")?,
            trust: word(row, "trust")?,
            typed: get(row, "typed")?,
        },
        standing: Standing {
            status: parsed(row, "status", TaskStatus::parse)?,
            next: get::<Option<i64>>(row, "next_ms")?.map(moment).transpose()?,
            failures: get(row, "failures")?,
        },
        revision: get(row, "revision")?,
        made_ms: get(row, "made_ms")?,
    })
}

fn run(row: &Row<'_>) -> Read<TaskRun> {
    let end = match get::<Option<i64>>(row, "ended_ms")? {
        Some(ended_ms) => Some((ended_ms, parsed(row, "outcome", RunOutcome::parse)?)),
        None => None,
    };
    Ok(TaskRun {
        task: TaskId(get(row, "task")?),
        slot_ms: get(row, "slot_ms")?,
        began_ms: get(row, "began_ms")?,
        end,
        detail: get(row, "detail")?,
        conversation: get::<Option<String>>(row, "conversation")?.map(ConversationId::new),
        fresh: false,
    })
}
