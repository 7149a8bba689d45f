//! The ranks that the measure of recall compares.

use std::collections::HashMap;

use limpid_core::recall::{Corpus, Passage, Place, query_words, rank_passages, text_words};
use rusqlite::Connection;

use super::FIRST;
use super::data::Turn;

/// SQLite's own rank.
pub(super) struct Plain(Connection);

impl Plain {
    pub(super) fn new(turns: &[Turn]) -> rusqlite::Result<Self> {
        let sql = Connection::open_in_memory()?;
        sql.execute_batch("CREATE VIRTUAL TABLE turn USING fts5 (id UNINDEXED, text, tokenize = 'porter')")?;
        for turn in turns {
            sql.execute("INSERT INTO turn VALUES (?, ?)", (&turn.id, &turn.text))?;
        }
        Ok(Self(sql))
    }

    pub(super) fn first(&self, question: &str) -> rusqlite::Result<Vec<String>> {
        let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let query = words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let mut statement = self.0.prepare_cached("SELECT id FROM turn WHERE turn MATCH ? ORDER BY rank LIMIT ?")?;
        statement.query_map((query, FIRST as i64), |row| row.get(0))?.collect()
    }
}

/// The rank of memory and history search.
pub(super) struct Ranked {
    passages: Vec<Passage<String>>,
    holding: HashMap<String, u64>,
    words: u64,
    /// The last session.
    now_ms: i64,
}

impl Ranked {
    pub(super) fn new(turns: &[Turn]) -> Self {
        let passage = |(at, turn): (usize, &Turn)| Passage {
            words: text_words(&turn.text),
            place: Some(Place { session: turn.session, position: at as i64 }),
            speaker: text_words(&turn.speaker),
            said_ms: turn.said_ms,
            touched_ms: turn.said_ms.unwrap_or_default(),
            order: at as i64,
            ..Passage::new(turn.id.clone())
        };
        let passages: Vec<_> = turns.iter().enumerate().map(passage).collect();
        let mut holding: HashMap<String, u64> = HashMap::new();
        for passage in &passages {
            let mut words = passage.words.clone();
            words.sort();
            words.dedup();
            words.into_iter().for_each(|word| *holding.entry(word).or_default() += 1);
        }
        Self {
            words: passages.iter().map(|passage| passage.words.len() as u64).sum(),
            now_ms: turns.iter().filter_map(|turn| turn.said_ms).max().unwrap_or_default(),
            holding,
            passages,
        }
    }

    /// The first turns by words, and by how alike each is to the question's meaning where that is known.
    pub(super) fn fused(&self, question: &str, likeness: &[f64]) -> Vec<String> {
        let holding = query_words(question).into_iter().map(|word| {
            let count = self.holding.get(&word).copied().unwrap_or_default();
            (word, count)
        });
        let corpus = Corpus { documents: self.passages.len() as u64, words: self.words, holding: holding.collect() };
        let mut passages = self.passages.clone();
        passages.iter_mut().zip(likeness).for_each(|(passage, likeness)| passage.likeness = *likeness);
        let ranked = rank_passages(&corpus, passages, self.now_ms);
        ranked.into_iter().take(FIRST).map(|ranked| ranked.item).collect()
    }

    /// The first turns by meaning alone.
    pub(super) fn alike(&self, likeness: &[f64]) -> Vec<String> {
        let mut turns: Vec<_> = self.passages.iter().zip(likeness).collect();
        turns.sort_by(|(a, alike), (b, other)| other.total_cmp(alike).then(b.order.cmp(&a.order)));
        turns.into_iter().take(FIRST).map(|(passage, _)| passage.item.clone()).collect()
    }
}
