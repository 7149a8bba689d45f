//! The log of goals.

use limpid_core::goal::{ArtifactAction, ArtifactKind, CheckpointStatus, GoalAuthor, GoalEvent, GoalRecord, Priority};
use limpid_core::{CheckpointId, DecisionId, GoalId, Role, Trust, TurnId};

use super::Bench;
use super::sample::{ODD, begun, conversation, conversation_id, message};
use crate::{Audience, GoalAppend, GoalLog, NewConversation, StoreError, TurnWrite};

fn record(event: GoalEvent, at_ms: i64) -> GoalRecord {
    GoalRecord { event, by: GoalAuthor::Tool, trust: Trust::Guest, turn: Some(TurnId::new("t1")), at_ms }
}

fn created(id: &str, at_ms: i64) -> GoalRecord {
    let goal = GoalId::new(id);
    record(GoalEvent::Created { goal, description: ODD.to_owned(), priority: Priority::High }, at_ms)
}

/// One of every kind.
fn all_kinds() -> Vec<GoalRecord> {
    let goal = || GoalId::new("g1");
    let step = || CheckpointId::new("s1");
    let decision = || DecisionId::new("d1");
    let text = || ODD.to_owned();
    let events = [
        GoalEvent::CheckpointAdded {
            goal: goal(),
            checkpoint: step(),
            description: text(),
            metadata: Some(text()),
            summary: None,
        },
        GoalEvent::CheckpointSet { goal: goal(), checkpoint: step(), status: CheckpointStatus::InProgress },
        GoalEvent::DecisionRecorded { goal: goal(), decision: decision(), description: text(), rationale: text() },
        GoalEvent::DecisionRevised { goal: goal(), decision: decision(), rationale: String::new() },
        GoalEvent::DecisionLocked { goal: goal(), decision: decision() },
        GoalEvent::ArtifactRecorded {
            goal: goal(),
            kind: ArtifactKind::Documentation,
            path: text(),
            action: ArtifactAction::Deleted,
        },
        GoalEvent::Paused { goal: goal() },
        GoalEvent::Resumed { goal: goal() },
        GoalEvent::Completed { goal: goal(), summary: None },
        GoalEvent::Reopened { goal: goal() },
        GoalEvent::Completed { goal: goal(), summary: Some(text()) },
        GoalEvent::Cleared { goal: goal() },
        GoalEvent::Restored { goal: goal(), records: 3 },
    ];
    std::iter::once(created("g1", 1)).chain(events.into_iter().zip(2..).map(|(event, at)| record(event, at))).collect()
}

// OLLM-071
/// Every event comes back as it was written, for its owner and conversation only.
pub async fn every_goal_event_comes_back(bench: &Bench) {
    let store = &*bench.store;
    for id in ["a", "b"] {
        store.create_conversation(conversation(id, 0)).await.unwrap();
    }
    let records = all_kinds();
    let a = conversation_id("a");
    store.append_goal_log(&a, GoalAppend { after: 0, records: records.clone() }).await.unwrap();
    store.append_goal_log(&a, GoalAppend { after: 14, records: vec![created("g2", 15)] }).await.unwrap();
    let log = store.goal_log(&a).await.unwrap();
    assert_eq!((log.last, log.broken.len(), log.records.len()), (15, 0, 15));
    assert_eq!(log.records[..14], records);
    assert_eq!(store.goal_log(&conversation_id("b")).await.unwrap(), GoalLog::default());
    assert_eq!(bench.other.goal_log(&a).await.unwrap(), GoalLog::default());
    assert_eq!(store.goal_conversations(9).await.unwrap(), std::slice::from_ref(&a));
    assert!(store.goal_conversations(0).await.unwrap().is_empty());
    assert!(bench.other.goal_conversations(9).await.unwrap().is_empty());
    let lost = store.append_goal_log(&conversation_id("c"), GoalAppend { after: 0, records }).await;
    assert!(matches!(lost, Err(StoreError::NotFound { .. })), "{lost:?}");
}

// OLLM-071
/// Who read the log before it grew writes nothing.
pub async fn a_goal_log_that_has_grown_is_not_written_over(bench: &Bench) {
    let store = &*bench.store;
    store.create_conversation(conversation("a", 0)).await.unwrap();
    let a = conversation_id("a");
    let append = |goal| store.append_goal_log(&a, GoalAppend { after: 0, records: vec![created(goal, 1)] });
    append("g1").await.unwrap();
    let refused = append("g2").await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    assert_eq!(store.goal_log(&a).await.unwrap().records, [created("g1", 1)]);
}

// SEC-102
/// However many conversations of strangers have goals.
pub async fn strangers_goals_push_none_of_the_owners_out_of_a_list(bench: &Bench) {
    let store = &*bench.store;
    let with_goal = async |id: &str, audience, at| {
        store.create_conversation(NewConversation { audience, ..conversation(id, 0) }).await.unwrap();
        let records = vec![created("g1", at)];
        store.append_goal_log(&conversation_id(id), GoalAppend { after: 0, records }).await.unwrap();
    };
    with_goal("own", Audience::Owner, 1).await;
    for n in 2..40 {
        with_goal(&format!("s{n}"), Audience::Strangers, n).await;
    }
    let listed = store.goal_conversations(10).await.unwrap();
    assert_eq!(listed.len(), 10);
    assert_eq!((listed[0].as_str(), listed[9].as_str()), ("s39", "own"), "in the order of the list");
}

// OLLM-082
/// A turn writes goals and messages together or not at all.
pub async fn goals_and_messages_are_written_together(bench: &Bench) {
    let store = &*bench.store;
    let (lease, turn) = begun(store, "a", "t1").await;
    let writes = |after, text: &str| {
        vec![
            TurnWrite::Messages(vec![message(Role::Assistant, text)]),
            TurnWrite::Goals(GoalAppend { after, records: vec![created("g1", 1)] }),
        ]
    };
    store.commit(&lease, &turn, writes(0, "one"), 1).await.unwrap();
    let refused = store.commit(&lease, &turn, writes(0, "two"), 1).await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    let a = conversation_id("a");
    let messages = store.messages(&a, None).await.unwrap().rows;
    assert_eq!((messages.len(), store.goal_log(&a).await.unwrap().last), (1, 1));
}
