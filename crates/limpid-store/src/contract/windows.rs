//! Views, attempts and snapshots.

use limpid_core::{Digest, DigestLevel, Message, MessageId, Pin, Role, Shortened, Trust, TurnId, WindowView};

use super::Bench;
use super::sample::{ODD, begun, conversation, conversation_id, lease, message};
use crate::{NewMessage, NewSnapshot, NewWindowEvent, StoreError, StoredMessage, TurnWrite};

fn view(compactions: u32) -> WindowView {
    WindowView {
        compactions,
        through: Some(MessageId(7)),
        pin: Some(Pin { message: MessageId(1), text: ODD.to_owned(), trust: Trust::Guest }),
        digests: vec![Digest {
            level: DigestLevel::Merged,
            first: MessageId(1),
            last: MessageId(7),
            tokens: 12,
            compaction: 3,
            text: ODD.to_owned(),
            trust: Trust::Outside,
        }],
        request: Some((MessageId(1), 80)),
        shortened: Some(Shortened { through: MessageId(9), results: 20, texts: u32::MAX }),
        reads_on: true,
        hidden: vec![(MessageId(3), MessageId(4))],
    }
}

fn done(compactions: u32) -> NewWindowEvent {
    NewWindowEvent {
        kind: "compaction".to_owned(),
        newest: Some(MessageId(9)),
        before: 900,
        after: 300,
        steps: vec!["6 messages became a digest".to_owned(), "a second line".to_owned()],
        view: Some(view(compactions)),
        ..NewWindowEvent::default()
    }
}

/// The newest view is shown; a failed attempt changes nothing and is listed with its reason.
// OLLM-097 LES-079
pub async fn the_newest_view_is_shown_and_every_attempt_is_listed(bench: &Bench) {
    let (store, id) = (&bench.store, conversation_id("c"));
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let lease = lease(store.as_ref(), "c", 0).await;
    assert_eq!(store.window(&id).await.unwrap(), WindowView::default());
    for compactions in [1, 2] {
        store.write_window(&lease, done(compactions), 5).await.unwrap();
    }
    let failed = NewWindowEvent { failure: Some("no answer".to_owned()), view: None, ..done(0) };
    store.write_window(&lease, failed.clone(), 6).await.unwrap();
    assert_eq!(store.window(&id).await.unwrap(), view(2));
    let listed = store.window_events(&id, 2).await.unwrap();
    assert_eq!(listed.rows.iter().map(|row| &row.new).collect::<Vec<_>>(), [&failed, &done(2)]);
    assert_eq!(listed.rows[0].at_ms, 6);
}

/// Only the holder of the lease changes what is shown.
// OLLM-097 ARC-010
pub async fn a_stale_lease_changes_no_view(bench: &Bench) {
    let (store, id) = (&bench.store, conversation_id("c"));
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let lease = lease(store.as_ref(), "c", 0).await;
    store.release(&id, lease.fence).await.unwrap();
    let refused = store.write_window(&lease, done(1), 5).await;
    assert!(matches!(refused, Err(StoreError::StaleFence { .. })), "{refused:?}");
    assert_eq!(store.window(&id).await.unwrap(), WindowView::default());
}

/// Five automatic snapshots stay, and all that a person asked for.
// OLLM-103 OLLM-139
pub async fn the_newest_five_automatic_snapshots_stay(bench: &Bench) {
    let (store, id) = (&bench.store, conversation_id("c"));
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let kept = |n: u32, automatic| NewSnapshot {
        automatic,
        reason: format!("number {n}"),
        newest: Some(MessageId(i64::from(n))),
        mode: Some("planning".to_owned()),
        tier: Some(2),
        goals: Some(7),
        of_strangers: false,
        view: view(n),
    };
    store.keep_snapshot(&id, kept(1, false), 1).await.unwrap();
    for n in 2..=9 {
        store.keep_snapshot(&id, kept(n, true), i64::from(n)).await.unwrap();
    }
    let listed = store.kept_snapshots(&id).await.unwrap().rows;
    assert_eq!(listed.iter().map(|row| row.at_ms).collect::<Vec<_>>(), [9, 8, 7, 6, 5, 1]);
    assert_eq!(listed[0].kept, kept(9, true));
    assert_eq!(bench.other.kept_snapshots(&id).await.unwrap().rows, []);
    let nowhere = store.keep_snapshot(&conversation_id("d"), kept(1, true), 1).await;
    assert!(matches!(nowhere, Err(StoreError::NotFound { .. })), "{nowhere:?}");
}

