//! The rows of the heartbeat, read.

use limpid_core::ConversationId;
use limpid_core::by_side::by_side;
use limpid_core::heartbeat::{Pause, State};
use rusqlite::{OptionalExtension, Row, named_params};

use super::super::Tx;
use super::super::failure::Outcome;
use super::super::row::{self, Read, count, get, parsed, word};
use crate::{HeartbeatOutcome, HeartbeatRow, HeartbeatRun, IdleLooks, Listed, RunningHeartbeat};

/// The name of its settings.
pub(super) const SETTINGS: &str = "heartbeat";

/// How the heartbeat stands.
pub(super) fn find(tx: &Tx<'_>) -> Outcome<HeartbeatRow> {
    let settings: Option<Option<String>> = tx
        .sql
        .prepare_cached(
            "SELECT value FROM setting_event WHERE owner = ? AND conversation IS NULL AND name = ?
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row((tx.owner, SETTINGS), |row| row.get(0))
        .optional()?;
    let mut statement = tx.sql.prepare_cached("SELECT * FROM heartbeat WHERE owner = :owner")?;
    let found = row::one(&mut statement, named_params! { ":owner": tx.owner }, "heartbeat", "heartbeat", standing)?;
    Ok(HeartbeatRow { settings: settings.flatten(), ..found.unwrap_or_default() })
}

/// Runs of the log that a condition picks, the newest first.
pub(super) fn runs(tx: &Tx<'_>, only: &str, limit: u32) -> Outcome<Listed<HeartbeatRun>> {
    let sql = format!("SELECT * FROM heartbeat_run WHERE owner = :owner {only} ORDER BY id DESC LIMIT :limit");
    let mut statement = tx.sql.prepare_cached(&sql)?;
    row::list(&mut statement, named_params! { ":owner": tx.owner, ":limit": limit }, "heartbeat_run", "id", run)
}

/// Runs of the log, the newest first: those that read no stranger's text, and of the others as many as these leave room for.
pub(super) fn log(tx: &Tx<'_>, limit: u32) -> Outcome<Listed<HeartbeatRun>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM (
           SELECT * FROM (SELECT * FROM heartbeat_run WHERE owner = :owner AND trust IN ('guest', 'outside')
                          ORDER BY id DESC LIMIT :limit)
           UNION ALL
           SELECT * FROM (SELECT * FROM heartbeat_run WHERE owner = :owner AND trust NOT IN ('guest', 'outside')
                          ORDER BY id DESC LIMIT :limit)) ORDER BY id DESC",
    )?;
    let params = named_params! { ":owner": tx.owner, ":limit": limit };
    let mut listed = row::list(&mut statement, params, "heartbeat_run", "id", run)?;
    listed.rows = by_side(listed.rows, limit as usize, |run| run.trust.is_foreign());
    Ok(listed)
}

/// Runs that ended in a span of time, the newest first.
pub(super) fn between(tx: &Tx<'_>, since_ms: i64, until_ms: i64) -> Outcome<Listed<HeartbeatRun>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM heartbeat_run WHERE owner = :owner AND ended_ms >= :since AND ended_ms < :until ORDER BY id DESC",
    )?;
    let params = named_params! { ":owner": tx.owner, ":since": since_ms, ":until": until_ms };
    row::list(&mut statement, params, "heartbeat_run", "id", run)
}

fn standing(row: &Row<'_>) -> Read<HeartbeatRow> {
    let key: Option<String> = get(row, "run_key")?;
    let running = match key {
        None => None,
        Some(key) => Some(RunningHeartbeat {
            key,
            part: get(row, "run_part")?,
            holder: get(row, "run_holder")?,
            by_hand: get(row, "run_by_hand")?,
            began_ms: get(row, "run_ms")?,
        }),
    };
    let paused: Option<String> = get(row, "paused")?;
    let paused = paused.as_deref().and_then(Pause::parse).zip(get::<Option<i64>>(row, "paused_ms")?);
    let waits: Option<String> = get(row, "waits")?;
    let until: Option<i64> = get(row, "waits_ms")?;
    Ok(HeartbeatRow {
        settings: None,
        state: State {
            switched_on_ms: get(row, "switched_on_ms")?,
            attempted_ms: get(row, "attempted_ms")?,
            succeeded_ms: get(row, "succeeded_ms")?,
            failures: get(row, "failures")?,
            refusals: get(row, "refusals")?,
            paused,
        },
        quiet_mark: get(row, "quiet_mark")?,
        remainder_mark: get(row, "remainder_mark")?,
        waits: waits.map(|why| (why, until)),
        running,
        idle: IdleLooks {
            count: count(row, "idle_runs")?,
            since_ms: get(row, "idle_since_ms")?,
            last_ms: get(row, "idle_ms")?,
        },
    })
}

fn run(row: &Row<'_>) -> Read<HeartbeatRun> {
    Ok(HeartbeatRun {
        key: get(row, "key")?,
        part: get(row, "part")?,
        by_hand: get(row, "by_hand")?,
        began_ms: get(row, "began_ms")?,
        ended_ms: get(row, "ended_ms")?,
        outcome: parsed(row, "outcome", HeartbeatOutcome::parse)?,
        detail: get(row, "detail")?,
        report: get(row, "report")?,
        report_key: get(row, "report_key")?,
        trust: word(row, "trust")?,
        conversation: get::<Option<String>>(row, "conversation")?.map(ConversationId::new),
        requests: count(row, "requests")?,
        input_tokens: count(row, "input_tokens")?,
        output_tokens: count(row, "output_tokens")?,
    })
}
