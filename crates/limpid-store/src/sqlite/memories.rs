//! Memories and what happened to them.

use async_trait::async_trait;
use limpid_core::memory::PROMOTION_HITS;
use limpid_core::recall::{DEMOTE_POINTS, Meaning, REINFORCE_POINTS, index_words};
use limpid_core::{Category, Memory, MemoryId, Trust};
use rusqlite::{OptionalExtension, Row, named_params};

use super::failure::{Failure, Outcome, is_taken};
use super::row::{self, Read, get, parsed, stored, word};
use super::{SqliteStore, Tx, archive, memory_events, memory_index, promotions, provenance, recall};
use crate::{
    Author, Candidates, IndexState, Listed, Memories, MemoryChange, MemoryEvent, MemoryEventId, MemoryEventKind,
    MemoryRef, NewMemory, Provenance, StoreError, StoredMemory,
};

#[async_trait]
impl Memories for SqliteStore {
    async fn store_memory(&self, new: NewMemory) -> Result<StoredMemory, StoreError> {
        self.write(move |tx| store(tx, &new)).await
    }

    async fn update_memory(&self, which: &MemoryRef, change: MemoryChange) -> Result<Memory, StoreError> {
        let which = which.clone();
        self.write(move |tx| {
            let said = Some((change.author, change.source.as_deref()));
            change_memory(tx, &which, MemoryEventKind::Updated, said, change.now_ms, |memory| {
                if let Some((content, trust)) = change.content {
                    memory.content = content;
                    memory.trust = trust;
                }
                memory.category = change.category.unwrap_or(memory.category);
                memory.updated_ms = change.now_ms;
            })
        })
        .await
    }

    async fn forget_memory(&self, which: &MemoryRef, now_ms: i64) -> Result<Memory, StoreError> {
        let which = which.clone();
        self.write(move |tx| {
            let memory = expect(tx, &which)?;
            remove(tx, memory.id)?;
            memory_events::record(tx, MemoryEventKind::Forgotten, Some(&memory), None, None, now_ms)?;
            Ok(memory)
        })
        .await
    }

    async fn reinforce_memory(&self, which: &MemoryRef, now_ms: i64) -> Result<Memory, StoreError> {
        let which = which.clone();
        self.write(move |tx| {
            change_memory(tx, &which, MemoryEventKind::Reinforced, None, now_ms, |memory| {
                memory.hits = memory.hits.saturating_add(1);
                memory.score = memory.score.saturating_add(REINFORCE_POINTS);
                memory.updated_ms = now_ms;
            })
        })
        .await
    }

    async fn demote_memory(&self, which: &MemoryRef, now_ms: i64) -> Result<Memory, StoreError> {
        let which = which.clone();
        self.write(move |tx| {
            change_memory(tx, &which, MemoryEventKind::Demoted, None, now_ms, |memory| {
                memory.score = memory.score.saturating_sub(DEMOTE_POINTS);
            })
        })
        .await
    }

    async fn pin_memory(&self, which: &MemoryRef, pinned: bool, now_ms: i64) -> Result<Memory, StoreError> {
        let which = which.clone();
        let kind = if pinned { MemoryEventKind::Pinned } else { MemoryEventKind::Unpinned };
        self.write(move |tx| change_memory(tx, &which, kind, None, now_ms, |memory| memory.pinned = pinned)).await
    }

    async fn undo_memory(&self, event: MemoryEventId, now_ms: i64) -> Result<Option<Memory>, StoreError> {
        self.write(move |tx| undo(tx, event, now_ms)).await
    }

    async fn memory(&self, which: &MemoryRef) -> Result<Option<Memory>, StoreError> {
        let which = which.clone();
        self.read(move |tx| find(tx, &which)).await
    }

