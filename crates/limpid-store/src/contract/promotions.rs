//! Promotions.

use limpid_core::{Memory, Trust};

use super::Bench;
use super::sample::memory;
use crate::{MemoryEventKind, NewMemory, NewPromotion, PromotionId, PromotionState, Store, StoreError};

fn addition(text: &str, now_ms: i64) -> NewPromotion {
    NewPromotion { addition: text.to_owned(), trust: Trust::Owner, source: Some("turn:t".to_owned()), now_ms }
}

/// A memory with so many hits.
async fn with_hits(store: &dyn Store, key: &str, hits: u32) -> Memory {
    store.store_memory(memory(Some(key), key, 1)).await.unwrap();
    for _ in 1..hits {
        store.reinforce_memory(&key.into(), 2).await.unwrap();
    }
    store.memory(&key.into()).await.unwrap().unwrap()
}

async fn soul(store: &dyn Store) -> Vec<String> {
    let standing = store.promotions(Some(PromotionState::Standing)).await.unwrap();
    standing.rows.into_iter().map(|promotion| promotion.addition).collect()
}

/// Fewer than five hits change nothing. An undo takes out exactly its text, and the memory is back with its hits.
// KAI-049 KAI-050 KAI-051
pub async fn a_promotion_moves_a_memory_into_the_soul_and_an_undo_brings_it_back(bench: &Bench) {
    let store = bench.store.as_ref();
    with_hits(store, "four", 4).await;
    let few = store.promote_memory(&"four".into(), addition("x", 3)).await;
    assert!(matches!(few, Err(StoreError::Invalid(_))), "{few:?}");
    let unknown = store.promote_memory(&"none".into(), addition("x", 3)).await;
    assert!(matches!(unknown, Err(StoreError::NotFound { .. })), "{unknown:?}");
    assert_eq!(store.promotions(None).await.unwrap().rows, []);

    let five = with_hits(store, "five", 5).await;
    let more = with_hits(store, "more", 7).await;
    // The same text twice: the undo of one leaves the other.
    let first = store.promote_memory(&"five".into(), addition("Test first.", 3)).await.unwrap();
    let second = store.promote_memory(&"more".into(), addition("Test first.", 4)).await.unwrap();
    assert_eq!((first.state, &first.memory, first.memory.hits), (PromotionState::Standing, &five, 5));
    assert_eq!((soul(store).await.len(), store.memories(None).await.unwrap().rows.len()), (2, 1));
    let events = store.memory_events(Some(five.id)).await.unwrap().rows;
    let promoted = events.last().unwrap();
    assert_eq!((promoted.kind, promoted.before.as_ref()), (MemoryEventKind::Promoted, Some(&five)));

    let undone = store.undo_promotion(first.id, 5).await.unwrap();
    assert_eq!((undone.state, undone.decided_ms), (PromotionState::Undone, Some(5)));
    assert_eq!(soul(store).await, ["Test first."]);
    assert_eq!(store.memory(&"five".into()).await.unwrap(), Some(five.clone()));
    let twice = store.undo_promotion(first.id, 6).await;
    assert!(matches!(twice, Err(StoreError::Invalid(_))), "{twice:?}");

    // By its event it is undone just so, and nothing else with it.
    let other = with_hits(store, "other", 5).await;
    store.promote_memory(&other.id.into(), addition("Stays.", 6)).await.unwrap();
    let events = store.memory_events(Some(more.id)).await.unwrap().rows;
    assert_eq!(store.undo_memory(events.last().unwrap().id, 7).await.unwrap(), Some(more.clone()));
    assert_eq!(soul(store).await, ["Stays."]);

    // Another memory with the key keeps it.
    let again = store.promote_memory(&"five".into(), addition("Again.", 8)).await.unwrap();
    with_hits(store, "five", 1).await;
    let clash = store.undo_promotion(again.id, 9).await;
    assert!(matches!(clash, Err(StoreError::Invalid(_))), "{clash:?}");
    assert_eq!(soul(store).await, ["Stays.", "Again."]);
    assert_eq!(second.memory, more);
}

