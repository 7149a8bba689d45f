//! Memories that hold words of a query, or are near its meaning.

use std::cmp::Reverse;

use limpid_core::recall::{Corpus, Meaning};
use rusqlite::{OptionalExtension, named_params};

use super::Tx;
use super::failure::Outcome;
use super::memory_row::memory;
use super::row;
use super::vectors::Likenesses;
use crate::Candidates;

/// Memories from which common words stop to select: below, looking at all of them costs nothing.
const LARGE: u64 = 1000;

/// Of so many memories at most one may hold a word that selects, in a large store (2 %).
const RARE: u64 = 50;

/// Memories that one rare word selects at most, the newest: all that hold it among a million.
const MOST_RARE: u32 = 20_000;

/// Memories that common words select at most together, the newest of each, where no rarer word is left to tell them apart.
const MOST_COMMON: u32 = 4_000;

/// Memories that hold a word of the query or are near its meaning, with what the ranker needs.
///
/// Where rarer words are present, a large store looks only for these; the ranker still counts the common ones.
pub(super) fn candidates(tx: &Tx<'_>, words: &[String], meaning: Option<&Meaning>, limit: u32) -> Outcome<Candidates> {
    let words: Vec<&String> = words.iter().filter(|word| word.contains(char::is_alphanumeric)).collect();
    let mut corpus = corpus(tx)?;
    for word in &words {
        let holding = holding(tx, word)?;
        corpus.holding.push(((*word).clone(), holding));
    }
    let rare = |count: u64| corpus.documents <= LARGE || count * RARE <= corpus.documents;
    let held = || corpus.holding.iter().filter(|(_, count)| *count > 0);
    let any_rare = held().any(|(_, count)| rare(*count));
    let selecting = held().filter(|(_, count)| !any_rare || rare(*count));
    let selecting = selecting.map(|(word, count)| Selecting { word, worth: corpus.worth(*count), most: MOST_RARE });
    let mut selecting: Vec<_> = selecting.collect();
    if !any_rare {
        share_out(&mut selecting);
    }
    let mut ids = promising(tx, &selecting, limit as usize)?;
    let likenesses = match meaning {
        Some(meaning) => Likenesses::of_memories(tx, meaning)?,
        None => Likenesses::default(),
    };
    ids.extend(likenesses.nearest());
    ids.sort_unstable();
    ids.dedup();
    let mut found = Candidates { corpus, ..Candidates::default() };
    let mut statement = tx.sql.prepare_cached("SELECT * FROM memory WHERE owner = ? AND id = ?")?;
    for id in ids {
        let listed = row::list(&mut statement, (tx.owner, id), "memory", "id", memory)?;
        found.memories.extend(listed.rows);
        found.broken.extend(listed.broken);
    }
    found.likeness = likenesses.of(found.memories.iter().map(|memory| memory.id), |id| id.0);
    Ok(found)
}

/// Memories, at most, whose labels are looked at.
const LOOKED_AT: usize = 4000;

/// A word that selects memories.
struct Selecting<'a> {
    word: &'a str,
    worth: f64,
    /// So many of the newest memories that hold it are looked at.
    most: u32,
}

/// Shares out how many memories common words may select: what costs is each match, not each memory.
fn share_out(words: &mut [Selecting<'_>]) {
    let each = MOST_COMMON / u32::try_from(words.len()).unwrap_or(MOST_COMMON).max(1);
    words.iter_mut().for_each(|word| word.most = each.max(1));
}

/// The memories whose words are worth most together, of equals the newest.
fn promising(tx: &Tx<'_>, words: &[Selecting<'_>], limit: usize) -> Outcome<Vec<i64>> {
    // One index holds the words of all owners; a join for each match costs more than the search itself.
    let alone: bool = tx
        .sql
        .prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM memory_total WHERE owner <> ? AND memories > 0)")?
        .query_row([tx.owner], |row| row.get(0))?;
    let mut statement = tx.sql.prepare_cached(if alone {
        "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :word AND :owner IS NOT NULL
         ORDER BY rowid DESC LIMIT :most"
    } else {
        "SELECT memory.id FROM memory_fts JOIN memory ON memory.id = memory_fts.rowid
         WHERE memory_fts MATCH :word AND memory.owner = :owner ORDER BY memory_fts.rowid DESC LIMIT :most"
    })?;
    let mut held: Vec<(i64, f64)> = Vec::new();
    for Selecting { word, worth, most } in words {
        let params = named_params! { ":word": quoted(word), ":owner": tx.owner, ":most": most };
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            held.push((row.get(0)?, *worth));
        }
    }
    // A few runs that are in order already, which a stable sort only merges.
    held.sort_by_key(|(id, _)| Reverse(*id));
    held.dedup_by(|next, first| {
        let same = next.0 == first.0;
        first.1 += if same { next.1 } else { 0.0 };
        same
    });
    if held.len() <= limit {
        return Ok(held.into_iter().map(|(id, _)| id).collect());
    }
    let best = |a: &(i64, f64), b: &(i64, f64)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
    if held.len() > LOOKED_AT {
        held.select_nth_unstable_by(LOOKED_AT, best);
        held.truncate(LOOKED_AT);
    }
    held.sort_unstable_by(best);
    // So many of each side: strangers' memories take no place of the owner's, however many say the same.
    let mut is_foreign = tx.sql.prepare_cached("SELECT trust IN ('guest', 'outside') FROM memory WHERE id = ?")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (id, _) in held {
        let is_foreign: Option<bool> = is_foreign.query_row([id], |row| row.get(0)).optional()?;
        let side = if is_foreign.unwrap_or_default() { &mut theirs } else { &mut ours };
        if side.len() < limit {
            side.push(id);
        }
    }
    Ok([ours, theirs].concat())
}

fn corpus(tx: &Tx<'_>) -> Outcome<Corpus> {
    let total: Option<(i64, i64)> = tx
        .sql
        .prepare_cached("SELECT memories, words FROM memory_total WHERE owner = ?")?
        .query_row([tx.owner], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (documents, words) = total.unwrap_or_default();
    Ok(Corpus { documents: documents.unsigned_abs(), words: words.unsigned_abs(), holding: Vec::new() })
}

/// How many memories hold a word.
fn holding(tx: &Tx<'_>, word: &str) -> Outcome<u64> {
    let count: Option<i64> = tx
        .sql
        .prepare_cached("SELECT memories FROM memory_word WHERE owner = ? AND word = ?")?
        .query_row((tx.owner, word), |row| row.get(0))
        .optional()?;
    Ok(count.unwrap_or_default().unsigned_abs())
}

/// A word as a string of the full-text query language, which ends at a NUL.
pub(super) fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\0', " ").replace('"', "\"\""))
}
