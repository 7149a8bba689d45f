//! Turns and their journals.

use limpid_core::{CallId, Message, Role, Trust, TurnId};

use super::Bench;
use super::sample::{
    ODD, begin, begun, calling, conversation, conversation_id, event, inbound, lease, message, request, result,
};
use crate::{
    ConversationKind, Kept, NewConversation, NewEvent, NewMessage, RequestFilter, Retention, StoreError, TurnEnd,
    TurnOutcome, TurnWrite, Written,
};

/// Entries are numbered from 1 without a gap, also past a commit that failed, and come back as they were.
// ARC-004
pub async fn a_journal_has_no_gap(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let odd = NewEvent { payload: ODD.to_owned(), trust: Trust::Outside, ..event("result") };
    let commit = |writes| bench.store.commit(&lease, &turn, writes, 9);
    let first = commit(vec![TurnWrite::Event(event("a")), TurnWrite::Event(odd)]).await.unwrap();
    assert_eq!(first, [Written::Event(1), Written::Event(2)]);
    let broken = vec![TurnWrite::Event(event("lost")), TurnWrite::Messages(vec![calling(&["x"])])];
    commit(broken).await.unwrap_err();
    assert_eq!(commit(vec![TurnWrite::Event(event("c"))]).await.unwrap(), [Written::Event(3)]);
    let events = bench.store.turn_events(&turn).await.unwrap().rows;
    let read: Vec<_> = events.iter().map(|event| (event.seq, event.kind.as_str(), event.trust, event.at_ms)).collect();
    let owner = Trust::Owner;
    assert_eq!(read, [(1, "a", owner, 9), (2, "result", Trust::Outside, 9), (3, "c", owner, 9)]);
    assert_eq!(events[1].payload, ODD);
}

/// What is needed only to carry a turn on goes when it ends; what is kept afterwards stays, and a shared text is one.
// LES-081 SEC-041
pub async fn a_journal_keeps_past_the_end_what_is_read_afterwards(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, turn) = begun(store, "c", "t").await;
    let shared = |kind: &str, kept| NewEvent { shared: Some(ODD.to_owned()), kept, ..event(kind) };
    let writes = vec![
        TurnWrite::Event(shared("began", Kept::UntilEnd)),
        TurnWrite::Event(shared("result", Kept::Afterwards)),
        TurnWrite::Event(event("reply")),
    ];
    store.commit(&lease, &turn, writes, 1).await.unwrap();
    let read = async || {
        let events = store.turn_events(&turn).await.unwrap().rows;
        events.into_iter().map(|event| (event.seq, event.kind, event.shared)).collect::<Vec<_>>()
    };
    let text = || Some(ODD.to_owned());
    let whole = [(1, "began".to_owned(), text()), (2, "result".to_owned(), text()), (3, "reply".to_owned(), None)];
    assert_eq!(read().await, whole);
    let all = Retention { before_ms: Some(i64::MAX), max_bytes: None };
    assert_eq!(store.prune_requests(all).await.unwrap().texts, 0, "a journal needs it");
    store.commit(&lease, &turn, vec![TurnWrite::End(TurnOutcome::Answered, String::new())], 2).await.unwrap();
    assert_eq!(read().await, whole[1..2]);
}

/// The journal of a background run is there until the end of the run is recorded.
// LES-091
pub async fn the_journal_of_a_run_goes_with_its_end(bench: &Bench) {
    let store = bench.store.as_ref();
    let new = NewConversation { kind: ConversationKind::Run, ..conversation("run-1", 0) };
    store.create_conversation(new).await.unwrap();
    let lease = lease(store, "run-1", 0).await;
    let turn = begin(store, &lease, "t", &[]).await;
    let began = NewEvent { kept: Kept::Afterwards, ..event("began") };
    let writes = vec![TurnWrite::Event(began), TurnWrite::End(TurnOutcome::Answered, String::new())];
    store.commit(&lease, &turn, writes, 1).await.unwrap();
    assert_eq!(store.turn_events(&turn).await.unwrap().rows.len(), 1);
    assert!(store.end_heartbeat(super::heartbeats::quiet_end("k", &lease.conversation)).await.unwrap());
    assert_eq!(store.turn_events(&turn).await.unwrap().rows, []);
}

/// A call leads to the message with its result, once that is stored; the same name elsewhere does not.
// LES-081
pub async fn the_result_of_a_call_is_found_in_its_conversation_only(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    begun(bench.store.as_ref(), "d", "u").await;
    let find = async |conversation: &str| {
        let found = bench.store.result_of_call(&conversation_id(conversation), &CallId::new("x")).await.unwrap();
        found.map(|row| (row.turn, row.message.text))
    };
    assert_eq!(find("c").await, None);
    let batch =
        vec![calling(&["w", "x"]), result("w"), NewMessage::new(Message { text: "one".into(), ..result("x").message })];
    bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 1).await.unwrap();
    assert_eq!(find("c").await, Some((turn, "one".to_owned())));
    assert_eq!(find("d").await, None);
    assert_eq!(bench.other.result_of_call(&conversation_id("c"), &CallId::new("x")).await.unwrap(), None);
}

