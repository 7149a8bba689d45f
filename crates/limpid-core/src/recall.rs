//! Words of a text, and which memory or message answers a query best.
//!
//! A store keeps the words of each memory ([`index_words`]) and finds those that hold a query's words
//! ([`query_words`]); the order is made here ([`rank`], [`rank_passages`]), so that every store gives the same, and
//! memories and history are ranked alike.

mod date;
mod meaning;
mod passage;
mod words;

use std::collections::HashMap;

use crate::id::MemoryId;
use crate::memory::Memory;

pub use meaning::{Embedding, Meaning, meaning_text, seen_part, strangers, unlike};
pub use passage::{Passage, Place, RankedPassage, rank_passages};
use words::words_like;
pub use words::{MAX_QUERY_WORDS, plain_words, query_words, stem, text_words};

/// Points that a reinforcement gives.
pub const REINFORCE_POINTS: i32 = 3;

/// Points that a demotion takes.
pub const DEMOTE_POINTS: i32 = 1;

/// The power on a word's rarity.
const RARITY: i32 = 2;

/// What is known of all memories together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    /// How many memories there are.
    pub documents: u64,
    /// Words of all of them.
    pub words: u64,
    /// For each word of the query, in its order: how many memories hold it.
    pub holding: Vec<(String, u64)>,
}

impl Corpus {
    /// What a word is worth that so many passages hold: what few of them hold says much more.
    pub fn worth(&self, holding: u64) -> f64 {
        let documents = self.documents.max(1) as f64;
        let holding = (holding as f64).min(documents);
        (1.0 + (documents - holding + 0.5) / (holding + 0.5)).ln().powi(RARITY)
    }
}

/// A memory and how well it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The memory.
    pub memory: Memory,
    /// The rank's value; higher is better, always above 0.
    pub value: f64,
}

/// The words that a memory is found by: those of its key and its content.
pub fn index_words(memory: &Memory) -> Vec<String> {
    let mut words = text_words(&memory.key);
    words.extend(text_words(&memory.content));
    words
}

/// Puts the memories that answer a query in order, the best first; those that neither hold its words nor are like its
/// meaning are left out. `likeness` says how alike they are to the meaning ([`Passage::likeness`]), where that is known.
pub fn rank(corpus: &Corpus, memories: Vec<Memory>, likeness: &HashMap<MemoryId, f64>, now_ms: i64) -> Vec<Ranked> {
    let passage = |memory: Memory| Passage {
        words: [&memory.key, &memory.content].into_iter().flat_map(|text| words_like(text, &corpus.holding)).collect(),
        likeness: likeness.get(&memory.id).copied().unwrap_or_default(),
        said_ms: Some(memory.created_ms),
        score: memory.score,
        touched_ms: memory.updated_ms,
        order: memory.id.0,
        ..Passage::new(memory)
    };
    let ranked = rank_passages(corpus, memories.into_iter().map(passage).collect(), now_ms);
    ranked.into_iter().map(|RankedPassage { item, value }| Ranked { memory: item, value }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Category, MemoryId, Trust};

    fn memory(id: i64, content: &str) -> Memory {
        Memory {
            id: MemoryId(id),
            key: id.to_string(),
            content: content.to_owned(),
            category: Category::General,
            hits: 1,
            score: 0,
            pinned: false,
            trust: Trust::Owner,
            created_ms: 0,
            updated_ms: 0,
        }
    }

    fn corpus(memories: &[Memory], query: &str) -> Corpus {
        let all: Vec<Vec<String>> = memories.iter().map(index_words).collect();
        let holding = query_words(query)
            .into_iter()
            .map(|word| {
                let count = all.iter().filter(|words| words.contains(&word)).count() as u64;
                (word, count)
            })
            .collect();
        Corpus { documents: all.len() as u64, words: all.iter().map(|words| words.len() as u64).sum(), holding }
    }

    fn order(memories: Vec<Memory>, query: &str, now_ms: i64) -> Vec<i64> {
        let corpus = corpus(&memories, query);
        rank(&corpus, memories, &HashMap::new(), now_ms).into_iter().map(|ranked| ranked.memory.id.0).collect()
    }

    // KOSHI-027
    #[test]
    fn words_of_a_query() {
        let cases: [(&str, &[&str]); 13] = [
            ("", &[]),
            ("a I ?!", &[]),
            ("state-of-the-art", &["state", "of", "the", "art"]),
            ("see (https://x.org/q?a=b) and WWW.Y.org too", &["see", "and", "too"]),
            ("Http://x.org:80/deploy and <HTTPS://y.org>", &["and"]),
            ("AND OR NOT NEAR(\"x\" *)", &["and", "or", "not", "near"]),
            ("nul\0byte \u{202e}rtl", &["nul", "byte", "rtl"]),
            ("deploy deploy DEPLOY", &["deploy"]),
            ("Ünïcödé ﬁne", &["unicod", "fine"]),
            ("猫", &["猫"]),
            ("猫が好き", &["猫が", "が好", "好き"]),
            ("서울은 2024년", &["서울", "울은", "2024", "년"]),
            ("🦀🎉", &[]),
        ];
        for (query, words) in cases {
            assert_eq!(query_words(query), words, "{query:?}");
        }
    }

    // KOSHI-027
    #[test]
    fn a_huge_query_is_cut() {
        let many: String = (0..10_000).map(|n| format!("w{n} ")).collect();
        assert_eq!(query_words(&many).len(), MAX_QUERY_WORDS);
    }

    // KOSHI-027
    #[test]
    fn every_word_of_a_query_finds_the_text_it_was_taken_from() {
        for text in ["好きな猫", "東京2024 tower", "Crème brûlée", "ガーデン が"] {
            let held = index_words(&memory(1, text));
            for word in query_words(text) {
                assert!(held.contains(&word), "{word} of {text}");
            }
        }
        assert!(index_words(&memory(1, "好きな猫")).contains(&"猫".to_owned()));
    }

    // KOSHI-026
    #[test]
    fn the_rarer_word_counts_more() {
        let memories = vec![memory(1, "tea at home"), memory(2, "tea in Kyoto"), memory(3, "coffee at home")];
        assert_eq!(order(memories, "home Kyoto", 0)[0], 2);
    }

    // KOSHI-026
    #[test]
    fn feedback_and_age_move_equals_but_drown_nothing() {
        let old = memory(4, "likes tea");
        let judged = Memory { score: 3, ..memory(2, "likes tea") };
        let hated = Memory { score: -100, ..memory(3, "likes tea in Kyoto on Sundays with Ana") };
        let fresh = Memory { updated_ms: 1000 * 86_400_000, ..memory(1, "likes tea") };
        let now = 1000 * 86_400_000;
        assert_eq!(order(vec![old.clone(), judged.clone(), fresh], "tea", now), [2, 1, 4]);
        let others = (10..20).map(|id| memory(id, "likes tea"));
        let memories = others.chain([old, judged, hated]).collect();
        assert_eq!(order(memories, "Kyoto Sundays Ana", now), [3]);
    }

    // KOSHI-026
    #[test]
    fn a_word_that_every_memory_holds_still_finds_them() {
        let memories = vec![memory(1, "tea"), memory(2, "tea tea")];
        assert_eq!(order(memories, "tea", 0).len(), 2);
    }
}
