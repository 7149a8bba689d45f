//! Mail, text messages and notifications that came in.

use std::time::Instant;

use limpid_core::TurnId;
use limpid_core::inbox::{QUEUE, Source};
use limpid_core::mail::{Mark, Renumbered};

use super::Bench;
use super::heartbeats::quiet_end;
use super::sample::{ODD, begin, conversation, conversation_id, lease};
use crate::{
    Admission, ConversationKind, DayShare, DroppedItems, HeartbeatEnd, Inserted, ItemFilter, ItemId, Lease, MailUid,
    NewConversation, NewItem, Poll, PollOutcome, Store, StoreError, TurnOutcome, TurnWrite,
};

/// An item comes back as it came, to its owner alone, and the same key is the same item.
// LES-145 KAI-094
pub async fn an_item_is_kept_once_as_it_came(bench: &Bench) {
    let store = bench.store.as_ref();
    let new = NewItem { key: Some("k".to_owned()), text: ODD.to_owned(), ..sms(1) };
    let first = insert(store, new.clone()).await;
    assert!(first.fresh);
    let again = insert(store, NewItem { text: "other".to_owned(), ..new.clone() }).await;
    assert_eq!(again, Inserted { fresh: false, ..first });
    let kept = store.item(first.id).await.unwrap().unwrap();
    assert_eq!((kept.new.clone(), kept.waits, kept.shown_ms, kept.consumed_ms), (new.clone(), true, None, None));
    assert_eq!(store.pending(Source::Sms).await.unwrap().rows, [kept]);
    assert_eq!(bench.other.item(first.id).await.unwrap(), None, "it is its owner's");
    assert!(bench.other.pending(Source::Sms).await.unwrap().rows.is_empty());
    let elsewhere = insert(store, NewItem { source: Source::Notification, ..new }).await;
    assert!(elsewhere.fresh, "a key belongs to its source");
}

/// A hundred of each source wait; the oldest stop waiting, and can still be read.
// KAI-085
pub async fn the_oldest_item_stops_waiting(bench: &Bench) {
    let store = bench.store.as_ref();
    for source in Source::ALL {
        let many: Vec<NewItem> = (0..103).map(|n| NewItem { source, ..sms(n) }).collect();
        store.insert_items(many).await.unwrap();
    }
    for source in Source::ALL {
        let waiting = store.pending(source).await.unwrap().rows;
        assert_eq!((waiting.len(), waiting[0].new.posted_ms), (QUEUE, 3), "{source}");
        let unseen = ItemFilter { source: Some(source), unseen: true, ..ItemFilter::default() };
        assert_eq!(store.items(unseen).await.unwrap().rows.len(), 103, "what fell out of the queue is still new");
    }
}

/// What was too many to wait is counted, and put aside up to what was counted: it is new no more and its accounts are
/// read up to it, and what became too many meanwhile is told of another time.
// SEC-093 KAI-092
pub async fn what_was_too_many_is_put_aside_as_one(bench: &Bench) {
    let store = bench.store.as_ref();
    store.add_mail_account("a@x.org").await.unwrap();
    let poll = async |from: u32, to: u32| {
        let letters = (from..=to).map(|uid| mail(7, uid)).collect();
        store.record_poll("a@x.org", read(7, to, 3), letters).await.unwrap()[0].id
    };
    let first = poll(1, 130).await;
    let texts = inserted(store, (0..103).map(sms).collect()).await;
    let counted = async || {
        let dropped = store.dropped_items().await.unwrap();
        dropped.iter().map(|DroppedItems { source, count, .. }| (*source, *count)).collect::<Vec<_>>()
    };
    assert_eq!(counted().await, [(Source::Mail, 30), (Source::Sms, 3)]);
    assert!(bench.other.dropped_items().await.unwrap().is_empty());
    let letters = store.dropped_items().await.unwrap()[..1].to_vec();
    poll(131, 140).await;
    let end = HeartbeatEnd { dropped: letters, ..quiet_end("k", &conversation_id("run-k")) };
    assert!(bench.other.end_heartbeat(end.clone()).await.unwrap());
    assert_eq!(counted().await, [(Source::Mail, 40), (Source::Sms, 3)], "nobody puts aside what is another's");

    let at_ms = end.run.ended_ms;
    assert!(store.end_heartbeat(end).await.unwrap());
    assert_eq!(counted().await, [(Source::Mail, 10), (Source::Sms, 3)]);
    assert_eq!(store.mail_accounts().await.unwrap().rows[0].watermark, 30);
    let of_mail = ItemFilter { source: Some(Source::Mail), unseen: true, ..ItemFilter::default() };
    assert_eq!(store.items(of_mail).await.unwrap().rows.len(), 110);
    assert_eq!(store.pending(Source::Mail).await.unwrap().rows.len(), QUEUE);
    let aside = store.item(first).await.unwrap().unwrap();
    assert_eq!((aside.waits, aside.shown_ms, aside.consumed_ms), (false, Some(at_ms), Some(at_ms)));
    assert_eq!(store.mark_shown(&[first, texts[0]], 90).await.unwrap(), 1, "it is seen already");
}

