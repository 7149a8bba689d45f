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
/// Where rarer words are present, a large store looks only for these; the ranker still counts the common ones. The owner's memories
/// are chosen as if no stranger's were there: these are counted and looked for apart, however many there are.
pub(super) fn candidates(tx: &Tx<'_>, words: &[String], meaning: Option<&Meaning>, limit: u32) -> Outcome<Candidates> {
    let words: Vec<&String> = words.iter().filter(|word| word.contains(char::is_alphanumeric)).collect();
    let (whole, theirs) = (corpus(tx, Counted::Every, &words)?, corpus(tx, Counted::Strangers, &words)?);
    let corpus = without(&whole, &theirs);
    let strangers = if theirs.documents > 0 { Strangers::all(tx)? } else { Strangers::default() };
    let limit = limit as usize;
    let mut ids = promising(tx, &selecting(&corpus), (Side::Owner, &strangers), limit)?;
    if theirs.documents > 0 {
        ids.extend(promising(tx, &selecting(&whole), (Side::Strangers, &strangers), limit)?);
    }
    let likenesses = match meaning {
        Some(meaning) => Likenesses::of_memories(tx, meaning)?,
        None => Likenesses::default(),
    };
    ids.extend(likenesses.nearest(|id| strangers.have(id)));
    ids.sort_unstable();
    ids.dedup();
    let mut found = Candidates { corpus, whole, ..Candidates::default() };
    let mut statement = tx.sql.prepare_cached("SELECT * FROM memory WHERE owner = ? AND id = ?")?;
    for id in ids {
        let listed = row::list(&mut statement, (tx.owner, id), "memory", "id", memory)?;
        found.memories.extend(listed.rows);
        found.broken.extend(listed.broken);
    }
    found.likeness = likenesses.of(found.memories.iter().map(|memory| memory.id), |id| id.0);
    Ok(found)
}

/// Whose memories are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Owner,
    Strangers,
}

/// The numbers of the memories that were stored because of a stranger's text, in their order.
#[derive(Default)]
struct Strangers(Vec<i64>);

impl Strangers {
    fn all(tx: &Tx<'_>) -> Outcome<Self> {
        let mut statement = tx.sql.prepare_cached(
            "SELECT id FROM memory INDEXED BY memory_of_strangers
             WHERE owner = ? AND trust IN ('guest', 'outside') ORDER BY id",
        )?;
        let ids = statement.query_map([tx.owner], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(Self(ids))
    }

    fn have(&self, id: i64) -> bool {
        self.0.binary_search(&id).is_ok()
    }
}

/// A word that selects memories.
struct Selecting<'a> {
    word: &'a str,
    worth: f64,
    /// So many of the newest memories that hold it are looked at.
    most: u32,
}

/// The words that select memories where so many hold them.
fn selecting(corpus: &Corpus) -> Vec<Selecting<'_>> {
    let rare = |count: u64| corpus.documents <= LARGE || count * RARE <= corpus.documents;
    let held = || corpus.holding.iter().filter(|(_, count)| *count > 0);
    let any_rare = held().any(|(_, count)| rare(*count));
    let selecting = held().filter(|(_, count)| !any_rare || rare(*count));
    let selecting = selecting.map(|(word, count)| Selecting { word, worth: corpus.worth(*count), most: MOST_RARE });
    let mut selecting: Vec<_> = selecting.collect();
    if !any_rare {
        share_out(&mut selecting);
    }
    selecting
}

