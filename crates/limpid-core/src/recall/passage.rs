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
mod tests {
    use super::*;
    use crate::recall::{query_words, text_words};

    fn said(position: i64, speaker: &str, text: &str) -> Passage<i64> {
        Passage {
            words: text_words(text),
            place: Some(Place { session: position / 100, position }),
            speaker: text_words(speaker),
            ..Passage::new(position)
        }
    }

    fn order(query: &str, passages: Vec<Passage<i64>>) -> Vec<i64> {
        let holding = query_words(query).into_iter().map(|word| {
            let count = passages.iter().filter(|passage| passage.words.contains(&word)).count() as u64;
            (word, count)
        });
        let corpus = Corpus {
            documents: passages.len() as u64,
            words: passages.iter().map(|passage| passage.words.len() as u64).sum(),
            holding: holding.collect(),
        };
        rank_passages(&corpus, passages, 0).into_iter().map(|ranked| ranked.item).collect()
    }

    // KOSHI-026
    #[test]
    fn the_factors_are_those_of_the_formula() {
        assert!((feedback(3) - 0.6f64.exp()).abs() < 1e-12);
        assert!((feedback(i32::MIN) - (-1f64).exp()).abs() < 1e-12);
        assert!((recency(0, 100 * 86_400_000) - 0.95).abs() < 1e-12);
        assert!((recency(i64::MAX, i64::MIN) - 1.0).abs() < 1e-12);
    }

    // KOSHI-026 MEA-10
    #[test]
    fn an_answer_is_found_by_the_line_before_it() {
        let talk = vec![
            said(1, "Ana", "Where did you spend the summer holidays?"),
            said(2, "Bo", "In Kyoto, with my sister."),
            said(3, "Ana", "Sounds great."),
            said(100, "Ana", "The tap drips."),
            said(101, "Bo", "Call the plumber."),
        ];
        assert_eq!(order("summer holidays", talk.clone()), [1, 2, 3]);
        // Sessions end: the last line of one is no neighbour of the first of the next.
        assert_eq!(order("drips", talk.clone()), [100, 101]);
        assert_eq!(order("nothing of that", talk), [0; 0]);
    }

    // KOSHI-029
    #[test]
    fn what_means_the_same_is_found_without_its_words_and_moves_what_has_them() {
        let alike = |likeness, passage: Passage<i64>| Passage { likeness, ..passage };
        let talk = vec![
            said(1, "Ana", "My sister lives in Kyoto"),
            said(100, "Ana", "The family of bats is old"),
            said(200, "Ana", "The tap drips"),
            said(201, "Bo", "Call the plumber"),
        ];
        assert_eq!(order("family Japan", talk.clone()), [100], "words alone");
        let likeness = [0.6, 0.1, 0.1, 0.0];
        let seen: Vec<_> = likeness.into_iter().zip(talk).map(|(likeness, said)| alike(likeness, said)).collect();
        assert_eq!(order("family Japan", seen.clone()), [100, 1], "what is hardly alike is not found by it");
        assert_eq!(order("relatives overseas", seen.clone()), [1], "no word of it is known");
        let close = alike(0.9, seen[0].clone());
        let twins = vec![alike(0.2, said(300, "Ana", "a family")), alike(0.8, said(400, "Ana", "a family")), close];
        assert_eq!(order("family", twins), [400, 300, 1]);
        let beside = |likeness| {
            let first = [said(1, "Ana", "tea"), said(2, "Bo", "Oolong")];
            let second = [said(100, "Ana", "tea"), alike(likeness, said(101, "Bo", "Oolong"))];
            first.into_iter().chain(second).collect()
        };
        assert_eq!(order("tea", beside(0.0)), [1, 100, 2, 101]);
        assert_eq!(order("tea", beside(0.9)), [101, 100, 1, 2], "what is beside it counts as well");
    }

    // KOSHI-026 MEA-10
    #[test]
    fn what_was_said_in_the_month_that_is_asked_about_stands_first() {
        let at = |position, day: i64| Passage {
            said_ms: Some(day * 86_400_000),
            ..said(position, "Ana", "We went to the sea with friends")
        };
        let undated = said(200, "Ana", "We went to the sea with friends");
        // 20 June and 12 March 2023.
        let talk = vec![undated, at(1, 19_528), at(100, 19_428)];
        assert_eq!(order("the sea in March 2023", talk.clone()), [100, 1, 200]);
        assert_eq!(order("the sea in June", talk.clone())[0], 1);
        assert_eq!(order("in June 2023", talk), [0; 0], "a date alone finds nothing");
    }

    // KOSHI-026 MEA-10
    #[test]
    fn a_short_sitting_about_something_stands_before_a_long_one_that_mentions_it() {
        let line =
            |n: i64| said(n, "Ana", if n % 8 == 3 { "Kyoto came up once more" } else { "Lots of other news here" });
        let long = (1..40).map(line);
        let short = [said(100, "Ana", "Kyoto came up once more"), said(101, "Bo", "Lots of other news here")];
        assert_eq!(order("Kyoto", long.chain(short).collect())[0], 100);
    }

    // KOSHI-026 MEA-10
    #[test]
    fn who_is_asked_about_stands_before_who_says_the_same() {
        let talk = vec![said(1, "Ana", "I paint on Sundays"), said(50, "Bo", "I paint on Sundays")];
        assert_eq!(order("What does Ana paint?", talk.clone())[0], 1);
        assert_eq!(order("What does Bo paint?", talk)[0], 50);
    }
}
