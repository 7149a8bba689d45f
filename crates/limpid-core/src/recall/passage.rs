//! The order of passages: memories, messages of a history, turns of a conversation.

use std::collections::HashMap;

use super::Corpus;
use super::date::date_words;

const MS_PER_DAY: f64 = 86_400_000.0;

/// How soon more of a word in one passage counts for little more, and how much a long passage is held against it.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;

/// What the words around a passage add to it, in its session: beside it whole, one further half.
const AROUND: f64 = 0.6;
const NEIGHBOURS: [f64; 2] = [1.0, 0.5];

/// What the words of the whole session add, and how soon more of one word counts for little more in a session of
/// average length: in a longer one later, in proportion.
const SESSION: f64 = 0.6;
const SESSION_SATURATION: f64 = 3.0;

/// What a passage adds that means the same as the query, as a share of what it would if it held all the query's words once;
/// what the likeness of those around it adds to its own.
const MEANING: f64 = 1.0;
const MEANING_AROUND: f64 = 0.15;

/// How alike a passage must be to what the query means to be found by that alone.
const FOUND_ALONE: f64 = 0.25;

/// What it adds that the query names who speaks, as a share.
const SPEAKER: f64 = 0.3;

/// What it adds that the query names the month, the year or the day, as a share for each.
const DATED: f64 = 0.3;

/// A text that may answer a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage<T> {
    /// What it is.
    pub item: T,
    /// Its words ([`text_words`](super::text_words)).
    pub words: Vec<String>,
    /// How alike it is to what the query means, from 0 to 1; 0 where that is not known.
    pub likeness: f64,
    /// Where it stands among others; none when it stands alone.
    pub place: Option<Place>,
    /// Words of the name of whoever said it.
    pub speaker: Vec<String>,
    /// When it was said, in milliseconds since 1970; none when a query's dates do not mean it.
    pub said_ms: Option<i64>,
    /// What feedback made of it.
    pub score: i32,
    /// When it was made, changed or reinforced, in milliseconds since 1970.
    pub touched_ms: i64,
    /// Of equals, the one with the greater order stands first.
    pub order: i64,
}

/// Where a passage stands: others of its session stand before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The sitting that it belongs to.
    pub session: i64,
    /// Its number in it; its neighbours have the numbers beside.
    pub position: i64,
}

/// A passage and how well it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedPassage<T> {
    /// What it is.
    pub item: T,
    /// The rank's value; higher is better, always above 0.
    pub value: f64,
}

impl<T> Passage<T> {
    /// A passage without words.
    pub fn new(item: T) -> Self {
        Self {
            item,
            words: Vec::new(),
            likeness: 0.0,
            place: None,
            speaker: Vec::new(),
            said_ms: None,
            score: 0,
            touched_ms: 0,
            order: 0,
        }
    }
}

