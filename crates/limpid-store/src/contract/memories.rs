//! Memories and recall.

use limpid_core::recall::query_words;
use limpid_core::{Category, MemoryId, Trust};

use super::Bench;
use super::recall::found;
use super::sample::{begun, conversation_id, memory};
use crate::{
    Author, IndexState, MemoryChange, MemoryEventId, MemoryEventKind, MemoryRef, NewMemory, NewPromotion, Provenance,
    Store, StoreError,
};

/// A known key keeps category, hits, score, pin and time of creation.
// KAI-047 LES-053
pub async fn a_known_key_is_merged(bench: &Bench) {
    let store = bench.store.as_ref();
    let first = NewMemory { category: Category::Learning, ..memory(Some("deploy"), "Test first", 1) };
    let stored = store.store_memory(first).await.unwrap();
    assert_eq!((stored.fresh, stored.memory.hits, stored.memory.created_ms), (true, 1, 1));
    let which = MemoryRef::from("deploy");
    store.reinforce_memory(&which, 2).await.unwrap();
    store.pin_memory(&which, true, 3).await.unwrap();
    let merged = store.store_memory(memory(Some("deploy"), "Test twice", 4)).await.unwrap();
    assert!(!merged.fresh);
    let memory = merged.memory;
    assert_eq!((memory.id, memory.category, memory.hits, memory.score), (stored.memory.id, Category::Learning, 2, 3));
    assert_eq!((memory.pinned, memory.created_ms, memory.updated_ms), (true, 1, 4));
    assert_eq!((memory.content.as_str(), memory.trust), ("Test twice", Trust::Owner));
    assert_eq!(store.memory(&which).await.unwrap(), Some(memory));
}

/// What is the owner's is written over by no stranger's text, and no key of one looks like theirs, whenever they stored it.
// SEC-065
pub async fn nothing_of_a_strangers_is_stored_over_what_is_the_owners(bench: &Bench) {
    let store = bench.store.as_ref();
    let mine = store.store_memory(memory(Some("wifi"), "the code is 1", 1)).await.unwrap().memory;
    let theirs = |key: &str, content: &str| NewMemory { trust: Trust::Outside, ..memory(Some(key), content, 2) };
    // The last one has a letter of Cyrillic.
    let like = "almost this key, wifi";
    for (key, why) in [("wifi", "wifi is the owner's"), ("WiFi", like), ("w\u{456}fi", like)] {
        let stored = store.store_memory(theirs(key, "the code is 2")).await;
        assert!(matches!(&stored, Err(StoreError::Invalid(said)) if said.contains(why)), "{stored:?}");
    }
    let change = |adopts| MemoryChange {
        content: Some(("the code is 2".to_owned(), Trust::Outside)),
        adopts,
        led: true,
        category: None,
        author: Author::Inferred,
        source: None,
        now_ms: 2,
    };
    assert!(store.update_memory(&mine.id.into(), change(false)).await.is_err());
    assert_eq!(store.memories(None).await.unwrap().rows, [mine]);
    store.store_memory(theirs("wlan", "the code is 2")).await.unwrap();
}

/// Texts of strangers change so many memories in a day, and so many bytes; the owner goes on, and so do they the next day.
// SEC-093
pub async fn strangers_change_so_many_memories_in_a_day(bench: &Bench) {
    let store = bench.store.as_ref();
    let theirs = |text: String, now| NewMemory { trust: Trust::Outside, ..memory(Some("note"), &text, now) };
    for number in 0..1000 {
        store.store_memory(theirs(format!("{number}"), number)).await.unwrap();
    }
    let full = store.store_memory(theirs("one more".to_owned(), 1000)).await;
    assert!(matches!(&full, Err(StoreError::Invalid(why)) if why.contains("within a day")), "{full:?}");
    store.store_memory(memory(Some("tea"), "Likes tea", 1001)).await.unwrap();
    let day = 24 * 3_600_000;
    store.store_memory(theirs("tea ".repeat(150_000), day + 1001)).await.unwrap();
    assert!(store.store_memory(theirs("oat ".repeat(150_000), day + 1002)).await.is_err(), "the new text counts");
    store.store_memory(theirs("oat ".repeat(100_000), day + 1003)).await.unwrap();
    assert!(store.store_memory(theirs("z".repeat(100_000), day + 1004)).await.is_err());
}

