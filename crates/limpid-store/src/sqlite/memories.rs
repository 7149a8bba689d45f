//! Memories and what happened to them.

use async_trait::async_trait;
use limpid_core::memory::PROMOTION_HITS;
use limpid_core::recall::{DEMOTE_POINTS, Meaning, REINFORCE_POINTS};
use limpid_core::{Category, Memory, MemoryId, Trust};
use rusqlite::named_params;

use super::failure::Outcome;
use super::instructing::raise;
use super::memory_row::memory;
use super::memory_table::{
    expect, find, find_content, free_key, number_look_alikes, owners_like, put, remove, reserve_id, restore,
};
use super::row;
use super::{SqliteStore, Tx, archive, memory_events, memory_index, promotions, provenance, recall};
use crate::{
    Author, Candidates, IndexState, Listed, Memories, MemoryChange, MemoryEvent, MemoryEventId, MemoryEventKind,
    MemoryRef, NewMemory, NewRaisedLabel, Provenance, RaisingAct, StoreError, StoredMemory,
};

#[async_trait]
impl Memories for SqliteStore {
    async fn store_memory(&self, new: NewMemory) -> Result<StoredMemory, StoreError> {
        self.write(move |tx| store(tx, &new)).await
    }

    async fn update_memory(&self, which: &MemoryRef, change: MemoryChange) -> Result<Memory, StoreError> {
        let which = which.clone();
        self.write(move |tx| {
            if let Some((content, _)) = change.content.as_ref().filter(|(_, trust)| trust.is_foreign()) {
                memory_events::check_room(tx, content.len(), change.now_ms)?;
            }
            let is_strangers = change.content.as_ref().is_some_and(|(_, trust)| trust.is_foreign());
            if is_strangers && !change.adopts {
                let known = expect(tx, &which)?;
                if !known.trust.is_foreign() {
                    return Err(is_owners(&known).into());
                }
            }
            let said = Some((change.author, change.source.as_deref()));
            let mut own_key = None;
            if let Some((content, trust)) = change.content.as_ref().filter(|_| change.adopts) {
                let known = expect(tx, &which)?;
                adopt(tx, &known, (content, *trust), change.source.as_deref(), change.now_ms)?;
                // A stranger's key becomes the owner's only when they named the memory by it themselves.
                let is_named = matches!(which, MemoryRef::Key(_)) && !change.led;
                if !is_named && known.trust.is_foreign() && !trust.is_foreign() {
                    own_key = Some(free_key(tx, known.id)?);
                }
            }
            let changed = change_memory(tx, &which, MemoryEventKind::Updated, said, change.now_ms, |memory| {
                if let Some(key) = own_key {
                    memory.key = key;
                }
                if let Some((content, trust)) = change.content {
                    memory.content = content;
                    memory.trust = if change.adopts { trust } else { memory.trust.join(trust) };
                }
                memory.category = change.category.unwrap_or(memory.category);
                memory.updated_ms = change.now_ms;
            })?;
            if change.adopts && !changed.trust.is_foreign() {
                number_look_alikes(tx, &changed, change.now_ms)?;
            }
            Ok(changed)
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

fn store(tx: &Tx<'_>, new: &NewMemory) -> Outcome<StoredMemory> {
    if new.trust.is_foreign() {
        let key = new.key.as_ref().map_or(0, String::len);
        memory_events::check_room(tx, key + new.content.len(), new.now_ms)?;
    }
    let known = match &new.key {
        Some(key) => find(tx, &MemoryRef::Key(key.clone()))?,
        None => find_content(tx, &new.content)?,
    };
    if new.trust.is_foreign() {
        refuse_over_owners(tx, new, known.as_ref())?;
    }
    // What is said without a stranger's text at hand is another memory than theirs, also where they had the same words stored before:
    // it has none of that one's label, hits and age.
    let known = match known {
        Some(theirs) if new.trust < theirs.trust => {
            remove(tx, theirs.id)?;
            memory_events::record(tx, MemoryEventKind::Forgotten, Some(&theirs), None, None, new.now_ms)?;
            None
        }
        known => known,
    };
    let memory = match &known {
        Some(known) => {
            let same = known.content == new.content;
            Memory {
                content: new.content.clone(),
                // A text that was known keeps the label that it came with, and no other one makes it better.
                trust: if same { known.trust } else { known.trust.join(new.trust) },
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
    let memory = put(tx, memory)?;
    let said = Some((new.author, new.source.as_deref()));
    memory_events::record(tx, MemoryEventKind::Stored, known.as_ref(), Some(&memory), said, new.now_ms)?;
    if !memory.trust.is_foreign() {
        number_look_alikes(tx, &memory, new.now_ms)?;
    }
    Ok(StoredMemory { memory, fresh: known.is_none() })
}

/// Refuses a memory stored because of a stranger's text in the place of one of the owner's, or under a key that looks like one of theirs:
/// a word of theirs has to mean one memory. It is looked for where it is written, since the owner may have stored it a moment ago.
fn refuse_over_owners(tx: &Tx<'_>, new: &NewMemory, known: Option<&Memory>) -> Outcome<()> {
    if let Some(known) = known {
        let is_over = !known.trust.is_foreign() && known.content != new.content;
        return if is_over { Err(is_owners(known).into()) } else { Ok(()) };
    }
    let Some(key) = new.key.as_deref().map(|key| owners_like(tx, key, None)).transpose()?.flatten() else {
        return Ok(());
    };
    let why = format!(
        "the owner has a memory with almost this key, {key}, and this turn has read text of strangers; keep it under another key"
    );
    Err(StoreError::Invalid(why).into())
}

fn is_owners(memory: &Memory) -> StoreError {
    StoreError::Invalid(format!(
        "{} is the owner's, and this turn has read text of strangers, so it was left as it is; the owner can change it, or it can be kept \
         under another key",
        memory.key
    ))
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
    let after = put(tx, after)?;
    memory_events::record(tx, kind, Some(&before), Some(&after), said, now_ms)?;
    Ok(after)
}

/// Writes down that the owner makes a memory their own with this content, if it was not theirs.
fn adopt(
    tx: &Tx<'_>,
    known: &Memory,
    (content, trust): (&str, Trust),
    source: Option<&str>,
    now_ms: i64,
) -> Outcome<()> {
    if trust >= known.trust {
        return Ok(());
    }
    let raised = NewRaisedLabel {
        act: RaisingAct::Memory,
        subject: known.id.to_string(),
        shown: content.to_owned(),
        source: source.unwrap_or_default().to_owned(),
        now_ms,
    };
    raise(tx, &raised, None)
}

fn undo(tx: &Tx<'_>, event: MemoryEventId, now_ms: i64) -> Outcome<Option<Memory>> {
    let event = memory_events::find(tx, event)?;
    let current = find(tx, &MemoryRef::Id(event.memory))?;
    let restored = match &event.before {
        Some(before) => {
            if let Some(current) = &current {
                adopt(tx, current, (&before.content, before.trust), Some("undo"), now_ms)?;
            }
            Some(restore(tx, before, now_ms)?)
        }
        None => {
            remove(tx, event.memory)?;
            None
        }
    };
    if event.kind == MemoryEventKind::Promoted {
        promotions::take_out(tx, event.memory.0, now_ms)?;
    }
    if current.is_some() || restored.is_some() {
        let kind = MemoryEventKind::Undone;
        memory_events::record(tx, kind, current.as_ref(), restored.as_ref(), None, now_ms)?;
    }
    Ok(restored)
}
