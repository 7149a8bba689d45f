//! How words find memories.

use limpid_core::MemoryId;
use limpid_core::recall::{query_words, rank};

use super::Bench;
use super::sample::{ODD, memory};
use crate::Store;

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

/// The keys of what a query finds, the best first.
pub(super) async fn found(store: &dyn Store, query: &str) -> Vec<String> {
    let candidates = store.candidates(&query_words(query), None, 50).await.unwrap();
    rank(&candidates.corpus, candidates.memories, &candidates.likeness, 1)
        .into_iter()
        .map(|ranked| ranked.memory.key)
        .collect()
}
