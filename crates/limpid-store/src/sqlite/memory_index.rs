//! How much of the memories search covers, and how the index is made anew when it is damaged.

use limpid_core::recall::{index_words, text_words};
use limpid_core::{Memory, MemoryId, Trust};
use rusqlite::{ErrorCode, OptionalExtension, Row, named_params};

use super::Tx;
use super::failure::{Failure, Outcome};
use super::memory_row::memory;
use crate::{IndexState, StoreError};

/// Counts memories and those that the index has.
pub(super) fn state(tx: &Tx<'_>) -> Outcome<IndexState> {
    let count = |sql: &str| -> Outcome<u64> {
        let count: i64 = tx.sql.prepare_cached(sql)?.query_row([tx.owner], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    };
    Ok(IndexState {
        memories: count("SELECT count(*) FROM memory WHERE owner = ?")?,
        indexed: count("SELECT count(*) FROM memory JOIN memory_fts_docsize USING (id) WHERE owner = ?")?,
    })
}

/// What the index has of a memory.
#[derive(PartialEq, Eq)]
pub(super) struct Indexed {
    /// The words that it is found by.
    pub(super) words: Vec<String>,
    /// Whether it is counted among those of strangers.
    is_strangers: bool,
}

impl Indexed {
    pub(super) fn of(memory: &Memory) -> Self {
        Self { words: index_words(memory), is_strangers: memory.trust.is_foreign() }
    }
}

/// What the index has of a memory as it is stored; none when there is no such memory.
pub(super) fn indexed(tx: &Tx<'_>, id: MemoryId) -> Outcome<Option<Indexed>> {
    let indexed = |row: &Row<'_>| -> rusqlite::Result<Indexed> {
        let mut words = text_words(&row.get::<_, String>(0)?);
        words.extend(text_words(&row.get::<_, String>(1)?));
        let trust = row.get::<_, String>(2)?.parse::<Trust>();
        Ok(Indexed { words, is_strangers: trust.is_ok_and(Trust::is_foreign) })
    };
    let mut statement = tx.sql.prepare_cached("SELECT key, content, trust FROM memory WHERE owner = ? AND id = ?")?;
    Ok(statement.query_row((tx.owner, id.0), indexed).optional()?)
}

/// Indexes a memory like this in the place of what the index had of it before.
pub(super) fn replace(tx: &Tx<'_>, id: MemoryId, before: Option<Indexed>, after: Indexed) -> Outcome<()> {
    if before.as_ref() == Some(&after) {
        return Ok(());
    }
    if before.as_ref().is_none_or(|before| before.words != after.words) {
        tx.sql
            .prepare_cached("INSERT OR REPLACE INTO memory_fts (rowid, words) VALUES (?, ?)")?
            .execute((id.0, after.words.join(" ")))?;
    }
    if let Some(before) = before {
        count(tx, before, -1)?;
    }
    count(tx, after, 1)
}

/// Takes a memory that is gone out of the index.
pub(super) fn remove(tx: &Tx<'_>, id: MemoryId, before: Option<Indexed>) -> Outcome<()> {
    tx.sql.prepare_cached("DELETE FROM memory_fts WHERE rowid = ?")?.execute([id.0])?;
    before.map_or(Ok(()), |before| count(tx, before, -1))
}

/// Empties the index and writes every memory's words again, whoever owns it.
pub(super) fn rebuild(tx: &Tx<'_>) -> Outcome<u64> {
    tx.sql.execute("INSERT INTO memory_fts (memory_fts) VALUES ('delete-all')", [])?;
    tx.sql.execute("DELETE FROM memory_word", [])?;
    tx.sql.execute("DELETE FROM memory_word_of_strangers", [])?;
    let mut every = tx.sql.prepare("SELECT * FROM memory ORDER BY id")?;
    let mut rows = every.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        // A row that cannot be read is not found either; lists tell of it.
        if let Ok(memory) = memory(row) {
            let owner: String = row.get("owner")?;
            replace(&Tx { owner: &owner, ..*tx }, memory.id, None, Indexed::of(&memory))?;
            count += 1;
        }
    }
    Ok(count)
}

/// Counts one memory more or less for each of its words; one of a stranger's is counted among these, too.
fn count(tx: &Tx<'_>, indexed: Indexed, change: i64) -> Outcome<()> {
    let Indexed { mut words, is_strangers } = indexed;
    words.sort_unstable();
    words.dedup();
    for table in ["memory_word"].into_iter().chain(is_strangers.then_some("memory_word_of_strangers")) {
        let mut statement = tx.sql.prepare_cached(&format!(
            "INSERT INTO {table} (owner, word, memories) VALUES (:owner, :word, max(:change, 0))
             ON CONFLICT (owner, word) DO UPDATE SET memories = max(memories + :change, 0)"
        ))?;
        for word in &words {
            statement.execute(named_params! { ":owner": tx.owner, ":word": word, ":change": change })?;
        }
    }
    Ok(())
}

/// Tells a damaged index from a damaged database: the memories themselves can be read.
pub(super) fn trouble(tx: &Tx<'_>, failure: Failure) -> Failure {
    let Failure::Sql(error) = &failure else { return failure };
    let whole = "SELECT coalesce(sum(octet_length(content)), 0) FROM memory";
    let readable = || tx.sql.query_row(whole, [], |row| row.get::<_, i64>(0));
    if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) && readable().is_ok() {
        let reason = "it is damaged; `limpid memory reindex` makes it anew".to_owned();
        return StoreError::Broken { what: "the search index", id: "of memories".to_owned(), reason }.into();
    }
    failure
}
