//! The table of memories: one is found, written and taken away, together with its words in the index.

use limpid_core::memory::KeyLook;
use limpid_core::{Memory, MemoryId, Trust};
use rusqlite::{OptionalExtension, named_params};

use super::failure::{Failure, Outcome, is_taken};
use super::memory_index::Indexed;
use super::memory_row::memory;
use super::row::{self, stored};
use super::{Tx, memory_events, memory_index};
use crate::{MemoryEventKind, MemoryRef, StoreError};

/// Stands behind a number that is the key of another memory already.
const STROKE: char = '\'';

/// One memory.
pub(super) fn find(tx: &Tx<'_>, which: &MemoryRef) -> Outcome<Option<Memory>> {
    let (sql, name) = match which {
        MemoryRef::Id(id) => ("SELECT * FROM memory WHERE owner = ?1 AND id = CAST(?2 AS INTEGER)", id.to_string()),
        MemoryRef::Key(key) => ("SELECT * FROM memory WHERE owner = ?1 AND key = ?2", key.clone()),
    };
    row::one(&mut *tx.sql.prepare_cached(sql)?, (tx.owner, &name), "memory", &name, memory)
}

/// The memory with this text.
pub(super) fn find_content(tx: &Tx<'_>, content: &str) -> Outcome<Option<Memory>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM memory WHERE owner = :owner AND substr(content, 1, 64) = substr(:content, 1, 64)
           AND content = :content
         ORDER BY id LIMIT 1",
    )?;
    let params = named_params! { ":owner": tx.owner, ":content": content };
    row::one(&mut statement, params, "memory", content, memory)
}

/// A memory that has to be there.
pub(super) fn expect(tx: &Tx<'_>, which: &MemoryRef) -> Outcome<Memory> {
    let name = match which {
        MemoryRef::Id(id) => id.to_string(),
        MemoryRef::Key(key) => key.clone(),
    };
    find(tx, which)?.ok_or_else(|| StoreError::NotFound { what: "memory", id: name }.into())
}

/// The number of the next memory; a forgotten one's is never used again.
pub(super) fn reserve_id(tx: &Tx<'_>) -> Outcome<MemoryId> {
    let last: Option<i64> = tx
        .sql
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'memory'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(MemoryId(last.unwrap_or(0) + 1))
}

/// A memory's number as its key, with strokes where somebody has used that key already.
pub(super) fn free_key(tx: &Tx<'_>, id: MemoryId) -> Outcome<String> {
    let mut key = id.to_string();
    while find(tx, &MemoryRef::Key(key.clone()))?.is_some_and(|other| other.id != id) {
        key.push(STROKE);
    }
    Ok(key)
}

/// Another memory's key, of one of the owner's, that is this key or looks like it.
pub(super) fn owners_like(tx: &Tx<'_>, key: &str, but: Option<MemoryId>) -> Outcome<Option<String>> {
    let look = KeyLook::of(key);
    let mut statement =
        tx.sql.prepare_cached("SELECT key FROM memory WHERE owner = ? AND id IS NOT ? AND trust IN (?, ?)")?;
    let params = (tx.owner, but.map(|id| id.0), Trust::Owner.as_str(), Trust::File.as_str());
    for mine in statement.query_map(params, |row| row.get::<_, String>(0))? {
        let mine = mine?;
        if mine == key || (!look.is_empty() && KeyLook::of(&mine).is_like(&look)) {
            return Ok(Some(mine));
        }
    }
    Ok(None)
}

/// Writes a memory's row, whether it exists or not, and its words, and returns the memory as it is from then on. What was archived is among
/// the others again. A stranger's has no key that looks like one of the owner's, whenever it comes: it goes by its number then.
pub(super) fn put(tx: &Tx<'_>, mut memory: Memory) -> Outcome<Memory> {
    if memory.trust.is_foreign()
        && let Some(mine) = owners_like(tx, &memory.key, Some(memory.id))?
    {
        let goes_by_number = memory.key.trim_end_matches(STROKE) == memory.id.to_string();
        if mine == memory.key || !goes_by_number {
            memory.key = free_key(tx, memory.id)?;
        }
    }
    write(tx, &memory)?;
    Ok(memory)
}