/// However often a stranger's text has a window shortened, and however often it is shortened in one turn.
// SEC-102 OLLM-103
pub async fn strangers_moments_push_out_only_strangers(bench: &Bench) {
    let (store, id) = (&bench.store, conversation_id("c"));
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let keep = async |newest: i64, of_strangers: bool, compactions: u32| {
        let new = NewSnapshot {
            automatic: true,
            newest: Some(MessageId(newest)),
            of_strangers,
            view: view(compactions),
            ..NewSnapshot::default()
        };
        store.keep_snapshot(&id, new, newest).await.unwrap()
    };
    let kept = async |of_strangers: bool| -> Vec<i64> {
        let listed = store.kept_snapshots(&id).await.unwrap().rows;
        listed.iter().filter(|row| row.kept.of_strangers == of_strangers).map(|row| row.at_ms).collect()
    };
    for newest in 1..=6 {
        keep(newest, false, 1).await;
    }
    for newest in 7..=40 {
        keep(newest, true, 1).await;
    }
    assert_eq!((kept(false).await, kept(true).await), (vec![6, 5, 4, 3, 2], vec![40, 39, 38, 37, 36]));
    // The first one at a message shows the most: those that follow are the same place.
    let first = keep(41, false, 1).await;
    for compactions in 2..=9 {
        assert_eq!(keep(41, false, compactions).await, first);
    }
    assert_eq!(kept(false).await, [41, 6, 5, 4, 3]);
    assert_eq!(keep(41, true, 2).await.kept.view, view(2), "the other side has its own");
    // Going back to a moment hides messages, and the newest one stays the newest.
    let back = WindowView { hidden: vec![(MessageId(40), MessageId(41))], ..view(1) };
    let new = NewSnapshot { automatic: true, view: back.clone(), ..first.kept.clone() };
    assert_eq!(store.keep_snapshot(&id, new, 41).await.unwrap().kept.view, back, "less is shown there");
    let by_hand = NewSnapshot { newest: Some(MessageId(41)), ..NewSnapshot::default() };
    assert_ne!(store.keep_snapshot(&id, by_hand, 50).await.unwrap().id, first.id, "what a person keeps is kept");
}

/// Messages are found by words, hidden or not; queries of any form give a result or nothing.
// LES-070
pub async fn messages_are_found_by_their_words(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let batch = vec![
        message(Role::User, "The password of the garden gate is Kolibri."),
        message(Role::Assistant, "Noted."),
        message(Role::User, "京都タワーで会いましょう"),
    ];
    bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 2).await.unwrap();
    let id = conversation_id("c");
    for (words, expected) in [
        (vec!["gates", "kolibri"], "The password"),
        (vec!["タワ"], "京都"),
        (vec!["\"", "OR"], ""),
        (vec!["absent"], ""),
    ] {
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let found = bench.store.search_messages(&id, &words, None, 5).await.unwrap();
        let holds = |row: &StoredMessage| row.message.text.starts_with(expected);
        assert_eq!(found.messages.is_empty(), expected.is_empty(), "{words:?}");
        assert!(expected.is_empty() || found.messages.iter().any(|(row, _)| holds(row)), "{words:?}");
        assert_eq!(found.corpus.documents, 3);
        assert_eq!(bench.other.search_messages(&id, &words, None, 5).await.unwrap().messages, []);
    }
}