/// Ten times the same is one, with a key and without.
// LES-053
pub async fn a_fact_stored_again_is_one_memory(bench: &Bench) {
    for now in 0..10 {
        bench.store.store_memory(memory(None, "Lives in Berlin", now)).await.unwrap();
        bench.store.store_memory(memory(Some("tea"), "Likes tea", now)).await.unwrap();
    }
    assert_eq!(bench.store.memories(None).await.unwrap().rows.len(), 2);
}

/// Facts that only begin alike are two. What is said without a stranger is another memory than theirs of the same words, and what they
/// say again stays the owner's.
// LES-053 SEC-002
pub async fn only_the_very_same_fact_is_merged_and_has_the_label_of_who_said_it(bench: &Bench) {
    let store = bench.store.as_ref();
    let long = "Likes tea ".repeat(10);
    for content in [format!("{long}in the morning"), format!("{long}at five")] {
        assert!(store.store_memory(memory(None, &content, 1)).await.unwrap().fresh, "{content}");
    }
    assert_eq!(store.memories(None).await.unwrap().rows.len(), 2);
    let mail = NewMemory { trust: Trust::Outside, ..memory(Some("bank"), "Pays at X", 2) };
    store.store_memory(mail.clone()).await.unwrap();
    let again = store.store_memory(memory(Some("bank"), "Pays at X", 3)).await.unwrap();
    assert_eq!(
        (again.fresh, again.memory.trust),
        (true, Trust::Owner),
        "a stranger who guessed it keeps it from nobody"
    );
    let corrected = store.store_memory(memory(Some("bank"), "Pays at Y", 4)).await.unwrap();
    assert_eq!(corrected.memory.trust, Trust::Owner);
    let repeated = store.store_memory(NewMemory { content: "Pays at Y".to_owned(), ..mail }).await.unwrap();
    assert_eq!(repeated.memory.trust, Trust::Owner);
}

/// A number leads to nobody else's memory, and nobody's growth moves it.
// LES-056 LES-147 KOSHI-028
pub async fn a_number_leads_to_no_memory_of_anothers(bench: &Bench) {
    let (store, other) = (bench.store.as_ref(), bench.other.as_ref());
    let mine = store.store_memory(memory(Some("k"), "mine", 1)).await.unwrap().memory;
    let which = MemoryRef::Id(mine.id);
    assert_eq!(other.memory(&which).await.unwrap(), None);
    for missing in [
        other.reinforce_memory(&which, 2).await,
        other.demote_memory(&which, 2).await,
        other.pin_memory(&which, true, 2).await,
        other.forget_memory(&which, 2).await,
    ] {
        assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    }
    other.store_memory(memory(Some("theirs"), "much longer than that", 2)).await.unwrap();
    assert_eq!(other.archive_memories(5, 3).await.unwrap(), 1);
    assert_eq!(other.archived_memories().await.unwrap().rows.len(), 1);
    assert_eq!(store.archived_memories().await.unwrap().rows, []);
    assert_eq!(store.memory(&which).await.unwrap(), Some(mine));
}

/// The same millisecond, no keys: three memories, each with its number as its key, whatever keys people chose.
// LES-054 KOSHI-026
pub async fn facts_of_one_moment_all_stay(bench: &Bench) {
    bench.store.store_memory(memory(Some("2"), "a key that looks like a number", 1)).await.unwrap();
    for content in ["one", "two", "three"] {
        bench.store.store_memory(memory(None, content, 1)).await.unwrap();
    }
    let all = bench.store.memories(None).await.unwrap().rows;
    let keys: Vec<(&str, &str)> = all.iter().map(|memory| (memory.key.as_str(), memory.content.as_str())).collect();
    assert_eq!(keys, [("2", "a key that looks like a number"), ("2'", "one"), ("3", "two"), ("4", "three")]);
}

