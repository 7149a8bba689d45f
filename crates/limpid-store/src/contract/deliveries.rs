//! Messages that nobody waits for.

use limpid_core::{Role, Trust};

use super::Bench;
use super::sample::{ODD, conversation, conversation_id, lease, message};
use crate::{
    Audience, Delivery, DeliveryId, DeliveryOrigin, DraftId, NewConversation, NewDelivery, NewMessage,
    PendingNotifications, PushOutcome, Store, StoreError,
};

/// A key is delivered once, whatever comes under it later and wherever it would go.
// KAI-073 LES-097
pub async fn a_key_is_delivered_once_ever(bench: &Bench) {
    let store = bench.store.as_ref();
    for id in ["c", "d"] {
        store.create_conversation(conversation(id, 0)).await.unwrap();
    }
    assert!(store.enqueue(new("k", "c")).await.unwrap());
    assert!(!store.enqueue(NewDelivery { text: "other".to_owned(), ..new("k", "d") }).await.unwrap());
    let pending = pending(store).await;
    assert_eq!((pending.len(), &pending[0].new), (1, &new("k", "c")));
    let lease = lease(store, "c", 0).await;
    let id = pending[0].id;
    assert!(store.deliver(&lease, id, said(), PendingNotifications::default(), 7).await.unwrap());
    assert!(!store.deliver(&lease, id, said(), PendingNotifications::default(), 8).await.unwrap(), "it was delivered");
    assert!(!store.enqueue(new("k", "c")).await.unwrap(), "the key stays known");
    assert_eq!(super::deliveries::pending(store).await, []);
    let rows = store.messages(&conversation_id("c"), None).await.unwrap().rows;
    let texts: Vec<_> = rows.iter().map(|row| (row.message.role, row.message.text.as_str(), row.at_ms)).collect();
    assert_eq!(texts, [(Role::User, "[heartbeat]", 7), (Role::Assistant, ODD, 7)]);
    assert!(store.unfinished_turns().await.unwrap().rows.is_empty());
    assert!(bench.other.deliveries(9).await.unwrap().rows.is_empty(), "it is its owner's");
}

/// Only what was written down with a delivery says which draft it tells of.
// SEC-010
pub async fn which_draft_a_delivery_tells_of_is_no_matter_of_its_words(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let lease = lease(store, "c", 0).await;
    let told = async || store.turns_that_tell_of_drafts(&conversation_id("c")).await.unwrap();
    let text = "Draft 12 waits for you".to_owned();
    store.enqueue(NewDelivery { text: text.clone(), ..new("draft:12:open:1", "c") }).await.unwrap();
    store.enqueue(NewDelivery { text, draft: Some(DraftId(3)), ..new("k", "c") }).await.unwrap();
    assert!(told().await.is_empty(), "what is pending is no turn");
    for delivery in pending(store).await {
        store.deliver(&lease, delivery.id, said(), PendingNotifications::default(), 7).await.unwrap();
    }
    let rows = store.deliveries(9).await.unwrap().rows;
    assert_eq!((rows[0].new.draft, rows[1].new.draft), (Some(DraftId(3)), None));
    let turn = rows[0].turn.clone().unwrap();
    assert_eq!(told().await.into_iter().collect::<Vec<_>>(), [(turn, DraftId(3))]);
    assert!(store.turns_that_tell_of_drafts(&conversation_id("d")).await.unwrap().is_empty());
    assert!(bench.other.turns_that_tell_of_drafts(&conversation_id("c")).await.unwrap().is_empty());
}

/// Unread stays so until the owner has seen the conversation.
// KAI-066
pub async fn what_was_delivered_is_unread_until_it_is_read(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let lease = lease(store, "c", 0).await;
    for key in ["k", "l"] {
        store.enqueue(new(key, "c")).await.unwrap();
    }
    let unread = async || store.conversation(&conversation_id("c")).await.unwrap().unwrap().unread;
    assert_eq!(unread().await, 0, "what is pending was not delivered");
    for delivery in pending(store).await {
        store.deliver(&lease, delivery.id, said(), PendingNotifications::default(), 7).await.unwrap();
    }
    let listed = store.unread_deliveries().await.unwrap().rows;
    assert_eq!((unread().await, listed.len(), listed[0].new.title.as_str()), (2, 2, "Report"));
    assert!(store.mark_delivery_read(listed[0].id, 8).await.unwrap());
    assert!(!store.mark_delivery_read(listed[0].id, 9).await.unwrap());
    assert!(!bench.other.mark_delivery_read(listed[1].id, 9).await.unwrap(), "it is its owner's");
    assert_eq!((unread().await, store.unread_deliveries().await.unwrap().rows), (1, vec![listed[1].clone()]));
    assert_eq!(store.mark_read(&conversation_id("c"), 9).await.unwrap(), 1);
    assert_eq!(store.mark_read(&conversation_id("c"), 10).await.unwrap(), 0);
    assert_eq!(unread().await, 0);
    assert!(store.unread_deliveries().await.unwrap().rows.is_empty());
    assert_eq!(store.deliveries(1).await.unwrap().rows[0].read_ms, Some(9));
}