/// One write that is refused takes all of its commit with it.
// ARC-012
pub async fn a_commit_is_all_or_nothing(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let writes = vec![
        TurnWrite::Messages(vec![message(Role::User, "hi")]),
        TurnWrite::Event(event("a")),
        TurnWrite::Request(Box::new(request("r", 1, Vec::new()))),
        TurnWrite::RequestEnd(limpid_core::RequestId::new("unknown"), Box::new(super::request_log::end(1))),
    ];
    let refused = bench.store.commit(&lease, &turn, writes, 1).await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    assert_eq!(bench.store.messages(&conversation_id("c"), None).await.unwrap().rows, []);
    assert_eq!(bench.store.turn_events(&turn).await.unwrap().rows, []);
    assert_eq!(bench.store.requests(RequestFilter::default()).await.unwrap().rows, []);
}

/// The end is the last thing in a journal.
pub async fn an_ended_turn_takes_nothing_more(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let end = || TurnWrite::End(TurnOutcome::Cancelled, ODD.to_owned());
    let early = bench.store.commit(&lease, &turn, vec![end(), TurnWrite::Event(event("x"))], 4).await;
    assert!(matches!(early, Err(StoreError::Invalid(_))), "{early:?}");
    bench.store.commit(&lease, &turn, vec![TurnWrite::Event(event("x")), end()], 5).await.unwrap();
    for writes in [vec![TurnWrite::Event(event("y"))], vec![end()]] {
        let late = bench.store.commit(&lease, &turn, writes, 6).await;
        assert!(matches!(late, Err(StoreError::Invalid(_))), "{late:?}");
    }
    let stored = bench.store.turn(&turn).await.unwrap().unwrap();
    let expected = TurnEnd { outcome: TurnOutcome::Cancelled, detail: ODD.to_owned(), ended_ms: 5 };
    assert_eq!(stored.end, Some(expected));
}

/// What a crash left open is found, and what ended is not.
// LES-140
pub async fn an_unfinished_turn_is_found(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, done) = begun(store, "c", "t1").await;
    store.commit(&lease, &done, vec![TurnWrite::End(TurnOutcome::Answered, String::new())], 1).await.unwrap();
    begin(store, &lease, "t2", &[]).await;
    begun(store, "d", "t3").await;
    let open: Vec<String> = store.unfinished_turns().await.unwrap().rows.iter().map(|t| t.id.to_string()).collect();
    assert_eq!(open, ["t2", "t3"]);
    let missing = store.commit(&lease, &TurnId::new("t3"), Vec::new(), 1).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    let again = crate::NewTurn { id: TurnId::new("t2"), path: String::new(), inbound: Vec::new(), now_ms: 1 };
    let taken = store.begin_turn(&lease, again, Vec::new()).await;
    assert!(matches!(taken, Err(StoreError::Exists { .. })), "{taken:?}");
}

/// A turn begins with its first writes or not at all.
// LES-140 LES-143
pub async fn a_turn_begins_with_its_first_writes_or_not_at_all(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, first) = begun(store, "c", "t1").await;
    store.commit(&lease, &first, vec![TurnWrite::End(TurnOutcome::Answered, String::new())], 1).await.unwrap();
    let accepted = store.accept(inbound("c", None, "hi")).await.unwrap().inbound.id;
    let new = || crate::NewTurn { id: TurnId::new("t2"), path: String::new(), inbound: vec![accepted], now_ms: 7 };
    let titled = || TurnWrite::Conversation(vec![crate::ConversationChange::Title("hi".to_owned())]);
    let unpaired = vec![titled(), TurnWrite::Messages(vec![calling(&["a"])])];
    let refused = store.begin_turn(&lease, new(), unpaired).await;
    assert!(matches!(refused, Err(StoreError::Unpaired { .. })), "{refused:?}");
    assert_eq!(store.turn(&TurnId::new("t2")).await.unwrap(), None);
    assert_eq!(store.waiting(&conversation_id("c")).await.unwrap().rows.len(), 1);
    let title = async || store.conversation(&conversation_id("c")).await.unwrap().unwrap().title;
    assert_ne!(title().await, "hi");

    let writes = vec![titled(), TurnWrite::Messages(vec![message(Role::User, "hi")]), TurnWrite::Event(event("began"))];
    let written = store.begin_turn(&lease, new(), writes).await.unwrap();
    assert!(matches!(written[..], [Written::Done, Written::Messages(_), Written::Event(1)]), "{written:?}");
    let turn = store.turn(&TurnId::new("t2")).await.unwrap().unwrap();
    assert_eq!((turn.began_ms, turn.end), (7, None));
    assert_eq!(title().await, "hi");
    assert_eq!(store.turn_events(&turn.id).await.unwrap().rows.len(), 1);
    assert_eq!(store.waiting(&conversation_id("c")).await.unwrap().rows, []);
}

/// A message that arrives during a turn is taken by it, once, and by no other.
// ARC-011
pub async fn a_message_that_steers_is_taken_during_the_turn(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, turn) = begun(store, "c", "t").await;
    let id = store.accept(inbound("c", None, "also this")).await.unwrap().inbound.id;
    store.commit(&lease, &turn, vec![TurnWrite::Take(vec![id])], 1).await.unwrap();
    assert_eq!(store.waiting(&conversation_id("c")).await.unwrap().rows, []);
    let twice = store.commit(&lease, &turn, vec![TurnWrite::Take(vec![id])], 1).await;
    assert!(matches!(twice, Err(StoreError::Invalid(_))), "{twice:?}");
    let became = NewMessage { inbound: Some(id), ..message(Role::User, "also this") };
    store.commit(&lease, &turn, vec![TurnWrite::Messages(vec![became])], 1).await.unwrap();
}