/// Reinforce: one hit, 3 points, now. Demote: one point less, no hit, no time.
// KOSHI-026 KAI-047
pub async fn feedback_moves_hits_and_score(bench: &Bench) {
    let store = bench.store.as_ref();
    let id = store.store_memory(memory(Some("k"), "x", 1)).await.unwrap().memory.id;
    let better = store.reinforce_memory(&MemoryRef::Id(id), 5).await.unwrap();
    assert_eq!((better.hits, better.score, better.updated_ms), (2, 3, 5));
    let worse = store.demote_memory(&"k".into(), 9).await.unwrap();
    assert_eq!((worse.hits, worse.score, worse.updated_ms), (2, 2, 5));
    for missing in [
        store.reinforce_memory(&"x".into(), 1).await,
        store.demote_memory(&MemoryId(99).into(), 1).await,
        store.pin_memory(&"x".into(), true, 1).await,
        store.forget_memory(&"x".into(), 1).await,
    ] {
        assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    }
}

/// The history tells what happened and who said it, and any step of it can be taken back.
// LES-050 LES-060
pub async fn every_change_can_be_undone(bench: &Bench) {
    let store = bench.store.as_ref();
    let new =
        NewMemory { author: Author::Inferred, source: Some("turn t".to_owned()), ..memory(Some("k"), "first", 1) };
    let first = store.store_memory(new).await.unwrap().memory;
    let change = MemoryChange {
        led: false,
        adopts: false,
        content: Some(("second".to_owned(), Trust::File)),
        category: Some(Category::Error),
        author: Author::Said,
        source: Some("page".to_owned()),
        now_ms: 2,
    };
    let second = store.update_memory(&"k".into(), change).await.unwrap();
    store.forget_memory(&"k".into(), 3).await.unwrap();
    assert_eq!(store.memory(&"k".into()).await.unwrap(), None);
    let events = store.memory_events(Some(first.id)).await.unwrap().rows;
    let told: Vec<_> = events.iter().map(|event| (event.kind, event.before.clone(), event.after.clone())).collect();
    assert_eq!(
        told,
        [
            (MemoryEventKind::Stored, None, Some(first.clone())),
            (MemoryEventKind::Updated, Some(first.clone()), Some(second.clone())),
            (MemoryEventKind::Forgotten, Some(second.clone()), None),
        ]
    );
    assert_eq!((events[0].author, events[0].source.as_deref()), (Some(Author::Inferred), Some("turn t")));
    assert_eq!((events[1].author, events[1].source.as_deref()), (Some(Author::Said), Some("page")));
    assert_eq!(store.undo_memory(events[2].id, 4).await.unwrap(), Some(second));
    assert_eq!(store.undo_memory(events[1].id, 5).await.unwrap(), Some(first.clone()));
    assert_eq!(store.memory(&"k".into()).await.unwrap(), Some(first));
    assert_eq!(found(store, "first").await, ["k"]);
    assert_eq!(store.undo_memory(events[0].id, 6).await.unwrap(), None);
    assert_eq!(found(store, "first").await, [""; 0]);
    assert_eq!(store.memory_events(None).await.unwrap().rows.len(), 6);
    // A forgotten memory cannot come back over another that took its key since.
    store.store_memory(memory(Some("k"), "third", 7)).await.unwrap();
    let clash = store.undo_memory(events[2].id, 8).await;
    assert!(matches!(clash, Err(StoreError::Invalid(_))), "{clash:?}");
    let missing = store.undo_memory(MemoryEventId(99), 8).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

/// A stranger's key becomes the owner's only when they named the memory by it themselves.
// SEC-067
pub async fn a_strangers_key_is_adopted_only_by_the_owners_own_word(bench: &Bench) {
    let store = bench.store.as_ref();
    for (key, led, is_kept) in [("a", false, true), ("b", true, false)] {
        let theirs = |key: &str| NewMemory { trust: Trust::Outside, ..memory(Some(key), "hotel", 1) };
        let id = store.store_memory(theirs(key)).await.unwrap().memory.id;
        let like = key.to_uppercase();
        store.store_memory(theirs(&like)).await.unwrap();
        let change = MemoryChange {
            content: Some(("hotel is open".to_owned(), Trust::Owner)),
            adopts: true,
            led,
            category: None,
            author: Author::Inferred,
            source: None,
            now_ms: 2,
        };
        let adopted = store.update_memory(&key.into(), change).await.unwrap();
        let kept = if is_kept { key.to_owned() } else { id.0.to_string() };
        assert_eq!((adopted.key, adopted.trust), (kept, Trust::Owner), "{key}");
        let beside = store.memory(&like.as_str().into()).await.unwrap();
        assert_eq!(beside.is_none(), is_kept, "{key}: nothing of a stranger's looks like a key of the owner's");
    }
}

/// Whatever strangers' texts have stored under it, or under one that looks like it, since it was forgotten or promoted.
// SEC-065 LES-060 KAI-049
pub async fn a_memory_of_the_owners_that_comes_back_has_its_key_for_itself(bench: &Bench) {
    let store = bench.store.as_ref();
    for (key, is_promoted) in [("cat", false), ("dog", true)] {
        store.store_memory(memory(Some(key), "Tom", 1)).await.unwrap();
        for _ in 1..5 {
            store.reinforce_memory(&key.into(), 2).await.unwrap();
        }
        let mine = store.memory(&key.into()).await.unwrap().unwrap();
        let new = NewPromotion { addition: "Tom.".to_owned(), trust: Trust::Owner, source: None, now_ms: 3 };
        let promoted = match is_promoted {
            true => Some(store.promote_memory(&key.into(), new).await.unwrap().id),
            false => store.forget_memory(&key.into(), 3).await.map(|_| None).unwrap(),
        };
        let likes = [key.to_uppercase(), format!("{key}!")];
        for like in [key, &likes[0], &likes[1]] {
            let theirs = NewMemory { trust: Trust::Outside, ..memory(Some(like), &format!("not {like}"), 4) };
            store.store_memory(theirs).await.unwrap();
        }
        // One that is archived keeps its key.
        store.archive_memories(1, 5).await.unwrap();
        let archived = store.archived_memories().await.unwrap().rows.len();
        assert!(archived > 0);
        match promoted {
            Some(id) => _ = store.undo_promotion(id, 6).await.unwrap(),
            None => {
                let gone = store.memory_events(Some(mine.id)).await.unwrap().rows.pop().unwrap();
                store.undo_memory(gone.id, 6).await.unwrap();
            }
        }
        assert_eq!(store.memory(&key.into()).await.unwrap(), Some(mine), "{key}");
        let all = store.memories(None).await.unwrap().rows;
        let theirs: Vec<_> = all.iter().filter(|memory| memory.trust.is_foreign()).collect();
        assert!(theirs.iter().all(|memory| memory.key == memory.id.to_string()), "{theirs:?}");
        assert!(theirs.len() >= 2, "they are there: {theirs:?}");
        assert_eq!(store.archived_memories().await.unwrap().rows.len(), archived, "what is put away stays so");
    }
}

/// Not after it was archived, renamed or forgotten: it goes by its number then. Some of these keys have a letter of Cyrillic.
// SEC-065 LES-060
pub async fn a_strangers_memory_comes_back_under_no_key_that_looks_like_the_owners(bench: &Bench) {
    let store = bench.store.as_ref();
    let theirs = |key: &str, now| NewMemory { trust: Trust::Outside, ..memory(Some(key), &format!("not {key}"), now) };
    for (key, like, is_archived) in [("wifi", "w\u{456}fi", true), ("door", "d\u{43e}or", false)] {
        let id = store.store_memory(theirs(like, 1)).await.unwrap().memory.id;
        if is_archived {
            assert_eq!(store.archive_memories(1, 2).await.unwrap(), 1);
        }
        store.store_memory(memory(Some(key), key, 3)).await.unwrap();
        assert_eq!(
            store.memory(&like.into()).await.unwrap(),
            None,
            "a word for the one means no other, archived or not"
        );
        if is_archived {
            assert!(store.store_memory(theirs(like, 4)).await.is_err());
        }
        let events = store.memory_events(Some(id)).await.unwrap().rows;
        let was_like = |before: &limpid_core::Memory| before.key == like;
        let events: Vec<_> = events.iter().filter(|event| event.before.as_ref().is_some_and(was_like)).collect();
        assert!(!events.is_empty(), "{key}");
        for event in events {
            let back = store.undo_memory(event.id, 5).await.unwrap().unwrap();
            assert_eq!((back.id, back.key), (id, id.to_string()));
        }
    }
    for (key, like) in [("tea", "t\u{435}a"), ("cat", "cat")] {
        let id = store.store_memory(theirs(like, 6)).await.unwrap().memory.id;
        store.forget_memory(&id.into(), 7).await.unwrap();
        let mine = store.store_memory(memory(Some(key), key, 8)).await.unwrap().memory;
        let gone = store.memory_events(Some(id)).await.unwrap().rows.pop().unwrap();
        let back = store.undo_memory(gone.id, 9).await.unwrap().unwrap();
        assert_eq!((back.id, &back.key), (id, &id.to_string()));
        assert_eq!(store.memory(&id.into()).await.unwrap(), Some(back));
        assert_eq!(store.memory(&key.into()).await.unwrap(), Some(mine));
    }
    let all = store.memories(None).await.unwrap().rows;
    let theirs: Vec<_> = all.iter().filter(|memory| memory.trust.is_foreign()).collect();
    assert_eq!(theirs.len(), 4);
    assert!(theirs.iter().all(|memory| memory.key == memory.id.to_string()), "{theirs:?}");
}

/// What the ranker knows of all memories is right after every change, for each owner alone.
// KOSHI-024 LES-058
pub async fn counts_of_words_follow_every_change(bench: &Bench) {
    let (store, other) = (bench.store.as_ref(), bench.other.as_ref());
    let counts = async |store: &dyn Store| {
        let corpus = store.candidates(&query_words("tea berlin kyoto"), None, 9).await.unwrap().corpus;
        let holding: Vec<u64> = corpus.holding.iter().map(|(_, count)| *count).collect();
        (corpus.documents, corpus.words, holding)
    };
    store.store_memory(memory(Some("a"), "tea tea in Berlin", 1)).await.unwrap();
    store.store_memory(memory(Some("bb"), "Tea", 1)).await.unwrap();
    other.store_memory(memory(Some("a"), "tea in Kyoto", 1)).await.unwrap();
    assert_eq!(counts(store).await, (2, 6, vec![2, 1, 0]));
    assert_eq!(counts(other).await, (1, 3, vec![1, 0, 1]));

    store.store_memory(memory(Some("a"), "moved to Kyoto", 2)).await.unwrap();
    assert_eq!(counts(store).await, (2, 5, vec![1, 0, 1]));
    store.reinforce_memory(&"a".into(), 3).await.unwrap();
    let gone = store.forget_memory(&"bb".into(), 4).await.unwrap();
    assert_eq!(counts(store).await, (1, 3, vec![0, 0, 1]));
    let forgotten = store.memory_events(Some(gone.id)).await.unwrap().rows.pop().unwrap();
    store.undo_memory(forgotten.id, 5).await.unwrap();
    assert_eq!(counts(store).await, (2, 5, vec![1, 0, 1]));
    store.rebuild_memory_index().await.unwrap();
    assert_eq!(counts(store).await, (2, 5, vec![1, 0, 1]));
    assert_eq!(counts(other).await, (1, 3, vec![1, 0, 1]));
    assert_eq!(found(store, "tea").await, ["bb"]);
}

/// By time of creation, then key; or those of one category.
// KAI-036
pub async fn memories_are_listed_in_the_order_they_were_made(bench: &Bench) {
    let store = bench.store.as_ref();
    for (key, now, category) in [("b", 2, Category::General), ("a", 2, Category::Error), ("z", 1, Category::General)] {
        store.store_memory(NewMemory { category, ..memory(Some(key), key, now) }).await.unwrap();
    }
    // What changed last was still made first.
    store.reinforce_memory(&"z".into(), 9).await.unwrap();
    let keys = |listed: crate::Listed<limpid_core::Memory>| -> Vec<String> {
        listed.rows.into_iter().map(|memory| memory.key).collect()
    };
    assert_eq!(keys(store.memories(None).await.unwrap()), ["z", "a", "b"]);
    assert_eq!(keys(store.memories(Some(Category::General)).await.unwrap()), ["z", "b"]);
}

/// The index follows the memory.
pub async fn forgotten_memories_are_not_found(bench: &Bench) {
    let store = bench.store.as_ref();
    store.store_memory(memory(Some("k"), "Lives in Berlin", 1)).await.unwrap();
    store.store_memory(memory(Some("k"), "Lives in Bergen", 2)).await.unwrap();
    assert_eq!(found(store, "Berlin").await, [""; 0]);
    assert_eq!(found(store, "Bergen").await, ["k"]);
    store.forget_memory(&"k".into(), 3).await.unwrap();
    assert_eq!(found(store, "Bergen").await, [""; 0]);
    let next = store.store_memory(memory(None, "new", 4)).await.unwrap().memory;
    assert_eq!(next.id, MemoryId(2), "a number is never used twice");
}

/// The present content decides: an undo brings back who said the old one. A turn leads to its conversation.
// LES-050
pub async fn a_memory_knows_who_said_it_where_and_when(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "c", "t").await;
    let source = Some("turn:t".to_owned());
    let guess = NewMemory { author: Author::Inferred, source: source.clone(), ..memory(Some("k"), "a guess", 1) };
    let id = store.store_memory(guess).await.unwrap().memory.id;
    let guessed = Provenance { author: Author::Inferred, source, conversation: Some(conversation_id("c")), at_ms: 1 };
    assert_eq!(store.provenance(&[id, MemoryId(99)]).await.unwrap(), [(id, guessed.clone())]);
    store.store_memory(memory(Some("k"), "a fact", 2)).await.unwrap();
    store.reinforce_memory(&id.into(), 3).await.unwrap();
    let said = Provenance { author: Author::Said, source: None, conversation: None, at_ms: 2 };
    assert_eq!(store.provenance(&[id]).await.unwrap(), [(id, said)]);
    let events = store.memory_events(Some(id)).await.unwrap().rows;
    store.undo_memory(events[1].id, 4).await.unwrap();
    assert_eq!(store.provenance(&[id]).await.unwrap(), [(id, guessed)]);
    assert_eq!(bench.other.provenance(&[id]).await.unwrap(), []);
}