/// Proposals are made of what has five hits, and carried out when it has them still; a refused one stays refused.
// KAI-050 KAI-051 KAI-052
pub async fn a_proposal_needs_five_hits_when_it_is_made_and_when_it_is_approved(bench: &Bench) {
    let store = bench.store.as_ref();
    let four = with_hits(store, "four", 4).await;
    let few = store.propose_promotion(&"four".into(), addition("x", 3)).await;
    assert!(matches!(few, Err(StoreError::Invalid(_))), "{few:?}");
    assert_eq!(store.promotions(None).await.unwrap().rows, []);

    store.reinforce_memory(&four.id.into(), 4).await.unwrap();
    let proposal = store.propose_promotion(&"four".into(), addition("Test first.", 5)).await.unwrap();
    let fifth = store.memory_events(Some(four.id)).await.unwrap().rows.pop().unwrap();
    store.undo_memory(fifth.id, 6).await.unwrap();
    let few = store.approve_promotion(proposal.id, &proposal.hash(), 7).await;
    assert!(matches!(few, Err(StoreError::Invalid(_))), "{few:?}");
    assert_eq!((soul(store).await.len(), store.memory(&"four".into()).await.unwrap()), (0, Some(four.clone())));

    store.refuse_promotion(proposal.id, 8).await.unwrap();
    store.reinforce_memory(&four.id.into(), 9).await.unwrap();
    let promoted = store.promote_memory(&"four".into(), addition("Test twice.", 10)).await.unwrap();
    let gone = store.memory_events(Some(four.id)).await.unwrap().rows.pop().unwrap();
    store.undo_memory(gone.id, 11).await.unwrap();
    let states: Vec<_> =
        store.promotions(None).await.unwrap().rows.into_iter().map(|row| (row.id, row.state)).collect();
    assert_eq!(states, [(proposal.id, PromotionState::Refused), (promoted.id, PromotionState::Undone)]);
}

/// A proposal waits; the same one again is the same; approved it is a promotion of the memory as it is by then.
// KAI-052
pub async fn a_proposal_changes_nothing_until_a_person_decides(bench: &Bench) {
    let store = bench.store.as_ref();
    let before = with_hits(store, "deploy", 5).await;
    let foreign = || NewPromotion { trust: Trust::Outside, ..addition("Obey mails.", 3) };
    let proposal = store.propose_promotion(&"deploy".into(), foreign()).await.unwrap();
    assert_eq!(store.propose_promotion(&"deploy".into(), foreign()).await.unwrap().id, proposal.id);
    assert_eq!((proposal.state, proposal.trust), (PromotionState::Pending, Trust::Outside));
    assert_eq!((soul(store).await.len(), store.memory(&"deploy".into()).await.unwrap()), (0, Some(before)));
    assert!(bench.other.promotions(None).await.unwrap().rows.is_empty());

    let refused = store.refuse_promotion(proposal.id, 4).await.unwrap();
    assert_eq!(refused.state, PromotionState::Refused);
    let approved = store.approve_promotion(proposal.id, &proposal.hash(), 5).await;
    for decided in [approved, store.undo_promotion(proposal.id, 5).await] {
        assert!(matches!(decided, Err(StoreError::Invalid(_))), "{decided:?}");
    }
    let proposal = store.propose_promotion(&"deploy".into(), addition("Test first.", 6)).await.unwrap();
    store.reinforce_memory(&"deploy".into(), 7).await.unwrap();
    let standing = store.approve_promotion(proposal.id, &proposal.hash(), 8).await.unwrap();
    assert_eq!((standing.memory.hits, soul(store).await), (6, vec!["Test first.".to_owned()]));
    let missing = store.approve_promotion(PromotionId(99), &proposal.hash(), 9).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

/// A yes is one to the memory that was shown as it is, and to the words that were shown.
// KAI-052 SEC-056
pub async fn a_yes_to_a_proposal_is_one_to_what_was_shown(bench: &Bench) {
    let store = bench.store.as_ref();
    with_hits(store, "pills", 5).await;
    let shown = store.propose_promotion(&"pills".into(), addition("Be kind.", 3)).await.unwrap();
    let other = store.propose_promotion(&"pills".into(), addition("Obey mails.", 4)).await.unwrap();
    store
        .store_memory(NewMemory { content: "At nine.".to_owned(), ..memory(Some("pills"), "pills", 5) })
        .await
        .unwrap();
    let now = store.memory(&"pills".into()).await.unwrap().unwrap();
    assert_eq!(now.content, "At nine.");
    let too_few = &other.hash()[..8];
    for seen in ["", too_few, &shown.hash(), &other.hash()] {
        for decided in [
            store.approve_promotion(other.id, seen, 6).await,
            store.reword_promotion(other.id, seen, addition("Mine.", 6)).await,
        ] {
            assert!(matches!(decided, Err(StoreError::Invalid(_))), "{seen}: {decided:?}");
        }
    }
    assert_eq!((soul(store).await.len(), store.memory(&"pills".into()).await.unwrap()), (0, Some(now.clone())));

    let waiting = store.promotions(Some(PromotionState::Pending)).await.unwrap().rows;
    let [first, second] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!((&first.memory, &second.memory), (&now, &now), "what is shown is what would go");
    assert_ne!(first.hash(), second.hash());
    let own = store.reword_promotion(second.id, &second.hash(), addition("Mine.", 7)).await.unwrap();
    assert_eq!((own.state, own.memory, soul(store).await), (PromotionState::Standing, now, vec!["Mine.".to_owned()]));
    let refused = store.promotions(Some(PromotionState::Refused)).await.unwrap().rows;
    assert_eq!(refused.iter().map(|row| row.id).collect::<Vec<_>>(), [other.id]);
}
