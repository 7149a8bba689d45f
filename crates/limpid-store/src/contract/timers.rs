//! When things are due, and who works on what is.

use super::Bench;
use crate::{Store, Timer, TimerLease};

/// Each thing has one timer; it is listed by time, and the next time is the earliest.
pub async fn each_thing_has_one_timer(bench: &Bench) {
    let store = bench.store.as_ref();
    assert_eq!(store.next_timer_ms().await.unwrap(), None);
    for (kind, name, due) in [("task", "a", 30), ("mail", "a", 20), ("task", "a", 10), ("task", "b", 40)] {
        store.set_timer(kind, name, due).await.unwrap();
    }
    assert_eq!(told(store).await, ["task a at 10", "mail a at 20", "task b at 40"]);
    assert_eq!(store.next_timer_ms().await.unwrap(), Some(10));
    store.remove_timer("task", "a").await.unwrap();
    store.remove_timer("task", "never").await.unwrap();
    assert_eq!(told(store).await, ["mail a at 20", "task b at 40"]);
    assert_eq!(bench.other.next_timer_ms().await.unwrap(), None, "another owner sees none of it");
    assert!(claim(bench.other.as_ref(), 100, "me").await.is_empty());
}

/// What is due is claimed by one; when that one is gone, the next gets the same due time.
// LES-091
pub async fn what_is_due_is_claimed_by_one(bench: &Bench) {
    let store = bench.store.as_ref();
    store.set_timer("task", "a", 10).await.unwrap();
    store.set_timer("task", "b", 11).await.unwrap();
    store.set_timer("task", "c", 90).await.unwrap();
    let first = claim(store, 20, "one").await;
    assert_eq!(
        first.iter().map(|lease| (lease.name.as_str(), lease.due_ms)).collect::<Vec<_>>(),
        [("a", 10), ("b", 11)]
    );
    assert!(claim(store, 21, "two").await.is_empty());
    assert_eq!(store.timer_holders().await.unwrap(), ["one"]);
    assert_eq!(store.next_timer_ms().await.unwrap(), Some(70), "when the claims of `one` run out");
    assert!(store.extend_timer(&first[1], 200).await.unwrap());
    // `one` says nothing more: the claim of `a` runs out, that of `b` was extended.
    let again = claim(store, 70, "two").await;
    assert_eq!(again.iter().map(|lease| (lease.name.as_str(), lease.due_ms)).collect::<Vec<_>>(), [("a", 10)]);
    assert!(again[0].fence > first[0].fence);
    assert!(!store.settle_timer(&first[0], Some(99)).await.unwrap(), "the claim is another's");
    assert!(!store.extend_timer(&first[0], 999).await.unwrap());
    store.release_timers("one").await.unwrap();
    assert_eq!(claim(store, 71, "three").await.len(), 1, "what a dead process held is free at once");
}

/// A claim ends with the next time, or with none; a time that was set meanwhile stays.
pub async fn a_claim_ends_with_the_next_time(bench: &Bench) {
    let store = bench.store.as_ref();
    for (name, due) in [("again", 10), ("once", 11), ("moved", 12), ("gone", 13)] {
        store.set_timer("task", name, due).await.unwrap();
    }
    let [again, once, moved, gone] = <[TimerLease; 4]>::try_from(claim(store, 20, "me").await).unwrap();
    store.set_timer("task", "moved", 500).await.unwrap();
    store.remove_timer("task", "gone").await.unwrap();
    assert!(claim(store, 21, "other").await.is_empty());
    assert!(store.settle_timer(&again, Some(40)).await.unwrap());
    assert!(store.settle_timer(&once, None).await.unwrap());
    assert!(store.settle_timer(&moved, None).await.unwrap());
    assert!(!store.settle_timer(&gone, Some(50)).await.unwrap());
    assert!(!store.settle_timer(&again, Some(41)).await.unwrap(), "it ended before");
    assert_eq!(told(store).await, ["task again at 40", "task moved at 500"]);
    assert_eq!(store.timer_holders().await.unwrap(), [""; 0]);
}

/// What failed comes again with the same due time, later, or at once when it is set anew.
// LES-091
pub async fn what_failed_is_put_off(bench: &Bench) {
    let store = bench.store.as_ref();
    store.set_timer("task", "a", 10).await.unwrap();
    let first = claim(store, 20, "me").await.remove(0);
    assert!(store.put_off_timer(&first, 500).await.unwrap());
    assert!(!store.put_off_timer(&first, 900).await.unwrap(), "it was given back");
    assert_eq!(store.next_timer_ms().await.unwrap(), Some(500));
    assert!(claim(store, 499, "me").await.is_empty());
    let second = claim(store, 500, "me").await.remove(0);
    assert_eq!(second.due_ms, 10);
    assert!(store.put_off_timer(&second, 2_000).await.unwrap());
    store.set_timer("task", "a", 600).await.unwrap();
    assert_eq!(claim(store, 600, "me").await.remove(0).due_ms, 600);
}

/// What was put off is due at its own time again when the reason is gone; what somebody works on stays theirs.
pub async fn what_was_put_off_is_due_again(bench: &Bench) {
    let store = bench.store.as_ref();
    for (kind, name) in [("task", "a"), ("task", "held"), ("mail", "a")] {
        store.set_timer(kind, name, 10).await.unwrap();
    }
    for lease in claim(store, 20, "me").await {
        if lease.name != "held" {
            assert!(store.put_off_timer(&lease, 500).await.unwrap());
        }
    }
    store.undelay_timers("task").await.unwrap();
    let due = claim(store, 30, "me").await;
    assert_eq!(
        due.iter().map(|one| (one.kind.as_str(), one.name.as_str(), one.due_ms)).collect::<Vec<_>>(),
        [("task", "a", 10)]
    );
}

/// At most so many are claimed as were asked for, those first that wait longest.
pub async fn the_oldest_are_claimed_first(bench: &Bench) {
    let store = bench.store.as_ref();
    for (name, due) in [("c", 3), ("a", 1), ("b", 2)] {
        store.set_timer("task", name, due).await.unwrap();
    }
    let names = |leases: Vec<TimerLease>| leases.into_iter().map(|lease| lease.name).collect::<Vec<_>>();
    assert_eq!(names(store.claim_timers(9, "me", 50, 2).await.unwrap()), ["a", "b"]);
    assert_eq!(names(store.claim_timers(9, "me", 50, 2).await.unwrap()), ["c"]);
}

/// One timer can be claimed alone, when it is due and free.
pub async fn one_timer_is_claimed_alone(bench: &Bench) {
    let store = bench.store.as_ref();
    for (kind, name, due) in [("task", "a", 3), ("mail", "a", 1), ("task", "b", 1), ("task", "c", 90)] {
        store.set_timer(kind, name, due).await.unwrap();
    }
    let one = async |name: &str| store.claim_timer("task", name, 9, "me", 50).await.unwrap().map(|lease| lease.due_ms);
    assert_eq!(one("a").await, Some(3));
    for name in ["a", "c", "never"] {
        assert_eq!(one(name).await, None, "{name}");
    }
    assert_eq!(store.claim_timers(9, "me", 50, 9).await.unwrap().len(), 2);
}

async fn claim(store: &dyn Store, now_ms: i64, holder: &str) -> Vec<TimerLease> {
    store.claim_timers(now_ms, holder, 50, 10).await.unwrap()
}

async fn told(store: &dyn Store) -> Vec<String> {
    let timers = store.timers().await.unwrap().rows;
    timers.iter().map(|Timer { kind, name, due_ms, .. }| format!("{kind} {name} at {due_ms}")).collect()
}
