//! Words of a text, and which memory answers a query best (KOSHI-024, 026, 027).
//!
//! A store keeps the words of each memory ([`index_words`]) and finds those that hold a query's words
//! ([`query_words`]); the order is made here ([`rank`]), so that every store gives the same.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::memory::Memory;

/// Different words of a query that are searched; later ones are left out.
pub const MAX_QUERY_WORDS: usize = 64;

/// Points that a reinforcement gives.
pub const REINFORCE_POINTS: i32 = 3;

/// Points that a demotion takes.
pub const DEMOTE_POINTS: i32 = 1;

const MS_PER_DAY: f64 = 86_400_000.0;

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
    let mut words = words_of(&memory.key, Use::Index);
    words.extend(words_of(&memory.content, Use::Index));
    words
}

/// The different words of a query, in its order: lower case without accents, addresses of web pages dropped, hyphens
/// split, one-character words dropped except Chinese, Japanese and Korean ones, which are searched as pairs of
/// characters. Any text gives words or none.
///
/// ```
/// use limpid_core::recall::query_words;
/// assert_eq!(query_words("Wi-Fi at the Café? see https://x.org/a"), ["wi", "fi", "at", "the", "cafe", "see"]);
/// assert_eq!(query_words("東京タワー"), ["東京", "京タ", "タワ", "ワー"]);
/// ```
pub fn query_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for piece in text.split_whitespace().filter(|piece| !is_web_address(piece)) {
        for word in words_of(piece, Use::Query) {
            if words.len() == MAX_QUERY_WORDS {
                return words;
            }
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words
}

/// Puts the memories that answer a query in order, the best first; those that hold none of its words are left out.
///
/// `relevance × exp(0.2 · clamp(score, −5, 5)) × (0.9 + 0.1 / (1 + 0.01 · days))`: relevance is BM25, days are those
/// since the memory was made, changed or reinforced. Of equals, the newer one stands first.
pub fn rank(corpus: &Corpus, memories: Vec<Memory>, now_ms: i64) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = memories
        .into_iter()
        .filter_map(|memory| {
            let relevance = relevance(corpus, &index_words(&memory));
            let value = relevance * feedback(memory.score) * recency(memory.updated_ms, now_ms);
            (relevance > 0.0).then_some(Ranked { memory, value })
        })
        .collect();
    ranked.sort_by(|a, b| b.value.total_cmp(&a.value).then(b.memory.id.cmp(&a.memory.id)));
    ranked
}

/// What feedback makes of a relevance: from a third to nearly three times of it.
fn feedback(score: i32) -> f64 {
    (0.2 * f64::from(score.clamp(-5, 5))).exp()
}

/// What age makes of a relevance: nine tenths of it at the least. A memory from the future is as good as new.
fn recency(updated_ms: i64, now_ms: i64) -> f64 {
    let days = now_ms.saturating_sub(updated_ms).max(0) as f64 / MS_PER_DAY;
    0.9 + 0.1 / (1.0 + 0.01 * days)
}

/// BM25 with the usual constants and an inverse document frequency that is never negative.
fn relevance(corpus: &Corpus, words: &[String]) -> f64 {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1.0;
    }
    let documents = corpus.documents.max(1) as f64;
    let average = (corpus.words as f64 / documents).max(1.0);
    let length = K1 * (1.0 - B + B * words.len() as f64 / average);
    corpus
        .holding
        .iter()
        .filter_map(|(word, holding)| {
            let count = *counts.get(word.as_str())?;
            let holding = (*holding as f64).min(documents);
            let rarity = (1.0 + (documents - holding + 0.5) / (holding + 0.5)).ln();
            Some(rarity * count * (K1 + 1.0) / (count + length))
        })
        .sum()
}

/// What words are taken for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// To find the text by: single characters of Chinese, Japanese and Korean besides the pairs.
    Index,
    /// To search with: pairs only, except where a character stands alone.
    Query,
}