/// Puts passages in order, the best first; those that neither hold words of the query, nor stand beside such, nor are
/// clearly alike to what it means are left out.
///
/// `relevance × exp(0.2 · clamp(score, −5, 5)) × (0.9 + 0.1 / (1 + 0.01 · days))`, days since it was touched. The
/// relevance adds what the passage itself holds of the query's words, what stands around it, and what its session
/// holds: what a person asks for is often said in the answer to the line that has the words. Each is BM25 with a power
/// on the rarity of words. How alike a passage and those beside it are to the query's meaning is added on the scale of
/// its words' worth: trials that added found more than those that joined two ranks. All of it grows by a share for each
/// thing that the query names: who speaks, the month, the year, the day.
///
/// Passages that neither hold a word nor stand beside one that does nor have a likeness may be left out without changing
/// the others' order.
pub fn rank_passages<T>(corpus: &Corpus, passages: Vec<Passage<T>>, now_ms: i64) -> Vec<RankedPassage<T>> {
    let query = Query::new(corpus);
    let counts: Vec<Vec<f64>> = passages.iter().map(|passage| query.counts(&passage.words)).collect();
    let places = places(&passages);
    let surroundings = surroundings(&passages, &places, &counts, query.worth.len());
    let meanings = meanings(&passages, &places);
    let sessions = Sessions::new(&passages, &counts, &surroundings);
    let mut ranked: Vec<(f64, i64, T)> = Vec::new();
    for (((passage, own), around), meaning) in passages.into_iter().zip(&counts).zip(&surroundings).zip(meanings) {
        let mut relevance = query.value(own, query.length(passage.words.len()));
        if let Some(place) = passage.place {
            relevance += AROUND * query.value(around, SATURATION);
            relevance += SESSION * sessions.value(&query, place.session);
        }
        if relevance > 0.0 || passage.likeness >= FOUND_ALONE {
            relevance += MEANING * query.held_worth * meaning;
            let named = SPEAKER * f64::from(u8::from(query.names(&passage.speaker)))
                + DATED * passage.said_ms.map_or(0.0, |said_ms| query.dates(said_ms));
            let value = relevance * (1.0 + named) * feedback(passage.score) * recency(passage.touched_ms, now_ms);
            ranked.push((value, passage.order, passage.item));
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    ranked.into_iter().map(|(value, _, item)| RankedPassage { item, value }).collect()
}

/// The words of a query with what each is worth.
struct Query<'a> {
    words: HashMap<&'a str, usize>,
    worth: Vec<f64>,
    /// What the words that some passage holds are worth together; 1 when there are none, which nothing is compared with.
    held_worth: f64,
    average: f64,
}

impl<'a> Query<'a> {
    fn new(corpus: &'a Corpus) -> Self {
        let documents = corpus.documents.max(1) as f64;
        let held = corpus.holding.iter().filter(|(_, holding)| *holding > 0);
        let held_worth: f64 = held.map(|(_, holding)| corpus.worth(*holding)).sum();
        Self {
            held_worth: if held_worth > 0.0 { held_worth } else { 1.0 },
            words: corpus.holding.iter().enumerate().map(|(at, (word, _))| (word.as_str(), at)).collect(),
            worth: corpus.holding.iter().map(|(_, holding)| corpus.worth(*holding)).collect(),
            average: (corpus.words as f64 / documents).max(1.0),
        }
    }

    /// How often each word of the query stands in a text.
    fn counts(&self, words: &[String]) -> Vec<f64> {
        let mut counts = vec![0.0; self.words.len()];
        for at in words.iter().filter_map(|word| self.words.get(word.as_str())) {
            counts[*at] += 1.0;
        }
        counts
    }

    fn length(&self, words: usize) -> f64 {
        SATURATION * (1.0 - LENGTH + LENGTH * words as f64 / self.average)
    }

    /// BM25 of counts; `length` says how soon more of a word counts for little more.
    fn value(&self, counts: &[f64], length: f64) -> f64 {
        let held = counts.iter().zip(&self.worth).filter(|(count, _)| **count > 0.0);
        held.map(|(count, worth)| worth * count * (SATURATION + 1.0) / (count + length)).sum()
    }

    fn names(&self, speaker: &[String]) -> bool {
        speaker.iter().any(|word| self.words.contains_key(word.as_str()))
    }

    /// How many parts of a date the query names.
    fn dates(&self, said_ms: i64) -> f64 {
        date_words(said_ms).iter().filter(|word| self.words.contains_key(word.as_str())).count() as f64
    }
}

/// What sessions hold of the query's words, in the passages that have to do with the query.
struct Sessions {
    counts: HashMap<i64, (Vec<f64>, usize)>,
    average: f64,
}

impl Sessions {
    fn new<T>(passages: &[Passage<T>], counts: &[Vec<f64>], surroundings: &[Vec<f64>]) -> Self {
        let mut sessions: HashMap<i64, (Vec<f64>, usize)> = HashMap::new();
        for ((passage, own), around) in passages.iter().zip(counts).zip(surroundings) {
            let concerned = own.iter().chain(around).any(|count| *count > 0.0);
            if let Some(place) = passage.place.filter(|_| concerned) {
                let (sum, words) = sessions.entry(place.session).or_insert_with(|| (vec![0.0; own.len()], 0));
                add(sum, own, 1.0);
                *words += passage.words.len();
            }
        }
        let words: usize = sessions.values().map(|(_, words)| words).sum();
        Self { average: (words as f64 / sessions.len().max(1) as f64).max(1.0), counts: sessions }
    }

    fn value(&self, query: &Query<'_>, session: i64) -> f64 {
        let Some((counts, words)) = self.counts.get(&session) else { return 0.0 };
        query.value(counts, SESSION_SATURATION * *words as f64 / self.average)
    }
}

/// Where each place is among the passages.
fn places<T>(passages: &[Passage<T>]) -> HashMap<Place, usize> {
    passages.iter().enumerate().filter_map(|(at, passage)| Some((passage.place?, at))).collect()
}

/// The neighbours of a passage, each with its share.
fn neighbours<T>(passage: &Passage<T>, places: &HashMap<Place, usize>) -> Vec<(usize, f64)> {
    let mut found = Vec::new();
    let Some(place) = passage.place else { return found };
    for (distance, share) in (1..).zip(NEIGHBOURS) {
        for position in [place.position.checked_sub(distance), place.position.checked_add(distance)] {
            let beside = position.and_then(|position| places.get(&Place { position, ..place }));
            found.extend(beside.map(|at| (*at, share)));
        }
    }
    found
}

/// What the neighbours of each passage hold of the query's words.
fn surroundings<T>(
    passages: &[Passage<T>],
    places: &HashMap<Place, usize>,
    counts: &[Vec<f64>],
    words: usize,
) -> Vec<Vec<f64>> {
    let around = |passage: &Passage<T>| {
        let mut sum = vec![0.0; words];
        neighbours(passage, places).into_iter().for_each(|(at, share)| add(&mut sum, &counts[at], share));
        sum
    };
    passages.iter().map(around).collect()
}

/// How alike each passage with its neighbours is to what the query means.
fn meanings<T>(passages: &[Passage<T>], places: &HashMap<Place, usize>) -> Vec<f64> {
    let around = |passage: &Passage<T>| -> f64 {
        neighbours(passage, places).into_iter().map(|(at, share)| share * passages[at].likeness).sum()
    };
    passages.iter().map(|passage| passage.likeness + MEANING_AROUND * around(passage)).collect()
}

fn add(sum: &mut [f64], counts: &[f64], share: f64) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum += share * count;
    }
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

#[cfg(test)]
mod tests;