    async fn memories(&self, category: Option<Category>) -> Result<Listed<Memory>, StoreError> {
        self.search(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM memory
                 WHERE owner = :owner AND archived = 0 AND (:category IS NULL OR category = :category)
                 ORDER BY created_ms, key",
            )?;
            let params = named_params! { ":owner": tx.owner, ":category": category.map(Category::as_str) };
            row::list(&mut statement, params, "memory", "id", memory)
        })
        .await
    }

    async fn prominent_memories(&self) -> Result<Listed<Memory>, StoreError> {
        self.read(|tx| {
            // The number stands in the text so that the partial index is found.
            let sql = format!(
                "SELECT * FROM memory WHERE owner = :owner AND archived = 0 AND id IN (
                   SELECT id FROM memory WHERE owner = :owner AND pinned = 1
                   UNION SELECT id FROM memory WHERE owner = :owner AND hits >= {PROMOTION_HITS})
                 ORDER BY created_ms, key"
            );
            let mut statement = tx.sql.prepare_cached(&sql)?;
            row::list(&mut statement, named_params! { ":owner": tx.owner }, "memory", "id", memory)
        })
        .await
    }

    async fn provenance(&self, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Provenance)>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |tx| provenance::of(tx, &ids)).await
    }

    async fn archive_memories(&self, max_bytes: u64, now_ms: i64) -> Result<u64, StoreError> {
        self.write(move |tx| archive::archive(tx, max_bytes, now_ms)).await
    }

    async fn archived_memories(&self) -> Result<Listed<Memory>, StoreError> {
        self.search(archive::list).await
    }

    async fn memory_index(&self) -> Result<IndexState, StoreError> {
        self.search(memory_index::state).await
    }

    async fn rebuild_memory_index(&self) -> Result<u64, StoreError> {
        self.write(memory_index::rebuild).await
    }

    async fn memory_events(&self, id: Option<MemoryId>) -> Result<Listed<MemoryEvent>, StoreError> {
        self.search(move |tx| memory_events::list(tx, id)).await
    }

    async fn candidates(
        &self,
        words: &[String],
        meaning: Option<&Meaning>,
        limit: u32,
    ) -> Result<Candidates, StoreError> {
        let (words, meaning) = (words.to_vec(), meaning.cloned());
        self.search(move |tx| {
            let found = recall::candidates(tx, &words, meaning.as_ref(), limit);
            found.map_err(|failure| memory_index::trouble(tx, failure))
        })
        .await
    }
}

/// Reads a memory's row.
pub(super) fn memory(row: &Row<'_>) -> Read<Memory> {
    Ok(Memory {
        id: MemoryId(get(row, "id")?),
        key: get(row, "key")?,
        content: get(row, "content")?,
        category: word(row, "category")?,
        hits: get(row, "hits")?,
        score: get(row, "score")?,
        pinned: get(row, "pinned")?,
        trust: parsed(row, "trust", |word| word.parse::<Trust>().ok())?,
        created_ms: get(row, "created_ms")?,
        updated_ms: get(row, "updated_ms")?,
    })
}

fn store(tx: &Tx<'_>, new: &NewMemory) -> Outcome<StoredMemory> {
    let known = match &new.key {
        Some(key) => find(tx, &MemoryRef::Key(key.clone()))?,
        None => find_content(tx, &new.content)?,
    };
    let memory = match &known {
        Some(known) => {
            let same = known.content == new.content;
            Memory {
                content: new.content.clone(),
                // A text that was known keeps the label that it came with.
                trust: if same { known.trust } else { new.trust },
                updated_ms: new.now_ms,
                ..known.clone()
            }
        }
        None => {
            let id = reserve_id(tx)?;
            let key = match &new.key {
                Some(key) => key.clone(),
                None => free_key(tx, id)?,
            };
            Memory {
                id,
                key,
                content: new.content.clone(),
                category: new.category,
                hits: 1,
                score: 0,
                pinned: false,
                trust: new.trust,
                created_ms: new.now_ms,
                updated_ms: new.now_ms,
            }
        }
    };
    put(tx, &memory)?;
    let said = Some((new.author, new.source.as_deref()));
    memory_events::record(tx, MemoryEventKind::Stored, known.as_ref(), Some(&memory), said, new.now_ms)?;
    Ok(StoredMemory { memory, fresh: known.is_none() })
}