fn words_of(text: &str, purpose: Use) -> Vec<String> {
    let mut words = Vec::new();
    let mut run: Vec<char> = Vec::new();
    let mut kind = None;
    for c in folded(text).chain([' ']) {
        let next = if is_cjk(c) { Some(Script::Pairs) } else { c.is_alphanumeric().then_some(Script::Words) };
        if next != kind {
            match kind {
                Some(Script::Words) if run.len() > 1 => words.push(run.iter().collect()),
                Some(Script::Pairs) => push_pairs(&run, purpose, &mut words),
                _ => {}
            }
            run.clear();
            kind = next;
        }
        if next.is_some() {
            run.push(c);
        }
    }
    words
}

/// How a script is cut into words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// At what is no letter or digit.
    Words,
    /// Into pairs of characters.
    Pairs,
}

fn push_pairs(run: &[char], purpose: Use, words: &mut Vec<String>) {
    if purpose == Use::Index || run.len() == 1 {
        words.extend(run.iter().map(char::to_string));
    }
    words.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
}

/// Lower case, compatibility forms made plain, accents off. Only the accents of Latin, Greek and Cyrillic go: in
/// other scripts a mark makes another letter.
fn folded(text: &str) -> impl Iterator<Item = char> + '_ {
    text.nfkd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).nfc().flat_map(char::to_lowercase)
}

fn is_web_address(piece: &str) -> bool {
    let start = piece.trim_start_matches(|c: char| !c.is_alphanumeric());
    ["http://", "https://", "www."]
        .iter()
        .any(|scheme| start.get(..scheme.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme)))
}

fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}'     // Hangul letters
        | '\u{3005}'..='\u{3007}'   // iteration mark, closing mark, zero
        | '\u{3041}'..='\u{30ff}'   // Hiragana, Katakana
        | '\u{3105}'..='\u{312f}'   // Bopomofo
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'   // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'   // Hangul syllables
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
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
        rank(&corpus, memories, now_ms).into_iter().map(|ranked| ranked.memory.id.0).collect()
    }

    // KOSHI-027
    #[test]
    fn words_of_a_query() {
        let cases: [(&str, &[&str]); 12] = [
            ("", &[]),
            ("a I ?!", &[]),
            ("state-of-the-art", &["state", "of", "the", "art"]),
            ("see (https://x.org/q?a=b) and WWW.Y.org too", &["see", "and", "too"]),
            ("AND OR NOT NEAR(\"x\" *)", &["and", "or", "not", "near"]),
            ("nul\0byte \u{202e}rtl", &["nul", "byte", "rtl"]),
            ("deploy deploy DEPLOY", &["deploy"]),
            ("Ünïcödé ﬁne", &["unicode", "fine"]),
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
        let old = memory(1, "likes tea");
        let judged = Memory { score: 3, ..memory(2, "likes tea") };
        let hated = Memory { score: -100, ..memory(3, "likes tea in Kyoto on Sundays with Ana") };
        let fresh = Memory { updated_ms: 1000 * 86_400_000, ..memory(4, "likes tea") };
        let now = 1000 * 86_400_000;
        assert_eq!(order(vec![old.clone(), judged.clone(), fresh], "tea", now), [2, 4, 1]);
        let others = (10..20).map(|id| memory(id, "likes tea"));
        let memories = others.chain([old, judged, hated]).collect();
        assert_eq!(order(memories, "Kyoto Sundays Ana", now), [3]);
    }

    // KOSHI-026
    #[test]
    fn the_factors_are_those_of_the_formula() {
        assert!((feedback(3) - 0.6f64.exp()).abs() < 1e-12);
        assert!((feedback(i32::MIN) - (-1f64).exp()).abs() < 1e-12);
        assert!((recency(0, 100 * 86_400_000) - 0.95).abs() < 1e-12);
        assert!((recency(i64::MAX, i64::MIN) - 1.0).abs() < 1e-12);
    }

    // KOSHI-026
    #[test]
    fn a_word_that_every_memory_holds_still_finds_them() {
        let memories = vec![memory(1, "tea"), memory(2, "tea tea")];
        assert_eq!(order(memories, "tea", 0).len(), 2);
    }
}