/// However long the letters are that were too many, their end is no longer than that of a few.
// SEC-093 SEC-042
pub async fn a_flood_is_put_aside_at_once(bench: &Bench) {
    let store = bench.store.as_ref();
    store.add_mail_account("a@x.org").await.unwrap();
    let long = "Read this now. ".repeat(150);
    let letters = (1..=5_000).map(|uid| NewItem { text: long.clone(), ..mail(7, uid) }).collect();
    let begun = Instant::now();
    store.record_poll("a@x.org", read(7, 5_000, 3), letters).await.unwrap();
    let came = begun.elapsed();
    let dropped = store.dropped_items().await.unwrap();
    let begun = Instant::now();
    let end = HeartbeatEnd { dropped, ..quiet_end("k", &conversation_id("run-k")) };
    assert!(store.end_heartbeat(end).await.unwrap());
    let took = begun.elapsed();
    assert!(took * 4 < came, "what came in {came:?} was put aside in {took:?}");
    assert!(store.dropped_items().await.unwrap().is_empty());
    assert_eq!(store.mail_accounts().await.unwrap().rows[0].watermark, 4_900);
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How many of so many bytes each are kept of a sender, until there is no room; then, when there may be some.
async fn fill(store: &dyn Store, new: &NewItem, bytes: u64, share: DayShare) -> (usize, i64) {
    let mut kept = 0;
    loop {
        match store.hand_in(new.clone(), bytes, share).await.unwrap() {
            Admission::Kept(_) => kept += 1,
            Admission::Full { until_ms } => return (kept, until_ms),
        }
    }
}

/// A sender gets half of what the others leave; what counts is what the store holds of the last 24 hours, whoever asks.
// SEC-093
pub async fn a_sender_has_half_of_what_the_others_leave_of_a_day(bench: &Bench) {
    let store = bench.store.as_ref();
    let from = |sender: &str, now_ms| NewItem { sender: sender.to_owned(), now_ms, ..sms(1) };
    let share = |items| DayShare { items, bytes: 1000 };
    let mut kept = Vec::new();
    for sender in ["eve", "mallory", "bob", "ada"] {
        kept.push(fill(store, &from(sender, 1000), 10, share(16)).await.0);
    }
    assert_eq!(kept, [8, 4, 2, 1]);
    assert_eq!(fill(store, &from("eve", 61_000), 10, share(16)).await, (0, 1000 + DAY_MS));
    assert_eq!(fill(store, &from("eve", 61_000), 10, share(25)).await.0, 1, "the owner lets more come");
    let letter = NewItem { source: Source::Mail, ..from("eve", 61_000) };
    assert_eq!(fill(store, &letter, 10, share(16)).await.0, 8, "a source has its own day");
    assert_eq!(fill(bench.other.as_ref(), &from("eve", 61_000), 10, share(16)).await.0, 8, "and so has an owner");
    assert_eq!(fill(store, &from("eve", 1000 + DAY_MS), 10, share(16)).await.0, 7, "one is not a day old");
    assert_eq!(fill(store, &from("eve", 1000 - DAY_MS), 10, share(16)).await.0, 8, "the clock was set back");
}

/// Bytes are shared as items are, and what an account brought or what is known takes no room.
// SEC-093
pub async fn bytes_of_a_day_are_shared_in_the_same_way(bench: &Bench) {
    let store = bench.store.as_ref();
    let share = DayShare { items: 1000, bytes: 64 };
    let from = |sender: &str| NewItem { sender: sender.to_owned(), ..sms(1) };
    store.insert_items((0..100).map(sms).collect()).await.unwrap();
    let known = NewItem { key: Some("k".to_owned()), ..from("eve") };
    let first = store.hand_in(known.clone(), 1, share).await.unwrap();
    let mut kept = Vec::new();
    for sender in ["eve", "mallory", "bob"] {
        kept.push(fill(store, &from(sender), 1, share).await.0);
    }
    assert_eq!(kept, [31, 16, 8]);
    let Admission::Kept(Inserted { id, fresh: true }) = first else { panic!("{first:?}") };
    let again = store.hand_in(known, 1, share).await.unwrap();
    assert_eq!(again, Admission::Kept(Inserted { id, fresh: false }));
    let mut more = 0;
    for n in 0..200 {
        more += fill(store, &from(&format!("+49 {n}")), 1, share).await.0;
    }
    assert!(more <= 8, "{more}");
}

/// Exactly the items that were taken in stop waiting; what arrived meanwhile stays.
// KAI-086
pub async fn what_is_taken_in_waits_no_more(bench: &Bench) {
    let store = bench.store.as_ref();
    let ids: Vec<ItemId> = inserted(store, (0..3).map(sms).collect()).await;
    let late = insert(store, sms(9)).await.id;
    store.consume(&[ids[0], ids[2], ItemId(999)], 50).await.unwrap();
    let waiting: Vec<ItemId> = store.pending(Source::Sms).await.unwrap().rows.iter().map(|item| item.id).collect();
    assert_eq!(waiting, [ids[1], late]);
    let taken = store.item(ids[0]).await.unwrap().unwrap();
    assert_eq!((taken.shown_ms, taken.consumed_ms), (Some(50), Some(50)));
    bench.other.consume(&[late], 60).await.unwrap();
    assert_eq!(store.pending(Source::Sms).await.unwrap().rows.len(), 2, "nobody takes in what is another's");
}

/// What a list has shown no heartbeat shows, and what a heartbeat has shown no list shows.
// KAI-092
pub async fn what_was_shown_once_is_not_new_again(bench: &Bench) {
    let store = bench.store.as_ref();
    let ids = inserted(store, (0..3).map(sms).collect()).await;
    assert_eq!(store.mark_shown(&[ids[0], ItemId(999)], 40).await.unwrap(), 1);
    assert_eq!(store.mark_shown(&[ids[0]], 41).await.unwrap(), 0);
    store.consume(&[ids[1]], 50).await.unwrap();
    let waiting = store.pending(Source::Sms).await.unwrap().rows;
    assert_eq!(waiting.iter().map(|item| item.id).collect::<Vec<_>>(), [ids[2]]);
    let unseen = store.items(ItemFilter { unseen: true, ..ItemFilter::default() }).await.unwrap().rows;
    assert_eq!(unseen.iter().map(|item| item.id).collect::<Vec<_>>(), [ids[2]]);
    assert_eq!(store.item(ids[0]).await.unwrap().unwrap().shown_ms, Some(40), "the first time counts");
}

/// What a turn has shown is seen when the turn ends with an answer, and new again when it does not; what a run in the
/// background has shown waits for the end of that run.
// KAI-087 KAI-092
pub async fn what_a_turn_has_shown_is_seen_when_it_ends_well(bench: &Bench) {
    let store = bench.store.as_ref();
    let ids = inserted(store, (0..3).map(sms).collect()).await;
    let waiting = || async { store.pending(Source::Sms).await.unwrap().rows.len() };
    let ends = [(TurnOutcome::Failed, 3), (TurnOutcome::Cancelled, 3), (TurnOutcome::Answered, 2)];
    for (n, (outcome, left)) in ends.into_iter().enumerate() {
        let (lease, turn) = begun(store, &format!("c{n}"), ConversationKind::Chat).await;
        store.commit(&lease, &turn, vec![TurnWrite::Shown(vec![ids[0]])], 20).await.unwrap();
        let unseen = |turn: &TurnId| ItemFilter { not_shown_in: Some(turn.clone()), ..ItemFilter::default() };
        assert_eq!(store.items(unseen(&turn)).await.unwrap().rows.len(), 2, "not twice in one turn");
        assert_eq!(waiting().await, 3, "it only counts at the end");
        store.commit(&lease, &turn, vec![TurnWrite::End(outcome, String::new())], 21).await.unwrap();
        assert_eq!(waiting().await, left, "{outcome:?}");
        assert!(store.shown_items(&lease.conversation).await.unwrap().is_empty());
    }
    let (lease, turn) = begun(store, "run", ConversationKind::Run).await;
    let end = TurnWrite::End(TurnOutcome::Answered, String::new());
    store.commit(&lease, &turn, vec![TurnWrite::Shown(vec![ids[1]]), end], 22).await.unwrap();
    assert_eq!((waiting().await, store.shown_items(&lease.conversation).await.unwrap()), (2, vec![ids[1]]));
    assert!(bench.other.shown_items(&lease.conversation).await.unwrap().is_empty());
}

async fn begun(store: &dyn Store, id: &str, kind: ConversationKind) -> (Lease, TurnId) {
    store.create_conversation(NewConversation { kind, ..conversation(id, 0) }).await.unwrap();
    let lease = lease(store, id, 0).await;
    let turn = begin(store, &lease, &format!("t-{id}"), &[]).await;
    (lease, turn)
}

/// Items are found by what they say, newest first.
// KAI-095
pub async fn items_are_found_by_their_words(bench: &Bench) {
    let store = bench.store.as_ref();
    let text = |n, text: &str| NewItem { text: text.to_owned(), ..sms(n) };
    let ids = inserted(store, vec![text(1, "PÄCKCHEN da"), text(2, "Bank"), text(3, "Päckchen weg")]).await;
    let find = |filter: ItemFilter| async move {
        store.items(filter).await.unwrap().rows.iter().map(|item| item.id).collect::<Vec<_>>()
    };
    let query = |query: &str| ItemFilter { query: Some(query.to_owned()), ..ItemFilter::default() };
    assert_eq!(find(query("päckchen")).await, [ids[2], ids[0]]);
    assert_eq!(find(ItemFilter { limit: 1, ..query("päckchen") }).await, [ids[2]]);
    assert_eq!(find(ItemFilter { since_ms: Some(3), ..query("päckchen") }).await, [ids[2]]);
    assert_eq!(find(query("+49 bank")).await, [ids[1]], "the sender counts");
    assert!(find(query(" ")).await.is_empty());
    assert_eq!(find(ItemFilter { limit: 2, ..ItemFilter::default() }).await, [ids[2], ids[1]]);
    let of_mail = || ItemFilter { source: Some(Source::Mail), ..ItemFilter::default() };
    assert!(find(of_mail()).await.is_empty());
    store.add_mail_account("a@x.org").await.unwrap();
    let polled = store.record_poll("a@x.org", read(7, 12, 3), vec![mail(7, 11), mail(7, 12)]).await.unwrap();
    assert_eq!(find(ItemFilter { uids: vec![11, 40], ..of_mail() }).await, [polled[0].id]);
    assert!(find(ItemFilter { uids: vec![40], ..of_mail() }).await.is_empty());
}

/// A watermark rises with what is taken in and never falls, until the account's numbers begin anew.
// KAI-092
pub async fn a_watermark_rises_with_what_is_taken_in(bench: &Bench) {
    let store = bench.store.as_ref();
    store.add_mail_account("a@x.org").await.unwrap();
    let first = store.record_poll("a@x.org", read(7, 12, 3), vec![mail(7, 11), mail(7, 12)]).await.unwrap();
    let watermark = || async { store.mail_accounts().await.unwrap().rows[0].watermark };
    store.consume(&[first[1].id], 50).await.unwrap();
    assert_eq!(watermark().await, 12);
    store.consume(&[first[0].id], 51).await.unwrap();
    assert_eq!(watermark().await, 12, "it does not fall");
    store.record_poll("a@x.org", read(8, 2, 3), vec![mail(8, 2)]).await.unwrap();
    assert_eq!(watermark().await, 0, "other numbers");
    store.consume(&[first[1].id], 52).await.unwrap();
    assert_eq!(watermark().await, 0, "an old number says nothing of the new ones");
}

/// A letter loses its number when its account numbers anew: the same number is another letter then.
// KAI-092 SEC-093
pub async fn a_letter_has_a_number_of_its_account_as_it_is(bench: &Bench) {
    let store = bench.store.as_ref();
    for account in ["a@x.org", "b@x.org"] {
        store.add_mail_account(account).await.unwrap();
    }
    let of_b = NewItem { account: "b@x.org".to_owned(), ..mail(7, 2) };
    store.record_poll("b@x.org", read(7, 2, 1), vec![of_b]).await.unwrap();
    let old = store.record_poll("a@x.org", read(7, 2, 1), vec![mail(7, 2)]).await.unwrap()[0].id;
    let new = store.record_poll("a@x.org", read(8, 2, 1), vec![mail(8, 2)]).await.unwrap()[0].id;
    let numbered = |uids: Vec<u32>| async {
        let filter = ItemFilter { account: Some("a@x.org".to_owned()), uids, ..ItemFilter::default() };
        let rows = store.items(filter).await.unwrap().rows;
        rows.into_iter().map(|item| (item.id, item.new.uid)).collect::<Vec<_>>()
    };
    let now = Some(MailUid { validity: 8, uid: 2 });
    assert_eq!(numbered(vec![2]).await, [(new, now)]);
    assert_eq!(numbered(vec![]).await, [(new, now), (old, None)]);
    assert_eq!(store.item(old).await.unwrap().unwrap().new.uid, None);
    let waiting: Vec<_> = store.pending(Source::Mail).await.unwrap().rows.iter().map(|item| item.new.uid).collect();
    assert_eq!(waiting, [Some(MailUid { validity: 7, uid: 2 }), None, now]);
    // A server that goes back to its old numbers brings no letter twice.
    let again = store.record_poll("a@x.org", read(7, 2, 1), vec![mail(7, 2)]).await.unwrap();
    assert_eq!(again, [Inserted { id: old, fresh: false }]);
    assert_eq!(numbered(vec![2]).await, [(old, Some(MailUid { validity: 7, uid: 2 }))]);
}

/// A poll is written with what it found; a failed one keeps how far the account was read.
// KAI-090 KAI-091
pub async fn a_poll_is_written_with_what_it_found(bench: &Bench) {
    let store = bench.store.as_ref();
    let missing = store.record_poll("a@x.org", read(7, 12, 3), vec![mail(7, 12)]).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })));
    assert!(store.pending(Source::Mail).await.unwrap().rows.is_empty(), "nothing or all");

    let new = store.add_mail_account("a@x.org").await.unwrap();
    assert_eq!((new.mark, new.attempted_ms, new.last_error), (None, None, None));
    let found = store.record_poll("a@x.org", read(7, 12, 3), vec![mail(7, 12)]).await.unwrap();
    assert!(found[0].fresh);
    let again = store.record_poll("a@x.org", read(7, 11, 2), vec![mail(7, 12)]).await.unwrap();
    assert!(!again[0].fresh, "a number is one message");
    let failed = Poll { at_ms: 30, outcome: PollOutcome::Failed("login refused".to_owned()) };
    store.record_poll("a@x.org", failed, Vec::new()).await.unwrap();
    assert_eq!(store.add_mail_account("a@x.org").await.unwrap().unread, 2, "adding it again changes nothing");
    let account = store.mail_accounts().await.unwrap().rows.remove(0);
    assert_eq!(account.mark, Some(Mark { validity: 7, uid: 12, renumbered: None }));
    assert_eq!((account.attempted_ms, account.synced_ms), (Some(30), Some(20)));
    assert_eq!(account.last_error.as_deref(), Some("login refused"));
    let long = Poll { at_ms: 30, outcome: PollOutcome::Failed("ä".repeat(60_000)) };
    store.record_poll("a@x.org", long, Vec::new()).await.unwrap();
    let kept = store.mail_accounts().await.unwrap().rows.remove(0).last_error;
    assert_eq!(kept, Some("ä".repeat(2000)), "what a server says at length is cut");

    // A folder that was numbered anew is looked through over several polls.
    let renumbered = Some(Renumbered { to: 90, since_ms: 5 });
    let mark = Mark { validity: 8, uid: 50, renumbered };
    let outcome = PollOutcome::Read { mark, unread: 2 };
    store.record_poll("a@x.org", Poll { at_ms: 40, outcome }, Vec::new()).await.unwrap();
    let account = store.mail_accounts().await.unwrap().rows.remove(0);
    assert_eq!((account.mark, account.last_error), (Some(mark), None));

    let known = store.known_message_ids("a@x.org", vec!["<7.12@x>".to_owned(), "<no@x>".to_owned()]).await.unwrap();
    assert_eq!(known, ["<7.12@x>"]);
    assert!(bench.other.mail_accounts().await.unwrap().rows.is_empty());
    assert!(store.remove_mail_account("a@x.org").await.unwrap());
    assert!(!store.remove_mail_account("a@x.org").await.unwrap());
}

async fn insert(store: &dyn Store, new: NewItem) -> Inserted {
    store.insert_items(vec![new]).await.unwrap()[0]
}

async fn inserted(store: &dyn Store, new: Vec<NewItem>) -> Vec<ItemId> {
    store.insert_items(new).await.unwrap().into_iter().map(|inserted| inserted.id).collect()
}

fn read(validity: u32, uid: u32, unread: u32) -> Poll {
    Poll { at_ms: 20, outcome: PollOutcome::Read { mark: Mark { validity, uid, renumbered: None }, unread } }
}

fn sms(posted_ms: i64) -> NewItem {
    NewItem {
        source: Source::Sms,
        account: String::new(),
        key: None,
        uid: None,
        message_id: None,
        sender: "+49 151".to_owned(),
        title: String::new(),
        text: "Your parcel waits".to_owned(),
        posted_ms,
        now_ms: 10,
    }
}

fn mail(validity: u32, uid: u32) -> NewItem {
    NewItem {
        source: Source::Mail,
        account: "a@x.org".to_owned(),
        uid: Some(MailUid { validity, uid }),
        message_id: Some(format!("<{validity}.{uid}@x>")),
        ..sms(1)
    }
}
