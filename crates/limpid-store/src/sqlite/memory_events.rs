//! The history of memories: each event has the memory before and after it, which is what an undo needs.

use limpid_core::{Memory, MemoryId};
use rusqlite::{Row, named_params};
use serde::{Deserialize, Serialize};

use super::Tx;
use super::failure::Outcome;
use super::row::{self, Read, Unreadable, get, parsed};
use crate::{Author, Listed, MemoryEvent, MemoryEventId, MemoryEventKind, StoreError};

/// Changes of a day, and their bytes, after which no stranger's text changes a memory.
const CHANGES_A_DAY: i64 = 1000;
const BYTES_A_DAY: i64 = 1024 * 1024;

const DAY_MS: i64 = 24 * 3_600_000;

/// Writes an event.
pub(super) fn record(
    tx: &Tx<'_>,
    kind: MemoryEventKind,
    before: Option<&Memory>,
    after: Option<&Memory>,
    said: Option<(Author, Option<&str>)>,
    now_ms: i64,
) -> Outcome<()> {
    let id = before.or(after).map_or(0, |memory| memory.id.0);
    tx.sql
        .prepare_cached(
            "INSERT INTO memory_event (owner, memory, kind, before, after, author, source, at_ms)
             VALUES (:owner, :memory, :kind, :before, :after, :author, :source, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":memory": id, ":kind": kind.as_str(), ":before": to_json(before)?,
            ":after": to_json(after)?, ":author": said.map(|(author, _)| author.as_str()),
            ":source": said.and_then(|(_, source)| source), ":now": now_ms,
        })?;
    Ok(())
}

/// Whether strangers' texts may still change memories today, by so many bytes: what a day wrote is counted, whoever wrote it, so that no
/// program and no page fills the disk.
///
/// # Errors
/// That there is no room, as a reason for the model.
pub(super) fn check_room(tx: &Tx<'_>, bytes_more: usize, now_ms: i64) -> Outcome<()> {
    let (changes, bytes): (i64, i64) = tx
        .sql
        .prepare_cached(
            "SELECT count(*), coalesce(sum(octet_length(after)), 0)
             FROM (SELECT after, at_ms FROM memory_event WHERE owner = :owner ORDER BY id DESC LIMIT :most)
             WHERE at_ms > :since",
        )?
        .query_row(named_params! { ":owner": tx.owner, ":most": CHANGES_A_DAY, ":since": now_ms - DAY_MS }, |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let bytes = bytes.saturating_add(i64::try_from(bytes_more).unwrap_or(i64::MAX));
    if changes < CHANGES_A_DAY && bytes < BYTES_A_DAY {
        return Ok(());
    }
    let reason = "texts of strangers may change memories 1,000 times and by 1 MB within a day, and this would be more; store something shorter, or try again tomorrow";
    Err(StoreError::Invalid(reason.to_owned()).into())
}

/// One event.
pub(super) fn find(tx: &Tx<'_>, id: MemoryEventId) -> Outcome<MemoryEvent> {
    let mut statement = tx.sql.prepare_cached("SELECT * FROM memory_event WHERE owner = ? AND id = ?")?;
    let name = id.0.to_string();
    row::one(&mut statement, (tx.owner, id.0), "memory event", &name, event)?
        .ok_or_else(|| StoreError::NotFound { what: "memory event", id: name }.into())
}

/// The events of one memory, or of all.
pub(super) fn list(tx: &Tx<'_>, id: Option<MemoryId>) -> Outcome<Listed<MemoryEvent>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM memory_event WHERE owner = :owner AND (:memory IS NULL OR memory = :memory) ORDER BY id",
    )?;
    let params = named_params! { ":owner": tx.owner, ":memory": id.map(|id| id.0) };
    row::list(&mut statement, params, "memory_event", "id", event)
}

fn event(row: &Row<'_>) -> Read<MemoryEvent> {
    let author = match get::<Option<String>>(row, "author")? {
        Some(_) => Some(parsed(row, "author", Author::parse)?),
        None => None,
    };
    Ok(MemoryEvent {
        id: MemoryEventId(get(row, "id")?),
        memory: MemoryId(get(row, "memory")?),
        kind: parsed(row, "kind", MemoryEventKind::parse)?,
        before: from_json(row, "before")?,
        after: from_json(row, "after")?,
        author,
        source: get(row, "source")?,
        at_ms: get(row, "at_ms")?,
    })
}

/// A memory inside an event.
#[derive(Serialize, Deserialize)]
struct MemoryJson {
    id: i64,
    key: String,
    content: String,
    category: String,
    hits: u32,
    score: i32,
    pinned: bool,
    trust: String,
    created_ms: i64,
    updated_ms: i64,
}

/// A memory as events keep it.
pub(super) fn to_json(memory: Option<&Memory>) -> Outcome<Option<String>> {
    let Some(memory) = memory else { return Ok(None) };
    let json = MemoryJson {
        id: memory.id.0,
        key: memory.key.clone(),
        content: memory.content.clone(),
        category: memory.category.to_string(),
        hits: memory.hits,
        score: memory.score,
        pinned: memory.pinned,
        trust: memory.trust.to_string(),
        created_ms: memory.created_ms,
        updated_ms: memory.updated_ms,
    };
    let text = serde_json::to_string(&json).map_err(|error| StoreError::Invalid(error.to_string()))?;
    Ok(Some(text))
}

/// A memory that an event or a promotion keeps.
pub(super) fn from_json(row: &Row<'_>, column: &str) -> Read<Option<Memory>> {
    let Some(text) = get::<Option<String>>(row, column)? else { return Ok(None) };
    let unreadable = |error: &dyn std::fmt::Display| Unreadable(format!("{column}: {error}"));
    let json: MemoryJson = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    Ok(Some(Memory {
        id: MemoryId(json.id),
        key: json.key,
        content: json.content,
        category: json.category.parse().map_err(|error| unreadable(&error))?,
        hits: json.hits,
        score: json.score,
        pinned: json.pinned,
        trust: json.trust.parse().map_err(|error| unreadable(&error))?,
        created_ms: json.created_ms,
        updated_ms: json.updated_ms,
    }))
}
