//! How words find memories.

use limpid_core::recall::{Corpus, query_words, rank};
use limpid_core::{MemoryId, Trust};

use super::Bench;
use super::sample::{ODD, memory};
use crate::{Author, Candidates, MemoryChange, NewMemory, Store};

/// Words of the key and of the content, in any script, best first.
// KOSHI-024 KOSHI-027
pub async fn words_find_memories(bench: &Bench) {
    let store = bench.store.as_ref();
    for (key, content) in [
        ("city", "Lives in Berlin near the Café Sibylle"),
        ("tea", "Likes Sencha; buys it in Berlin, Berlin, Berlin"),
        ("pet", "猫が好きです"),
        ("wi-fi", "The router hangs on Mondays"),
    ] {
        store.store_memory(memory(Some(key), content, 1)).await.unwrap();
    }
    assert_eq!(found(store, "BERLIN").await, ["tea", "city"]);
    assert_eq!(found(store, "cafe in berlin?").await[0], "city");
    assert_eq!(found(store, "猫").await, ["pet"]);
    assert_eq!(found(store, "どんな猫が").await, ["pet"]);
    assert_eq!(found(store, "wi-fi").await, ["wi-fi"]);
    assert_eq!(found(store, "the of to").await, ["wi-fi", "city"]);
    assert_eq!(found(store, "Hamburg").await, [""; 0]);
    let few = store.candidates(&query_words("berlin"), None, 1).await.unwrap();
    assert_eq!((few.memories.len(), few.corpus.documents), (1, 4));
    assert_eq!(few.corpus.holding, [("berlin".to_owned(), 2)]);
}

/// Nothing that a person or a model writes breaks a search.
// KOSHI-027
pub async fn any_query_gives_a_result_or_nothing(bench: &Bench) {
    let store = bench.store.as_ref();
    store.store_memory(memory(Some("k"), ODD, 1)).await.unwrap();
    store.store_memory(memory(Some(ODD), "AND OR NOT NEAR berlin", 1)).await.unwrap();
    let every_kind: String = (0..0x3000).filter_map(char::from_u32).collect();
    for text in ["", "\0", "\"", "a\" OR \"b", "NEAR(a b)", "words:x", "^x*", "{}", ODD, every_kind.as_str()] {
        store.candidates(&query_words(text), None, 5).await.unwrap();
        store.candidates(&[text.to_owned(), "berlin".to_owned()], None, 5).await.unwrap();
    }
    assert_eq!(found(store, "NOT berlin").await, [ODD]);
}

/// Up to a thousand memories every word selects. Among more a word that over 2 % of them hold only orders what rarer ones
/// select, and without a rarer one it finds as before.
// KOSHI-024
pub async fn in_a_large_store_common_words_order_what_rarer_ones_select(bench: &Bench) {
    let store = bench.store.as_ref();
    let add = async |numbers: std::ops::Range<usize>| {
        for n in numbers {
            let kettle = if n == 1 { " kettle" } else { "" };
            let tea = if n < 22 { " tea" } else { "" };
            let rain = if (20..43).contains(&n) { " rain" } else { "" };
            let content = format!("home{kettle}{tea}{rain}");
            store.store_memory(memory(Some(&format!("k{n}")), &content, 1)).await.unwrap();
        }
    };
    let selected = async |query: &str, limit: u32| {
        let found = store.candidates(&query_words(query), None, limit).await.unwrap();
        let holding: Vec<u64> = found.corpus.holding.into_iter().map(|(_, count)| count).collect();
        (found.memories.into_iter().map(|memory| memory.id).collect::<Vec<MemoryId>>(), holding)
    };
    let numbers = |from: i64, to: i64| (from..=to).map(MemoryId).collect::<Vec<_>>();
    add(0..1000).await;
    assert_eq!(selected("home kettle", 2000).await, (numbers(1, 1000), vec![1000, 1]));
    add(1000..1100).await;
    // Of 1,100 memories 22 hold tea, which is 2 %, and 23 rain.
    assert_eq!(selected("home tea", 2000).await, (numbers(1, 22), vec![1100, 22]));
    assert_eq!(selected("rain tea", 2000).await, (numbers(1, 22), vec![23, 22]));
    assert_eq!(selected("rain", 2000).await.0, numbers(21, 43));
    assert_eq!(selected("home", 5).await.0, numbers(1096, 1100), "of equals the newest");
    assert_eq!(selected("tea kettle", 1).await.0, numbers(2, 2), "whose words are worth most");
    assert_eq!(found(store, "tea rain").await[..2], ["k21", "k20"], "the common word still orders");
}