/// Pinned, or useful often enough: what a prompt may have to show without being asked.
// KAI-049 KOSHI-028
pub async fn prominent_memories_are_pinned_or_proven(bench: &Bench) {
    let store = bench.store.as_ref();
    for (key, hits) in [("plain", 1), ("four", 4), ("five", 5), ("pin", 1)] {
        store.store_memory(memory(Some(key), key, 1)).await.unwrap();
        for _ in 1..hits {
            store.reinforce_memory(&key.into(), 2).await.unwrap();
        }
    }
    store.pin_memory(&"pin".into(), true, 3).await.unwrap();
    let keys =
        async || store.prominent_memories().await.unwrap().rows.into_iter().map(|m| m.key).collect::<Vec<String>>();
    assert_eq!(keys().await, ["five", "pin"]);
    assert!(bench.other.prominent_memories().await.unwrap().rows.is_empty());
    // One that is in the archive is not.
    for _ in 0..99 {
        store.demote_memory(&"five".into(), 4).await.unwrap();
    }
    assert_eq!(store.archive_memories(0, 5).await.unwrap(), 1);
    assert_eq!(keys().await, ["pin"]);
}

/// Above the limit the lowest hundredth goes, pinned ones never; search finds it, and a change brings it back.
// KOSHI-028
pub async fn the_lowest_hundredth_goes_to_a_searchable_archive(bench: &Bench) {
    let store = bench.store.as_ref();
    for n in 0..200 {
        store.store_memory(memory(Some(&format!("k{n:03}")), "tea", 1000 - n)).await.unwrap();
    }
    // The two oldest of those with the lowest score; 199 would be the third.
    for key in ["k010", "k020", "k199"] {
        store.demote_memory(&key.into(), 2000).await.unwrap();
    }
    store.demote_memory(&"k020".into(), 2000).await.unwrap();
    store.pin_memory(&"k199".into(), true, 2000).await.unwrap();
    // The oldest but one helped lately, and then did not.
    store.reinforce_memory(&"k198".into(), 2000).await.unwrap();
    for _ in 0..3 {
        store.demote_memory(&"k198".into(), 2000).await.unwrap();
    }
    assert_eq!(store.archive_memories(200 * 7, 3000).await.unwrap(), 0, "at the limit nothing moves");
    assert_eq!(store.archive_memories(200 * 7 - 1, 3000).await.unwrap(), 2);
    assert_eq!(store.archive_memories(198 * 7, 3000).await.unwrap(), 0, "the archive itself counts no more");
    let keys = |rows: Vec<limpid_core::Memory>| -> Vec<String> { rows.into_iter().map(|m| m.key).collect() };
    assert_eq!(keys(store.archived_memories().await.unwrap().rows), ["k020", "k010"]);
    let listed = keys(store.memories(None).await.unwrap().rows);
    assert!(listed.len() == 198 && !listed.contains(&"k020".to_owned()));
    assert_eq!(found(store, "k020").await, ["k020"]);
    let events = store.memory_events(None).await.unwrap().rows;
    assert_eq!(events.last().map(|event| event.kind), Some(MemoryEventKind::Archived));
    store.reinforce_memory(&"k020".into(), 4000).await.unwrap();
    assert_eq!(keys(store.archived_memories().await.unwrap().rows), ["k010"]);
    // Of equal scores the one that was touched least lately goes.
    assert_eq!(store.archive_memories(0, 5000).await.unwrap(), 1);
    assert_eq!(keys(store.archived_memories().await.unwrap().rows), ["k197", "k010"]);
    // What strangers wrote crowds out nothing of the owner's, however new and liked it is.
    let theirs = |key| NewMemory { trust: Trust::Outside, ..memory(Some(key), &"tea".repeat(1000), 6000) };
    for key in ["theirs", "too"] {
        store.store_memory(theirs(key)).await.unwrap();
        store.reinforce_memory(&key.into(), 6000).await.unwrap();
    }
    let before = keys(store.archived_memories().await.unwrap().rows);
    for n in 1..4 {
        assert_eq!(store.archive_memories(198 * 7, 7000 + n).await.unwrap(), u64::from(n < 3), "they are moved alone");
    }
    let mut archived = keys(store.archived_memories().await.unwrap().rows);
    archived.retain(|key| !before.contains(key));
    assert_eq!(archived, ["theirs", "too"]);
}

/// The index says how much it covers and can be made anew.
// LES-058
pub async fn the_index_covers_every_memory_and_can_be_made_anew(bench: &Bench) {
    let store = bench.store.as_ref();
    bench.other.store_memory(memory(Some("theirs"), "tea", 1)).await.unwrap();
    for key in ["a", "b", "c"] {
        store.store_memory(memory(Some(key), "tea", 1)).await.unwrap();
    }
    store.forget_memory(&"b".into(), 2).await.unwrap();
    assert_eq!(store.memory_index().await.unwrap(), IndexState { memories: 2, indexed: 2 });
    assert_eq!(store.rebuild_memory_index().await.unwrap(), 3);
    assert_eq!(store.memory_index().await.unwrap(), IndexState { memories: 2, indexed: 2 });
    assert_eq!(found(store, "tea").await.len(), 2);
}