fn change_memory(
    tx: &Tx<'_>,
    which: &MemoryRef,
    kind: MemoryEventKind,
    said: Option<(Author, Option<&str>)>,
    now_ms: i64,
    change: impl FnOnce(&mut Memory),
) -> Outcome<Memory> {
    let before = expect(tx, which)?;
    let mut after = before.clone();
    change(&mut after);
    put(tx, &after)?;
    memory_events::record(tx, kind, Some(&before), Some(&after), said, now_ms)?;
    Ok(after)
}

fn undo(tx: &Tx<'_>, event: MemoryEventId, now_ms: i64) -> Outcome<Option<Memory>> {
    let event = memory_events::find(tx, event)?;
    let current = find(tx, &MemoryRef::Id(event.memory))?;
    match &event.before {
        Some(before) => restore(tx, before)?,
        None => remove(tx, event.memory)?,
    }
    if event.kind == MemoryEventKind::Promoted {
        promotions::take_out(tx, event.memory.0, now_ms)?;
    }
    if current.is_some() || event.before.is_some() {
        let kind = MemoryEventKind::Undone;
        memory_events::record(tx, kind, current.as_ref(), event.before.as_ref(), None, now_ms)?;
    }
    Ok(event.before)
}

/// Writes a memory as it was; another one may have taken its key since.
pub(super) fn restore(tx: &Tx<'_>, memory: &Memory) -> Outcome<()> {
    match put(tx, memory) {
        Err(Failure::Sql(error)) if is_taken(&error) => {
            let reason = format!("the key {} is another memory's; change that one first", memory.key);
            Err(StoreError::Invalid(reason).into())
        }
        put => put,
    }
}

fn find(tx: &Tx<'_>, which: &MemoryRef) -> Outcome<Option<Memory>> {
    let (sql, name) = match which {
        MemoryRef::Id(id) => ("SELECT * FROM memory WHERE owner = ?1 AND id = CAST(?2 AS INTEGER)", id.to_string()),
        MemoryRef::Key(key) => ("SELECT * FROM memory WHERE owner = ?1 AND key = ?2", key.clone()),
    };
    row::one(&mut *tx.sql.prepare_cached(sql)?, (tx.owner, &name), "memory", &name, memory)
}

fn find_content(tx: &Tx<'_>, content: &str) -> Outcome<Option<Memory>> {
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
fn reserve_id(tx: &Tx<'_>) -> Outcome<MemoryId> {
    let last: Option<i64> = tx
        .sql
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'memory'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(MemoryId(last.unwrap_or(0) + 1))
}

/// A memory's number as its key, with strokes where somebody has used that key already.
fn free_key(tx: &Tx<'_>, id: MemoryId) -> Outcome<String> {
    let mut key = id.to_string();
    while find(tx, &MemoryRef::Key(key.clone()))?.is_some() {
        key.push('\'');
    }
    Ok(key)
}

/// Writes a memory's row, whether it exists or not, and its words. What was archived is among the others again.
fn put(tx: &Tx<'_>, memory: &Memory) -> Outcome<()> {
    let (before, words) = (memory_index::words(tx, memory.id)?, index_words(memory));
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
            ":pinned": memory.pinned, ":trust": memory.trust.as_str(), ":words": stored(words.len()),
            ":created": memory.created_ms, ":updated": memory.updated_ms,
        })?;
    memory_index::replace(tx, memory.id, before, &words)
}

/// Takes a memory and its words away.
pub(super) fn remove(tx: &Tx<'_>, id: MemoryId) -> Outcome<()> {
    let before = memory_index::words(tx, id)?;
    let removed = tx.sql.prepare_cached("DELETE FROM memory WHERE owner = ? AND id = ?")?.execute((tx.owner, id.0))?;
    if removed == 1 { memory_index::remove(tx, id, before) } else { Ok(()) }
}