/// Who else is to tell a delivery is known from the moment of its delivery until its end, and the end is written once.
// SEC-041
pub async fn a_push_is_known_until_its_end(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let lease = lease(store, "c", 0).await;
    store.enqueue(new("k", "c")).await.unwrap();
    let id = pending(store).await[0].id;
    let pending_notifications = |holder: &str| PendingNotifications {
        names: vec!["desktop".to_owned(), "ntfy".to_owned()],
        holder: holder.to_owned(),
    };
    assert!(store.deliver(&lease, id, said(), pending_notifications("first"), 7).await.unwrap());
    assert!(!store.deliver(&lease, id, said(), pending_notifications("second"), 8).await.unwrap());
    let open = async || {
        let rows = store.open_pushes().await.unwrap().rows;
        rows.into_iter().map(|push| format!("{} {} {}", push.by, push.title, push.holder)).collect::<Vec<_>>()
    };
    assert_eq!(open().await, ["desktop Report first", "ntfy Report first"]);
    assert!(store.end_push(id, "ntfy", PushOutcome::Told, "", 9).await.unwrap());
    assert!(!store.end_push(id, "ntfy", PushOutcome::Unknown, "", 10).await.unwrap(), "the end is known");
    assert_eq!(open().await, ["desktop Report first"]);
    assert!(bench.other.open_pushes().await.unwrap().rows.is_empty(), "they are their owner's");
}

/// What has nothing to say is settled without a trace in its conversation.
// LES-044
pub async fn what_has_nothing_to_say_leaves_no_trace(bench: &Bench) {
    let store = bench.store.as_ref();
    let made = store.create_conversation(conversation("c", 1)).await.unwrap();
    let lease = lease(store, "c", 0).await;
    store.enqueue(new("k", "c")).await.unwrap();
    let id = pending(store).await[0].id;
    assert!(store.deliver(&lease, id, Vec::new(), PendingNotifications::default(), 9).await.unwrap());
    assert_eq!(store.conversation(&made.id).await.unwrap(), Some(made));
    assert_eq!(pending(store).await, []);
    let settled = store.deliveries(9).await.unwrap().rows;
    assert_eq!((settled[0].settled_ms, &settled[0].turn), (Some(9), &None));
}

/// A target that is not there is known when the message is made; nobody writes without the lease.
// LES-098 ARC-010
pub async fn a_dead_target_and_a_stale_lease_are_refused(bench: &Bench) {
    let store = bench.store.as_ref();
    let dead = store.enqueue(new("k", "nowhere")).await;
    assert!(matches!(dead, Err(StoreError::NotFound { .. })), "{dead:?}");
    for id in ["c", "d"] {
        store.create_conversation(conversation(id, 0)).await.unwrap();
    }
    assert!(store.enqueue(new("k", "c")).await.unwrap(), "a refused key is free");
    let id = pending(store).await[0].id;
    let stale = lease(store, "c", 0).await;
    store.release(&conversation_id("c"), stale.fence).await.unwrap();
    let refused = store.deliver(&stale, id, said(), PendingNotifications::default(), 1).await;
    assert!(matches!(refused, Err(StoreError::StaleFence { .. })), "{refused:?}");
    let other = lease(store, "d", 0).await;
    let refused = store.deliver(&other, id, said(), PendingNotifications::default(), 1).await;
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
    let refused = store.deliver(&other, DeliveryId(99), said(), PendingNotifications::default(), 1).await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    assert_eq!(pending(store).await.len(), 1);
}

/// Answers in such a conversation leave for whoever asks, so no words from elsewhere get into it, whoever sends them.
// SEC-005
pub async fn nothing_is_delivered_to_strangers(bench: &Bench) {
    let store = bench.store.as_ref();
    let strangers = NewConversation { audience: Audience::Strangers, ..conversation("d", 0) };
    store.create_conversation(strangers).await.unwrap();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let refused = store.enqueue(new("k", "d")).await;
    assert!(matches!(refused, Err(StoreError::ForStrangers { .. })), "{refused:?}");
    assert!(store.enqueue(new("k", "c")).await.unwrap(), "a refused key is free");
    assert_eq!(pending(store).await.len(), 1);
}

async fn pending(store: &dyn Store) -> Vec<Delivery> {
    let all = store.pending_deliveries(None).await.unwrap().rows;
    assert_eq!(store.pending_deliveries(Some(&conversation_id("c"))).await.unwrap().rows, all);
    assert_eq!(store.pending_deliveries(Some(&conversation_id("d"))).await.unwrap().rows, []);
    let waiting: Vec<_> = if all.is_empty() { Vec::new() } else { vec![conversation_id("c")] };
    assert_eq!(store.conversations_with_deliveries().await.unwrap(), waiting);
    all
}

fn said() -> Vec<NewMessage> {
    vec![message(Role::User, DeliveryOrigin::Heartbeat.marker()), message(Role::Assistant, ODD)]
}

fn new(key: &str, conversation: &str) -> NewDelivery {
    NewDelivery {
        key: key.to_owned(),
        conversation: conversation_id(conversation),
        origin: DeliveryOrigin::Heartbeat,
        title: "Report".to_owned(),
        text: ODD.to_owned(),
        trust: Trust::Outside,
        draft: None,
        now_ms: 5,
    }
}