/// Shares out how many memories common words may select: what costs is each match, not each memory.
fn share_out(words: &mut [Selecting<'_>]) {
    let each = MOST_COMMON / u32::try_from(words.len()).unwrap_or(MOST_COMMON).max(1);
    words.iter_mut().for_each(|word| word.most = each.max(1));
}

/// The memories of one side whose words are worth most together, of equals the newest.
fn promising(
    tx: &Tx<'_>,
    words: &[Selecting<'_>],
    (side, strangers): (Side, &Strangers),
    limit: usize,
) -> Outcome<Vec<i64>> {
    // One index holds the words of all owners; a join for each match costs more than the search itself.
    let alone: bool = tx
        .sql
        .prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM memory_total WHERE owner <> ? AND memories > 0)")?
        .query_row([tx.owner], |row| row.get(0))?;
    let mut statement = tx.sql.prepare_cached(if alone {
        "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :word AND :owner IS NOT NULL ORDER BY rowid DESC"
    } else {
        "SELECT memory.id FROM memory_fts CROSS JOIN memory ON memory.id = memory_fts.rowid
         WHERE memory_fts MATCH :word AND memory.owner = :owner ORDER BY memory_fts.rowid DESC"
    })?;
    let mut held: Vec<(i64, f64)> = Vec::new();
    for Selecting { word, worth, most } in words {
        let mut rows = statement.query(named_params! { ":word": quoted(word), ":owner": tx.owner })?;
        let mut left = *most;
        while left > 0
            && let Some(row) = rows.next()?
        {
            let id = row.get(0)?;
            let of = if strangers.have(id) { Side::Strangers } else { Side::Owner };
            // A stranger's takes no room among the owner's. The other way round it does: else each word that is common among the
            // owner's would be gone through to its end.
            if of == Side::Owner || side == Side::Strangers {
                left -= 1;
            }
            if of == side {
                held.push((id, *worth));
            }
        }
    }
    // A few runs that are in order already, which a stable sort only merges.
    held.sort_by_key(|(id, _)| Reverse(*id));
    held.dedup_by(|next, first| {
        let same = next.0 == first.0;
        first.1 += if same { next.1 } else { 0.0 };
        same
    });
    if held.len() > limit {
        held.select_nth_unstable_by(limit, |a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        held.truncate(limit);
    }
    Ok(held.into_iter().map(|(id, _)| id).collect())
}

/// Which memories are counted.
#[derive(Clone, Copy)]
enum Counted {
    Every,
    Strangers,
}

/// How many memories there are, how long they are together, and how many hold each word.
fn corpus(tx: &Tx<'_>, counted: Counted, words: &[&String]) -> Outcome<Corpus> {
    let (total, word) = match counted {
        Counted::Every => (
            "SELECT memories, words FROM memory_total WHERE owner = ?",
            "SELECT memories FROM memory_word WHERE owner = ? AND word = ?",
        ),
        Counted::Strangers => (
            "SELECT memories, words FROM memory_total_of_strangers WHERE owner = ?",
            "SELECT memories FROM memory_word_of_strangers WHERE owner = ? AND word = ?",
        ),
    };
    let total: Option<(i64, i64)> =
        tx.sql.prepare_cached(total)?.query_row([tx.owner], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (documents, length) = total.unwrap_or_default();
    let mut corpus = Corpus { documents: documents.unsigned_abs(), words: length.unsigned_abs(), holding: Vec::new() };
    let mut statement = tx.sql.prepare_cached(word)?;
    for word in words {
        let count: Option<i64> = statement.query_row((tx.owner, word), |row| row.get(0)).optional()?;
        corpus.holding.push(((*word).clone(), count.unwrap_or_default().unsigned_abs()));
    }
    Ok(corpus)
}

/// What is left of a corpus without a part of it; both have the same words.
fn without(whole: &Corpus, part: &Corpus) -> Corpus {
    let pairs = whole.holding.iter().zip(&part.holding);
    Corpus {
        documents: whole.documents.saturating_sub(part.documents),
        words: whole.words.saturating_sub(part.words),
        holding: pairs.map(|((word, all), (_, some))| (word.clone(), all.saturating_sub(*some))).collect(),
    }
}

/// A word as a string of the full-text query language, which ends at a NUL.
pub(super) fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\0', " ").replace('"', "\"\""))
}
