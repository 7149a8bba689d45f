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
    let line = |n: i64| said(n, "Ana", if n % 8 == 3 { "Kyoto came up once more" } else { "Lots of other news here" });
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
