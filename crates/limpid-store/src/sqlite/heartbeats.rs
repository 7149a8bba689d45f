//! The heartbeat and its runs.

mod rows;

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use limpid_core::{ConversationId, Trust};
use rusqlite::named_params;

use super::deliveries::insert_delivery;
use super::failure::Outcome;
use super::inbox::{consume_items, end_of_run, put_aside};
use super::row::stored;
use super::{SqliteStore, Tx, settings, timers, transcripts, turns};
use crate::{
    HeartbeatCalls, HeartbeatEnd, HeartbeatOutcome, HeartbeatRow, HeartbeatRun, Heartbeats, Listed, NewSetting,
    RunningHeartbeat, StoreError,
};

use rows::{SETTINGS, find, runs};

/// How long the log keeps a run, in milliseconds.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;

/// The kind of its timer.
const TIMER: &str = "heartbeat";

#[async_trait]
impl Heartbeats for SqliteStore {
    async fn heartbeat(&self) -> Result<HeartbeatRow, StoreError> {
        self.read(find).await
    }

    async fn set_heartbeat(&self, value: &str, switched_on: bool, now_ms: i64) -> Result<(), StoreError> {
        let value = Some(value.to_owned());
        self.write(move |tx| {
            let event = NewSetting { name: SETTINGS.to_owned(), value, trigger: "manual".to_owned() };
            settings::append(tx, None, &[event], now_ms)?;
            ensure(tx)?;
            if switched_on {
                tx.sql
                    .prepare_cached("UPDATE heartbeat SET switched_on_ms = ? WHERE owner = ?")?
                    .execute((now_ms, tx.owner))?;
            }
            Ok(())
        })
        .await
    }

    async fn start_heartbeat(&self, now_ms: i64) -> Result<(), StoreError> {
        self.write(move |tx| {
            ensure(tx)?;
            tx.sql
                .prepare_cached("UPDATE heartbeat SET switched_on_ms = ? WHERE owner = ? AND switched_on_ms IS NULL")?
                .execute((now_ms, tx.owner))?;
            Ok(())
        })
        .await
    }

    async fn heartbeat_waits(&self, waits: Option<(&str, Option<i64>)>) -> Result<(), StoreError> {
        let waits = waits.map(|(why, until)| (why.to_owned(), until));
        self.write(move |tx| {
            ensure(tx)?;
            let (why, until) = waits.as_ref().map_or((None, None), |(why, until)| (Some(why), *until));
            tx.sql
                .prepare_cached("UPDATE heartbeat SET waits = ?, waits_ms = ? WHERE owner = ?")?
                .execute((why, until, tx.owner))?;
            Ok(())
        })
        .await
    }

    async fn resume_heartbeat(&self) -> Result<(), StoreError> {
        self.write(|tx| {
            tx.sql
                .prepare_cached(
                    "UPDATE heartbeat SET paused = NULL, paused_ms = NULL, failures = 0, refusals = 0 WHERE owner = ?",
                )?
                .execute([tx.owner])?;
            Ok(())
        })
        .await
    }

    async fn begin_heartbeat(&self, run: &RunningHeartbeat) -> Result<bool, StoreError> {
        let run = run.clone();
        self.write(move |tx| {
            ensure(tx)?;
            let changed = tx
                .sql
                .prepare_cached(
                    "UPDATE heartbeat SET run_key = :key, run_part = :part, run_holder = :holder, run_by_hand = :by_hand,
                            run_ms = :began
                     WHERE owner = :owner AND run_key IS NULL",
                )?
                .execute(named_params! {
                    ":owner": tx.owner, ":key": run.key, ":part": run.part, ":holder": run.holder, ":by_hand": run.by_hand,
                    ":began": run.began_ms,
                })?;
            Ok(changed == 1)
        })
        .await
    }

    async fn take_heartbeat(&self, from: &RunningHeartbeat, holder: &str) -> Result<bool, StoreError> {
        let (from, holder) = (from.clone(), holder.to_owned());
        self.write(move |tx| {
            let changed = tx
                .sql
                .prepare_cached(
                    "UPDATE heartbeat SET run_holder = ? WHERE owner = ? AND run_key = ? AND run_holder = ?",
                )?
                .execute((holder, tx.owner, from.key, from.holder))?;
            Ok(changed == 1)
        })
        .await
    }

    async fn end_heartbeat(&self, end: HeartbeatEnd) -> Result<bool, StoreError> {
        self.write(move |tx| finish(tx, &end)).await
    }

    async fn heartbeat_runs(&self, limit: u32) -> Result<Listed<HeartbeatRun>, StoreError> {
        self.search(move |tx| runs(tx, "", limit)).await
    }

    async fn heartbeat_log(&self, limit: u32) -> Result<Listed<HeartbeatRun>, StoreError> {
        self.search(move |tx| rows::log(tx, limit)).await
    }

