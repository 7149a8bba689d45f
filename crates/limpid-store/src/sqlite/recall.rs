//! Memories that hold words of a query.

use limpid_core::recall::Corpus;
use rusqlite::named_params;

use super::Tx;
use super::failure::Outcome;
use super::memories::memory;
use super::row;
use crate::Candidates;

/// Memories from which common words stop to select: below, looking at all of them costs nothing.
const LARGE: u64 = 1000;

/// Of so many memories at most one may hold a word that selects, in a large store (KOSHI-024: 2 %).
const RARE: u64 = 50;

/// Memories that hold a word of the query, with the counts that the ranker needs.
///
/// Where rarer words are present, a large store looks only for these; the ranker still counts the common ones.
pub(super) fn candidates(tx: &Tx<'_>, words: &[String], limit: u32) -> Outcome<Candidates> {
    let words: Vec<&String> = words.iter().filter(|word| word.contains(char::is_alphanumeric)).collect();
    let mut corpus = corpus(tx)?;
    for word in &words {
        let holding = holding(tx, word)?;
        corpus.holding.push(((*word).clone(), holding));
    }
    let rare = |count: u64| corpus.documents <= LARGE || count * RARE <= corpus.documents;
    let held = || corpus.holding.iter().filter(|(_, count)| *count > 0);
    let any_rare = held().any(|(_, count)| rare(*count));
    let selecting: Vec<String> =
        held().filter(|(_, count)| !any_rare || rare(*count)).map(|(word, _)| quoted(word)).collect();
    if selecting.is_empty() {
        return Ok(Candidates { memories: Vec::new(), corpus, broken: Vec::new() });
    }
    let mut statement = tx.sql.prepare_cached(
        "SELECT memory.* FROM memory_fts JOIN memory ON memory.id = memory_fts.rowid
         WHERE memory_fts MATCH :query AND memory.owner = :owner ORDER BY memory_fts.rank LIMIT :limit",
    )?;
    let params = named_params! { ":query": selecting.join(" OR "), ":owner": tx.owner, ":limit": limit };
    let listed = row::list(&mut statement, params, "memory", "id", memory)?;
    Ok(Candidates { memories: listed.rows, corpus, broken: listed.broken })
}

fn corpus(tx: &Tx<'_>) -> Outcome<Corpus> {
    let (documents, words): (i64, i64) = tx
        .sql
        .prepare_cached("SELECT count(*), coalesce(sum(words), 0) FROM memory WHERE owner = ?")?
        .query_row([tx.owner], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Corpus { documents: documents.unsigned_abs(), words: words.unsigned_abs(), holding: Vec::new() })
}

/// How many memories hold a word.
fn holding(tx: &Tx<'_>, word: &str) -> Outcome<u64> {
    let count: i64 = tx
        .sql
        .prepare_cached(
            "SELECT count(*) FROM memory_fts JOIN memory ON memory.id = memory_fts.rowid
             WHERE memory_fts MATCH ? AND memory.owner = ?",
        )?
        .query_row((quoted(word), tx.owner), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// A word as a string of the full-text query language, which ends at a NUL.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\0', " ").replace('"', "\"\""))
}