fn write(tx: &Tx<'_>, memory: &Memory) -> Outcome<()> {
    let (before, after) = (memory_index::indexed(tx, memory.id)?, Indexed::of(memory));
    tx.sql
        .prepare_cached(
            "INSERT INTO memory (id, owner, key, content, category, hits, score, pinned, trust, words, created_ms,
                                 updated_ms)
             VALUES (:id, :owner, :key, :content, :category, :hits, :score, :pinned, :trust, :words, :created, :updated)
             ON CONFLICT (id) DO UPDATE SET key = :key, content = :content, category = :category, hits = :hits,
               score = :score, pinned = :pinned, trust = :trust, words = :words, archived = 0, updated_ms = :updated",
        )?
        .execute(named_params! {
            ":id": memory.id.0, ":owner": tx.owner, ":key": memory.key, ":content": memory.content,
            ":category": memory.category.as_str(), ":hits": memory.hits, ":score": memory.score,
            ":pinned": memory.pinned, ":trust": memory.trust.as_str(), ":words": stored(after.words.len()),
            ":created": memory.created_ms, ":updated": memory.updated_ms,
        })?;
    memory_index::replace(tx, memory.id, before, after)
}

/// Takes a memory and its words away.
pub(super) fn remove(tx: &Tx<'_>, id: MemoryId) -> Outcome<()> {
    let before = memory_index::indexed(tx, id)?;
    let removed = tx.sql.prepare_cached("DELETE FROM memory WHERE owner = ? AND id = ?")?.execute((tx.owner, id.0))?;
    if removed == 1 { memory_index::remove(tx, id, before) } else { Ok(()) }
}

/// Has each memory of a stranger's whose key is that of one of the owner's, or looks like it, go by its number, so that a word of theirs
/// means one memory.
pub(super) fn number_look_alikes(tx: &Tx<'_>, mine: &Memory, now_ms: i64) -> Outcome<()> {
    let look = KeyLook::of(&mine.key);
    // A memory is found by its key also where it is archived.
    let mut statement = tx.sql.prepare_cached("SELECT * FROM memory WHERE owner = :owner AND trust <> :own")?;
    let params = named_params! { ":owner": tx.owner, ":own": Trust::Owner.as_str() };
    let others = row::list(&mut statement, params, "memory", "id", memory)?;
    let is_alike = |other: &Memory| {
        let is_theirs = other.trust.is_foreign() && other.id != mine.id;
        is_theirs && (other.key == mine.key || KeyLook::of(&other.key).is_like(&look))
    };
    for theirs in others.rows.into_iter().filter(is_alike) {
        let numbered = Memory { key: free_key(tx, theirs.id)?, ..theirs.clone() };
        let of_it = (tx.owner, theirs.id.0);
        let archived: bool = tx
            .sql
            .prepare_cached("SELECT archived FROM memory WHERE owner = ? AND id = ?")?
            .query_row(of_it, |row| row.get(0))?;
        write(tx, &numbered)?;
        // It stays where it is.
        if archived {
            tx.sql.prepare_cached("UPDATE memory SET archived = 1 WHERE owner = ? AND id = ?")?.execute(of_it)?;
        }
        memory_events::record(tx, MemoryEventKind::Updated, Some(&theirs), Some(&numbered), None, now_ms)?;
    }
    Ok(())
}

/// Writes a memory as it was, and returns it. Another one of the owner's may have taken its key since; of strangers none keeps it.
pub(super) fn restore(tx: &Tx<'_>, memory: &Memory, now_ms: i64) -> Outcome<Memory> {
    if !memory.trust.is_foreign() {
        number_look_alikes(tx, memory, now_ms)?;
    }
    match put(tx, memory.clone()) {
        Err(Failure::Sql(error)) if is_taken(&error) => {
            let reason = format!("the key {} is another memory's; change that one first", memory.key);
            Err(StoreError::Invalid(reason).into())
        }
        put => put,
    }
}
