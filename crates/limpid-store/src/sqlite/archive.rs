//! The archive: memories that rarely helped, kept out of lists and prompts once the others have grown large.

use limpid_core::Memory;
use rusqlite::named_params;

use super::memory_row::memory;
use super::{Tx, memory_events, row};
use crate::sqlite::failure::Outcome;
use crate::{Listed, MemoryEventKind};

/// Of so many memories one is moved at a time.
const SHARE: u64 = 100;

/// Which part of the bytes is the strangers'.
const STRANGERS_PART: u64 = 10;

/// Moves the lowest hundredth of the owner's memories when these have more than `max_bytes`, and the lowest hundredth of what strangers
/// wrote when that has more than a tenth of it. Each is counted for itself: nothing that a stranger has stored moves what the owner keeps.
pub(super) fn archive(tx: &Tx<'_>, max_bytes: u64, now_ms: i64) -> Outcome<u64> {
    Ok(archive_of(tx, false, max_bytes / STRANGERS_PART, now_ms)? + archive_of(tx, true, max_bytes, now_ms)?)
}

fn archive_of(tx: &Tx<'_>, is_owners: bool, max_bytes: u64, now_ms: i64) -> Outcome<u64> {
    let (count, bytes): (i64, i64) = tx
        .sql
        .prepare_cached(
            "SELECT count(*), coalesce(sum(octet_length(key) + octet_length(content)), 0)
             FROM memory WHERE owner = ? AND archived = 0 AND (trust IN ('owner', 'file')) = ?",
        )?
        .query_row((tx.owner, is_owners), |row| Ok((row.get(0)?, row.get(1)?)))?;
    if bytes.unsigned_abs() <= max_bytes {
        return Ok(0);
    }
    let lowest = row::list(
        &mut *tx.sql.prepare_cached(
            "SELECT * FROM memory
             WHERE owner = :owner AND archived = 0 AND pinned = 0 AND (trust IN ('owner', 'file')) = :is_owners
             ORDER BY score, updated_ms, id LIMIT :limit",
        )?,
        named_params! {
            ":owner": tx.owner, ":is_owners": is_owners, ":limit": row::stored((count.unsigned_abs() / SHARE).max(1)),
        },
        "memory",
        "id",
        memory,
    )?;
    for memory in &lowest.rows {
        tx.sql
            .prepare_cached("UPDATE memory SET archived = 1 WHERE owner = ? AND id = ?")?
            .execute((tx.owner, memory.id.0))?;
        memory_events::record(tx, MemoryEventKind::Archived, Some(memory), Some(memory), None, now_ms)?;
    }
    Ok(lowest.rows.len() as u64)
}

/// What is in the archive.
pub(super) fn list(tx: &Tx<'_>) -> Outcome<Listed<Memory>> {
    let mut statement =
        tx.sql.prepare_cached("SELECT * FROM memory WHERE owner = ? AND archived = 1 ORDER BY created_ms, key")?;
    row::list(&mut statement, [tx.owner], "memory", "id", memory)
}