    async fn heartbeat_runs_between(&self, since_ms: i64, until_ms: i64) -> Result<Listed<HeartbeatRun>, StoreError> {
        self.search(move |tx| rows::between(tx, since_ms, until_ms)).await
    }

    async fn heartbeat_reports(&self, limit: u32) -> Result<Listed<HeartbeatRun>, StoreError> {
        self.search(move |tx| runs(tx, "AND outcome = 'told' AND trust NOT IN ('guest', 'outside')", limit)).await
    }

    async fn heartbeat_told(&self, report_key: &str, trust: Trust, since_ms: i64) -> Result<bool, StoreError> {
        let key = report_key.to_owned();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT 1 FROM heartbeat_run WHERE owner = ? AND report_key = ? AND outcome = 'told' AND ended_ms > ?
                 AND (? OR trust NOT IN ('guest', 'outside'))",
            )?;
            Ok(statement.exists((tx.owner, key, since_ms, trust.is_foreign()))?)
        })
        .await
    }

    async fn heartbeat_calls(&self, since_ms: i64) -> Result<HeartbeatCalls, StoreError> {
        self.read(move |tx| {
            // A probe only ever follows what came in.
            let mut statement = tx.sql.prepare_cached(
                "SELECT count(*) FILTER (WHERE NOT of_news), count(*) FILTER (WHERE of_news) FROM (
                   SELECT min(part IN ('news', 'probe')) AS of_news FROM heartbeat_run
                   WHERE owner = ? AND ended_ms >= ? AND requests > 0
                   GROUP BY iif(part = '', key, substr(key, 1, length(key) - length(part) - 1)))",
            )?;
            let calls = statement.query_row((tx.owner, since_ms), |row| {
                Ok(HeartbeatCalls { of_owner: row.get(0)?, of_news: row.get(1)? })
            })?;
            Ok(calls)
        })
        .await
    }

    async fn heartbeat_asked(&self) -> Result<HashMap<String, i64>, StoreError> {
        self.read(|tx| {
            let mut statement = tx.sql.prepare_cached("SELECT mark, asked_ms FROM heartbeat_item WHERE owner = ?")?;
            let rows = statement.query_map([tx.owner], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn heartbeat_alone(&self) -> Result<HashSet<String>, StoreError> {
        self.read(|tx| {
            let mut statement = tx.sql.prepare_cached("SELECT mark FROM heartbeat_alone WHERE owner = ?")?;
            let rows = statement.query_map([tx.owner], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn owner_acted_ms(&self) -> Result<Option<i64>, StoreError> {
        self.search(|tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT max(at) FROM (
                   SELECT max(inbound.accepted_ms) AS at FROM inbound JOIN conversation
                     ON conversation.owner = inbound.owner AND conversation.id = inbound.conversation
                   WHERE inbound.owner = :owner AND inbound.trust = 'owner' AND conversation.kind <> 'run'
                   UNION ALL SELECT max(at_ms) FROM setting_event WHERE owner = :owner AND trigger = 'manual'
                   UNION ALL SELECT max(at_ms) FROM draft_event
                     WHERE owner = :owner AND state IN ('approved', 'refused')
                   UNION ALL SELECT max(read_ms) FROM delivery WHERE owner = :owner)",
            )?;
            Ok(statement.query_row(named_params! { ":owner": tx.owner }, |row| row.get(0))?)
        })
        .await
    }
}

fn ensure(tx: &Tx<'_>) -> Outcome<()> {
    tx.sql.prepare_cached("INSERT INTO heartbeat (owner) VALUES (?) ON CONFLICT DO NOTHING")?.execute([tx.owner])?;
    Ok(())
}

fn finish(tx: &Tx<'_>, end: &HeartbeatEnd) -> Outcome<bool> {
    let HeartbeatEnd { run, state, .. } = end;
    ensure(tx)?;
    if !log(tx, run)? {
        // It has ended before, so it is not under way.
        tx.sql
            .prepare_cached(
                "UPDATE heartbeat SET run_key = NULL, run_part = '', run_holder = NULL, run_by_hand = NULL, run_ms = NULL
                 WHERE owner = ? AND run_key = ?",
            )?
            .execute((tx.owner, &run.key))?;
        return Ok(false);
    }
    tx.sql
        .prepare_cached(
            "UPDATE heartbeat SET attempted_ms = :attempted, succeeded_ms = :succeeded, failures = :failures,
                    refusals = :refusals, paused = :paused, paused_ms = :paused_ms, quiet_mark = :quiet,
                    remainder_mark = :remainder, run_key = NULL, run_part = '', run_holder = NULL,
                    run_by_hand = NULL, run_ms = NULL
             WHERE owner = :owner",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":attempted": state.attempted_ms, ":succeeded": state.succeeded_ms,
            ":failures": state.failures, ":refusals": state.refusals,
            ":paused": state.paused.map(|(pause, _)| pause.as_str()), ":paused_ms": state.paused.map(|(_, at)| at),
            ":quiet": end.quiet_mark, ":remainder": end.remainder_mark,
        })?;
    for mark in &end.asked {
        tx.sql
            .prepare_cached(
                "INSERT INTO heartbeat_item (owner, mark, asked_ms) VALUES (?, ?, ?)
                 ON CONFLICT (owner, mark) DO UPDATE SET asked_ms = excluded.asked_ms",
            )?
            .execute((tx.owner, mark, run.began_ms))?;
    }
    for (mark, is_alone) in &end.alone {
        let sql = if *is_alone {
            "INSERT INTO heartbeat_alone (owner, mark) VALUES (?, ?) ON CONFLICT DO NOTHING"
        } else {
            "DELETE FROM heartbeat_alone WHERE owner = ? AND mark = ?"
        };
        tx.sql.prepare_cached(sql)?.execute((tx.owner, mark))?;
    }
    for delivery in &end.deliveries {
        insert_delivery(tx, delivery)?;
    }
    consume_items(tx, &end.consumed, run.ended_ms)?;
    put_aside(tx, &end.dropped, run.ended_ms)?;
    if let Some(conversation) = &run.conversation {
        // What it took in was named; anything else that it has seen stays new.
        end_of_run(tx, conversation, false, run.ended_ms)?;
        turns::forget_run(tx, conversation)?;
    }
    if let Some((name, due_ms)) = &end.timer {
        timers::set(tx, TIMER, name, *due_ms)?;
    }
    Ok(true)
}

/// Writes a run into the log, or counts it when it found nothing. False when it is there already.
fn log(tx: &Tx<'_>, run: &HeartbeatRun) -> Outcome<bool> {
    if run.outcome == HeartbeatOutcome::Unchanged {
        tx.sql
            .prepare_cached(
                "UPDATE heartbeat SET idle_runs = idle_runs + 1, idle_since_ms = coalesce(idle_since_ms, :now),
                        idle_ms = :now
                 WHERE owner = :owner",
            )?
            .execute(named_params! { ":owner": tx.owner, ":now": run.ended_ms })?;
        return Ok(true);
    }
    let logged = tx
        .sql
        .prepare_cached(
            "INSERT INTO heartbeat_run (owner, key, part, by_hand, began_ms, ended_ms, outcome, detail, report, report_key,
                                        trust, conversation, requests, input_tokens, output_tokens)
             VALUES (:owner, :key, :part, :by_hand, :began, :ended, :outcome, :detail, :report, :report_key,
                     :trust, :conversation, :requests, :input, :output)
             ON CONFLICT (owner, key) DO NOTHING",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":key": run.key, ":part": run.part, ":by_hand": run.by_hand, ":began": run.began_ms,
            ":ended": run.ended_ms, ":outcome": run.outcome.as_str(), ":detail": run.detail, ":report": run.report,
            ":report_key": run.report_key, ":trust": run.trust.as_str(),
            ":conversation": run.conversation.as_ref().map(ConversationId::as_str),
            ":requests": stored(run.requests as usize), ":input": stored(run.input_tokens as usize),
            ":output": stored(run.output_tokens as usize),
        })?;
    if logged == 0 {
        return Ok(false);
    }
    tx.sql
        .prepare_cached("UPDATE heartbeat SET idle_runs = 0, idle_since_ms = NULL, idle_ms = NULL WHERE owner = ?")?
        .execute([tx.owner])?;
    // The newest ones of either side stay however old they are, since they are shown, and so do the newest reports without a stranger's
    // text, which later runs are told.
    let mut statement = tx.sql.prepare_cached(
        "DELETE FROM heartbeat_run WHERE owner = :owner AND ended_ms < :before
           AND id NOT IN (SELECT id FROM heartbeat_run WHERE owner = :owner
                          AND trust IN ('guest', 'outside') ORDER BY id DESC LIMIT 20)
           AND id NOT IN (SELECT id FROM heartbeat_run WHERE owner = :owner
                          AND trust NOT IN ('guest', 'outside') ORDER BY id DESC LIMIT 20)
           AND id NOT IN (SELECT id FROM heartbeat_run WHERE owner = :owner AND outcome = 'told'
                          AND trust NOT IN ('guest', 'outside') ORDER BY id DESC LIMIT 20)
         RETURNING conversation, outcome = 'told'",
    )?;
    let gone = statement.query_map(named_params! { ":owner": tx.owner, ":before": run.ended_ms - KEPT_MS }, |row| {
        Ok((row.get::<_, Option<String>>(0)?, row.get::<_, bool>(1)?))
    })?;
    // Where a report came from can still be read years later.
    for (conversation, told) in gone.collect::<Result<Vec<_>, _>>()? {
        if let Some(conversation) = conversation.filter(|_| !told) {
            transcripts::forget(tx, &conversation)?;
        }
    }
    Ok(true)
}
