//! Who may write to a conversation.

use limpid_core::Role;

use super::Bench;
use super::sample::{begin, begun, conversation, conversation_id, event, lease, message};
use crate::{Acquired, Fence, NewTurn, StoreError, TurnWrite};

/// A live lease is nobody else's, and not its holder's a second time; another conversation's is free.
// ARC-010
pub async fn one_holder_at_a_time(bench: &Bench) {
    let store = bench.store.as_ref();
    let id = conversation_id("c");
    store.create_conversation(conversation("c", 0)).await.unwrap();
    store.create_conversation(conversation("d", 0)).await.unwrap();
    let first = lease(store, "c", 0).await;
    for holder in ["other", "me"] {
        let busy = store.acquire(&id, holder, 59_999, 1).await.unwrap();
        assert_eq!(busy, Acquired::Busy(first.clone()));
    }
    lease(store, "d", 0).await;
    let renewed = store.renew(&first, 50_000, 60_000).await.unwrap();
    assert_eq!(renewed.until_ms, 110_000);
    assert!(matches!(store.acquire(&id, "other", 60_000, 1).await.unwrap(), Acquired::Busy(_)));
    let Acquired::Lease(second) = store.acquire(&id, "other", 110_000, 1).await.unwrap() else { panic!("ran out") };
    assert!(second.fence > first.fence);
    let missing = store.acquire(&conversation_id("x"), "me", 0, 1).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

/// After a take-over the former holder can neither write, begin nor renew; one that merely ran out still writes.
// ARC-010
pub async fn a_stale_fence_writes_nothing(bench: &Bench) {
    let store = bench.store.as_ref();
    let (old, turn) = begun(store, "c", "t").await;
    let write = || vec![TurnWrite::Messages(vec![message(Role::User, "hi")]), TurnWrite::Event(event("x"))];
    store.commit(&old, &turn, write(), 1_000_000).await.unwrap();
    let new = lease(store, "c", 1_000_000).await;
    for refused in [
        store.commit(&old, &turn, write(), 1_000_001).await.err(),
        store.renew(&old, 1_000_001, 1).await.err(),
        store
            .begin_turn(
                &old,
                NewTurn { id: limpid_core::TurnId::new("u"), path: String::new(), inbound: vec![], now_ms: 1 },
                Vec::new(),
            )
            .await
            .err(),
    ] {
        assert!(matches!(refused, Some(StoreError::StaleFence { .. })), "{refused:?}");
    }
    store.commit(&new, &turn, write(), 1_000_001).await.unwrap();
    assert_eq!(store.messages(&conversation_id("c"), None).await.unwrap().rows.len(), 2);
    // The old holder's release does not take the new one's lease away.
    store.release(&conversation_id("c"), old.fence).await.unwrap();
    store.commit(&new, &turn, write(), 1_000_002).await.unwrap();
}

/// A lease that was given back is free at once and of no more use.
// ARC-010
pub async fn a_released_lease_writes_nothing(bench: &Bench) {
    let store = bench.store.as_ref();
    let (old, turn) = begun(store, "c", "t").await;
    store.release(&conversation_id("c"), old.fence).await.unwrap();
    let refused = store.commit(&old, &turn, vec![TurnWrite::Event(event("x"))], 1).await;
    assert!(matches!(refused, Err(StoreError::StaleFence { .. })), "{refused:?}");
    let next = lease(store, "c", 1).await;
    begin(store, &next, "u", &[]).await;
}

/// Whoever knows that a holder is dead need not wait for its lease to run out.
pub async fn a_dead_holder_can_be_put_aside(bench: &Bench) {
    let store = bench.store.as_ref();
    let id = conversation_id("c");
    store.create_conversation(conversation("c", 0)).await.unwrap();
    lease(store, "c", 0).await;
    let Acquired::Busy(dead) = store.acquire(&id, "next", 1, 1).await.unwrap() else { panic!("free") };
    store.release(&id, Fence(dead.fence.0 - 1)).await.unwrap();
    assert!(matches!(store.acquire(&id, "next", 1, 1).await.unwrap(), Acquired::Busy(_)));
    store.release(&id, dead.fence).await.unwrap();
    assert!(matches!(store.acquire(&id, "next", 1, 1).await.unwrap(), Acquired::Lease(_)));
}