/// Which of the owner's memories are found, and all that they are ranked by, is the same with and without strangers' memories, also
/// where these make the words of the owner's common and hold the usual words of a question. Strangers' own are still found.
// SEC-102 KOSHI-024
pub async fn the_owners_memories_are_chosen_as_if_no_strangers_were_there(bench: &Bench) {
    let queries = ["front door code", "front door code today", "door code for a visitor", "tea friend"];
    let store = bench.store.as_ref();
    store.store_memory(memory(Some("front door code"), "The code of the front door is 0815.", 1)).await.unwrap();
    for n in 0..1010 {
        store.store_memory(memory(Some(&format!("friend {n}")), &format!("Friend {n} likes tea."), 1)).await.unwrap();
    }
    let found = async |query: &str| store.candidates(&query_words(query), None, 5).await.unwrap();
    let mut before = Vec::new();
    for query in queries {
        before.push(owners(found(query).await));
    }
    assert_eq!(before[1].0, [MemoryId(1)]);
    for n in 0..64 {
        let usual = if n < 4 { " today for a visitor friend" } else { "" };
        let content = format!("front door code {n}{usual}");
        // Days later: what is stored within one is limited.
        let later = NewMemory { now_ms: 3 * 24 * 60 * 60 * 1000, ..strangers(&format!("k{n}"), &content) };
        store.store_memory(later).await.unwrap();
    }
    for (query, before) in queries.into_iter().zip(before) {
        let found = found(query).await;
        assert_eq!(found.whole.documents, 1075);
        assert!(found.memories.iter().any(|memory| memory.trust.is_foreign()), "{query}");
        assert_eq!(owners(found), before, "{query}");
    }
}

/// Strangers' memories are told apart after every change: of their label, of their words, and of the whole index.
// SEC-102 KOSHI-024
pub async fn strangers_memories_are_counted_apart_after_every_change(bench: &Bench) {
    let store = bench.store.as_ref();
    let counts = async || {
        let found = store.candidates(&query_words("tea berlin"), None, 9).await.unwrap();
        let counts = |corpus: Corpus| {
            let holding: Vec<u64> = corpus.holding.into_iter().map(|(_, count)| count).collect();
            (corpus.documents, corpus.words, holding)
        };
        (counts(found.corpus), counts(found.whole))
    };
    store.store_memory(memory(Some("a"), "tea in Berlin", 1)).await.unwrap();
    store.store_memory(strangers("bb", "tea tea")).await.unwrap();
    store.store_memory(strangers("cc", "Berlin")).await.unwrap();
    let all = (3, 8, vec![2, 2]);
    assert_eq!(counts().await, ((1, 3, vec![1, 1]), all.clone()));
    store.rebuild_memory_index().await.unwrap();
    assert_eq!(counts().await, ((1, 3, vec![1, 1]), all.clone()));

    let adopted = MemoryChange {
        content: Some(("tea tea".to_owned(), Trust::Owner)),
        adopts: true,
        led: false,
        category: None,
        author: Author::Said,
        source: None,
        now_ms: 2,
    };
    store.update_memory(&"bb".into(), adopted).await.unwrap();
    assert_eq!(counts().await, ((2, 6, vec![2, 1]), all.clone()), "with the very same words");
    let gone = store.forget_memory(&"cc".into(), 3).await.unwrap();
    assert_eq!(counts().await, ((2, 6, vec![2, 1]), (2, 6, vec![2, 1])));
    let forgotten = store.memory_events(Some(gone.id)).await.unwrap().rows.pop().unwrap();
    store.undo_memory(forgotten.id, 4).await.unwrap();
    assert_eq!(counts().await, ((2, 6, vec![2, 1]), all));
}

/// The owner's memories among what was found, and what they are ranked by.
fn owners(found: Candidates) -> (Vec<MemoryId>, Corpus) {
    let ours = found.memories.iter().filter(|memory| !memory.trust.is_foreign());
    (ours.map(|memory| memory.id).collect(), found.corpus)
}

fn strangers(key: &str, content: &str) -> NewMemory {
    NewMemory { trust: Trust::Outside, ..memory(Some(key), content, 1) }
}

/// The keys of what a query finds, the best first.
pub(super) async fn found(store: &dyn Store, query: &str) -> Vec<String> {
    let candidates = store.candidates(&query_words(query), None, 50).await.unwrap();
    rank(&candidates.corpus, candidates.memories, &candidates.likeness, 1)
        .into_iter()
        .map(|ranked| ranked.memory.key)
        .collect()
}
