//! What a damaged, locked or full store costs, and that it costs no more.

use std::fs;

use limpid_core::goal::{GoalAuthor, GoalEvent, GoalRecord, Priority};
use limpid_core::state::Span;
use limpid_core::{GoalId, RequestId, Role, Trust};

use super::tests::{folder, futures, open, raw};
use crate::contract::sample::{
    begun, calling, conversation, conversation_id, event, inbound, memory, message, provider_state, request,
    request_message, result,
};
use crate::{
    Conversations, GoalAppend, GoalLogs, Memories, RequestFilter, RequestLog, StoreError, TurnWrite, Turns,
    WAITING_COUNTS_AS_YOURS,
};

// SEC-042
#[tokio::test]
async fn a_file_that_cannot_be_used_is_left_as_it_is() {
    let (_folder, path) = folder();
    drop(open(&path).unwrap());
    raw(&path).pragma_update(None, "user_version", 999).unwrap();
    let before = fs::read(&path).unwrap();
    let newer = open(&path).err().unwrap();
    assert!(matches!(newer, StoreError::Newer { found: 999, .. }));
    // An older database knows nothing of what came to wait later.
    assert!(newer.to_string().ends_with(WAITING_COUNTS_AS_YOURS), "{newer}");
    assert_eq!(fs::read(&path).unwrap(), before);

    let foreign = path.with_file_name("other.db");
    raw(&foreign).execute_batch("CREATE TABLE song (title TEXT)").unwrap();
    let before = fs::read(&foreign).unwrap();
    assert!(matches!(open(&foreign), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&foreign).unwrap(), before);

    let garbage = path.with_file_name("garbage.db");
    fs::write(&garbage, "This is a letter to my bank.".repeat(100)).unwrap();
    assert!(matches!(open(&garbage), Err(StoreError::Corrupt { .. })));
    let inside = garbage.join("limpid.db");
    assert!(matches!(open(&inside), Err(StoreError::Unreachable { .. } | StoreError::ReadOnly { .. })));
    assert!(matches!(open(path.parent().unwrap()), Err(StoreError::Unreachable { .. })));
}

// SEC-042
#[tokio::test]
async fn a_locked_file_is_an_error_and_then_works_again() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let other = raw(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let writes = (0..3).map(|n| store.create_conversation(conversation(&n.to_string(), 0)));
    for refused in futures(writes).await {
        assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    }
    assert_eq!(store.conversations(9).await.unwrap().rows, [], "reading goes on");
    assert!(open(&path).is_ok(), "nothing to migrate, nothing to lock");
    other.execute_batch("ROLLBACK").unwrap();
    store.create_conversation(conversation("c", 0)).await.unwrap();
}

// SEC-042
#[tokio::test]
async fn a_full_disk_loses_nothing_that_was_accepted() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let limit = |pages: i64| {
        store.write(move |tx| {
            let now: i64 = tx.sql.pragma_query_value(None, "page_count", |row| row.get(0))?;
            tx.sql.pragma_update_and_check(None, "max_page_count", now + pages, |_| Ok(()))?;
            Ok(())
        })
    };
    limit(20).await.unwrap();
    let long = "x".repeat(10_000);
    let writes = (0..40).map(|n| {
        let key = n.to_string();
        store.accept(inbound("c", Some(&key), &long))
    });
    let answers = futures(writes).await;
    let refused = answers.iter().filter(|answer| matches!(answer, Err(StoreError::DiskFull { .. }))).count();
    let accepted: Vec<String> =
        answers.iter().flatten().map(|accepted| accepted.inbound.key.clone().unwrap()).collect();
    assert_eq!(refused + accepted.len(), 40, "{answers:?}");
    assert!(refused > 0);
    let waiting = store.waiting(&conversation_id("c")).await.unwrap().rows;
    let stored: Vec<String> = waiting.into_iter().map(|inbound| inbound.key.unwrap()).collect();
    assert_eq!(stored, accepted);
    limit(10_000).await.unwrap();
    store.accept(inbound("c", None, &long)).await.unwrap();
}

// LES-142
#[tokio::test]
async fn a_broken_message_costs_itself_and_its_other_half() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let (lease, turn) = begun(&store, "c", "t").await;
    let batch = vec![
        message(Role::User, "1"),
        calling(&["a", "b"]),
        result("a"),
        result("b"),
        message(Role::Assistant, "5"),
        message(Role::User, "6"),
    ];
    store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 1).await.unwrap();
    raw(&path)
        .execute_batch(
            "DROP TRIGGER message_is_never_changed;
             UPDATE message SET trust = 'everybody' WHERE id = 3;
             UPDATE message SET text = CAST(x'ff' AS TEXT) WHERE id = 6;",
        )
        .unwrap();
    let listed = store.messages(&conversation_id("c"), None).await.unwrap();
    let left: Vec<&str> = listed.rows.iter().map(|row| row.message.text.as_str()).collect();
    assert_eq!(left, ["1", "5"]);
    let told: Vec<String> = listed.broken.iter().map(|broken| format!("{} {}", broken.id, broken.reason)).collect();
    insta::assert_snapshot!(told.join("\n"));
}