/// What the owner said is found among any number of strangers' messages with the same words, and ranked as if there were none.
// SEC-102 LES-070
pub async fn strangers_messages_take_no_room_of_the_owners(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let owners = message(Role::User, "My front door code is 0815.");
    let theirs = |n: u32| NewMessage::new(Message::new(Role::User, format!("front door code {n}"), Trust::Outside));
    let search = async || {
        let words = ["front", "door", "code"].map(str::to_owned);
        bench.store.search_messages(&conversation_id("c"), &words, None, 3).await.unwrap()
    };
    bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(vec![owners])], 2).await.unwrap();
    let before = search().await;
    assert_eq!((before.messages.len(), before.of_strangers.len()), (1, 0));
    let batch = vec![TurnWrite::Messages((0..30).map(theirs).collect())];
    bench.store.commit(&lease, &turn, batch, 2).await.unwrap();
    let found = search().await;
    assert_eq!(found.messages[0], before.messages[0]);
    assert_eq!(found.corpus, before.corpus);
    assert_eq!(found.whole.documents, 31);
    assert!(found.messages[1..].iter().all(|(row, _)| found.of_strangers.contains(&row.id)));
    assert!(!found.of_strangers.contains(&found.messages[0].0.id));
}

/// What stands around a match is found with it, up to a long pause.
// LES-070 MEA-10
pub async fn what_stands_around_a_match_is_found_up_to_a_long_pause(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let hour = 60 * 60 * 1000;
    for (text, at_ms) in
        [("one", 0), ("two", 1), ("where were you", 2), ("in Kyoto", 3), ("good", 4), ("later", 9 * hour)]
    {
        let batch = vec![TurnWrite::Messages(vec![message(Role::User, text)])];
        bench.store.commit(&lease, &turn, batch, at_ms).await.unwrap();
    }
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let found = bench.store.search_messages(&conversation_id("c"), &words(&["good", "absent"]), None, 5).await.unwrap();
    let texts: Vec<_> = found.messages.iter().map(|(row, _)| row.message.text.as_str()).collect();
    assert_eq!(texts, ["where were you", "in Kyoto", "good"]);
    assert_eq!(found.corpus.holding, [("good".to_owned(), 1), ("absent".to_owned(), 0)]);
    assert!(found.messages.iter().all(|(_, place)| place.session == found.messages[0].1.session));
    let later = bench.store.search_messages(&conversation_id("c"), &words(&["later"]), None, 5).await.unwrap().messages;
    assert_ne!(later[0].1.session, found.messages[0].1.session);
}

/// A view hides messages from the model alone: they are all still there.
// LES-070 PICO-049 OLLM-104
pub async fn no_view_touches_a_message(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let batch = vec![message(Role::User, "first"), message(Role::Assistant, "second")];
    bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 2).await.unwrap();
    let before = bench.store.messages(&conversation_id("c"), None).await.unwrap();
    let everything = WindowView { through: before.rows.last().map(|row| row.id), ..view(1) };
    let new = NewWindowEvent { view: Some(everything), ..done(1) };
    bench.store.write_window(&lease, new, 3).await.unwrap();
    assert_eq!(bench.store.messages(&conversation_id("c"), None).await.unwrap(), before);
    let first = bench.store.first_message(&conversation_id("c")).await.unwrap().unwrap();
    let all = bench.store.messages(&conversation_id("c"), None).await.unwrap().rows;
    assert_eq!(bench.store.last_message(&conversation_id("c")).await.unwrap(), all.last().cloned());
    assert_eq!(bench.store.last_message(&conversation_id("none")).await.unwrap(), None);
    assert_eq!(first.message.text, "first");
    let of_all = bench.store.first_messages(&["c", "none"].map(conversation_id)).await.unwrap();
    assert_eq!(of_all.into_iter().collect::<Vec<_>>(), [(conversation_id("c"), Some(first))]);
    assert!(bench.other.first_messages(&[conversation_id("c")]).await.unwrap().is_empty(), "it is its owner's");
    let request = bench.store.request_of(&conversation_id("c"), &turn).await.unwrap().unwrap();
    assert_eq!(request, before.rows[0]);
    assert_eq!(bench.store.request_of(&conversation_id("c"), &TurnId::new("u")).await.unwrap(), None);
}
