//! How much of the memories search covers, and how the index is made anew when it is damaged (LES-058).

use limpid_core::recall::index_words;
use rusqlite::ErrorCode;

use super::Tx;
use super::failure::{Failure, Outcome};
use super::memories::memory;
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

/// Empties the index and writes every memory's words again, whoever owns it.
pub(super) fn rebuild(tx: &Tx<'_>) -> Outcome<u64> {
    tx.sql.execute("INSERT INTO memory_fts (memory_fts) VALUES ('delete-all')", [])?;
    let mut every = tx.sql.prepare("SELECT * FROM memory ORDER BY id")?;
    let mut insert = tx.sql.prepare("INSERT INTO memory_fts (rowid, words) VALUES (?, ?)")?;
    let mut rows = every.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        // A row that cannot be read is not found either; lists tell of it.
        if let Ok(memory) = memory(row) {
            insert.execute((memory.id.0, index_words(&memory).join(" ")))?;
            count += 1;
        }
    }
    Ok(count)
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