// LES-142
#[tokio::test]
async fn a_broken_text_of_the_ledger_costs_its_request_only() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    for id in ["good", "bad"] {
        let one = request_message(Role::User, &[("user-message", id)]);
        store.record_request(request(id, 1, vec![one])).await.unwrap();
    }
    raw(&path).execute("UPDATE text SET body = 'something else' WHERE body = 'bad'", []).unwrap();
    let broken = store.request(&RequestId::new("bad")).await;
    assert!(matches!(broken, Err(StoreError::Broken { .. })), "{broken:?}");
    store.request(&RequestId::new("good")).await.unwrap().unwrap();
    assert_eq!(store.requests(RequestFilter::default()).await.unwrap().rows.len(), 2);
}

// SEC-042
#[tokio::test]
async fn a_damaged_file_is_an_error_or_a_result_and_never_a_panic() {
    let (folder, path) = folder();
    let store = open(&path).unwrap();
    let (lease, turn) = begun(&store, "c", "t").await;
    let writes = vec![
        TurnWrite::Messages(vec![message(Role::User, "hi"), calling(&["a"]), result("a")]),
        TurnWrite::Event(event("x")),
        TurnWrite::Request(Box::new(request("r", 1, vec![request_message(Role::User, &[("history", "hi")])]))),
    ];
    store.commit(&lease, &turn, writes, 1).await.unwrap();
    store.store_memory(memory(None, "Lives in Berlin", 1)).await.unwrap();
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut seed = 7u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut failures = 0;
    for round in 0..60 {
        let path = folder.path().join(format!("{round}.db"));
        let mut bytes = whole.clone();
        for _ in 0..40 {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        bytes.truncate(if round % 3 == 0 { next(whole.len()) } else { whole.len() });
        fs::write(&path, bytes).unwrap();
        let Ok(store) = open(&path) else {
            failures += 1;
            continue;
        };
        let id = conversation_id("c");
        let results = [
            store.messages(&id, None).await.err(),
            store.turn_events(&turn).await.err(),
            store.request(&RequestId::new("r")).await.err(),
            store.candidates(&["berlin".to_owned()], None, 9).await.err(),
            store.memories(None).await.err(),
            store.accept(inbound("c", None, "hi")).await.err(),
            store.acquire(&id, "me", i64::MAX, 1).await.err(),
        ];
        // A thread that panics closes its queue.
        assert!(!results.iter().flatten().any(|error| matches!(error, StoreError::Closed)), "{results:?}");
        failures += results.into_iter().flatten().count();
    }
    assert!(failures > 0, "the damage was never noticed");
}

// OLLM-071
#[tokio::test]
async fn a_torn_last_record_of_a_goal_log_is_told_and_the_log_goes_on() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let id = conversation_id("c");
    let record = |goal: &str| GoalRecord {
        event: GoalEvent::Created { goal: GoalId::new(goal), description: goal.into(), priority: Priority::Low },
        by: GoalAuthor::Owner,
        trust: Trust::Owner,
        turn: None,
        at_ms: 1,
    };
    store.append_goal_log(&id, GoalAppend { after: 0, records: vec![record("g1"), record("g2")] }).await.unwrap();
    raw(&path)
        .execute_batch(
            "DROP TRIGGER goal_event_is_never_changed;
             UPDATE goal_event SET payload = substr(payload, 1, 9) WHERE seq = 2;",
        )
        .unwrap();
    let log = store.goal_log(&id).await.unwrap();
    assert_eq!((log.records, log.last), (vec![record("g1")], 2));
    assert_eq!((log.broken.len(), log.broken[0].id.as_str()), (1, "2"));
    assert!(log.broken[0].reason.starts_with("payload: EOF"), "{}", log.broken[0].reason);
    store.append_goal_log(&id, GoalAppend { after: 2, records: vec![record("g2")] }).await.unwrap();
    assert_eq!(store.goal_log(&id).await.unwrap().records, [record("g1"), record("g2")]);
}

// MOD-001 LES-142
#[tokio::test]
async fn damaged_state_costs_the_state_of_its_message_and_nothing_else() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let (lease, turn) = begun(&store, "c", "t").await;
    let mut thinking = calling(&["a"]);
    thinking.message.state = ["{\"a\":1}", "{\"b\":2}"].map(|json| provider_state(json, Span::at(0, 0))).into();
    let mut answer = message(Role::Assistant, "ok");
    answer.message.state = vec![provider_state("{\"c\":3}", Span::at(0, 0))];
    let batch = vec![thinking, result("a"), answer];
    store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 1).await.unwrap();
    raw(&path).execute("UPDATE text SET body = '{}' WHERE body LIKE '%\"b\"%'", []).unwrap();
    let read = store.messages(&conversation_id("c"), None).await.unwrap();
    let state: Vec<usize> = read.rows.iter().map(|row| row.message.state.len()).collect();
    assert_eq!(state, [0, 0, 1]);
    assert_eq!(read.broken.len(), 1);
    assert!(read.broken[0].reason.contains("is not what was stored"), "{:?}", read.broken);
}
