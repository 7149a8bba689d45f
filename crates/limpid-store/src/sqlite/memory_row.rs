//! A row of the table of memories, read.

use limpid_core::{Memory, MemoryId, Trust};
use rusqlite::Row;

use super::row::{Read, get, parsed, word};

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
