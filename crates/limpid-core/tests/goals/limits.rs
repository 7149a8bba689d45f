//! What a goal may not become: longer than its texts may be, larger than its room, or done and undone at once.

use limpid_core::goal::{
    ArtifactAction, ArtifactKind, CheckpointStatus, Goal, GoalError, GoalEvent, GoalRecord, GoalStatus, Goals, Priority,
};
use limpid_core::{CheckpointId, GoalId, Trust};

use crate::Log;

fn goal(log: &Log, id: &str) -> Goal {
    log.goals().goal(&GoalId::new(id)).unwrap().clone()
}

// OLLM-063 OLLM-064 OLLM-069
#[test]
fn what_goes_on_is_done_no_more() {
    let mut log = Log::default();
    let id = log.create("Move");
    let (van, _) = log.change(|manager| manager.create_checkpoint(&id, "Van", None, None)).unwrap();
    for status in [CheckpointStatus::Completed, CheckpointStatus::Pending] {
        log.change(|manager| manager.update_checkpoint(&id, &van, status)).unwrap();
    }
    assert_eq!(goal(&log, "g1").checkpoints()[0].completed_ms, None);
    log.change(|manager| manager.complete_goal(&id, "moved")).unwrap();
    let paused = log.change(|manager| manager.pause_goal(&id)).unwrap_err();
    assert!(matches!(paused, GoalError::Status { status: GoalStatus::Completed, .. }), "{paused:?}");
    log.change(|manager| manager.resume_goal(&id)).unwrap();
    let again = goal(&log, "g1");
    assert_eq!((again.status(), again.completed_ms(), again.summary()), (GoalStatus::Active, None, None));
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone is of one lifetime")]
    let cleared = log.change(|manager| manager.clear());
    cleared.unwrap();
    assert_eq!(goal(&log, "g1").status(), GoalStatus::Paused, "what is cleared is worked on no more");
}

// OLLM-065 OLLM-082
#[test]
fn a_step_is_kept_once_and_what_was_done_can_be_wanted_again() {
    let mut log = Log::default();
    let id = log.create("Water the plants");
    let (first, _) = log.change(|manager| manager.create_checkpoint(&id, "Fill the can", None, None)).unwrap();
    let again = log.change(|manager| manager.create_checkpoint(&id, "1. **fill** the CAN.", None, None)).unwrap();
    assert_eq!(again, (first, 0));
    log.change(|manager| manager.complete_goal(&id, "green")).unwrap();
    let next = log.change(|manager| manager.create_goal("water the plants", Priority::Low)).unwrap().0;
    assert_eq!(next.as_str(), "g2");
    assert_eq!(log.shown(), ["Water the plants completed [Fill the can=pending]", "*water the plants active []"]);
}

// OLLM-074
#[test]
fn reasons_and_paths_have_their_limits_too() {
    let mut log = Log::default();
    let id = log.create("Move");
    let (longest, long) = ("r".repeat(300), "r".repeat(301));
    log.change(|manager| manager.record_decision(&id, "In June", &longest)).unwrap();
    let refused = log.change(|manager| manager.record_decision(&id, "In May", &long)).unwrap_err();
    assert_eq!(refused, GoalError::TooLong { what: "reason", chars: 301, limit: 300 });
    let (file, made) = (ArtifactKind::File, ArtifactAction::Created);
    log.change(|manager| manager.record_artifact(&id, file, &"p".repeat(400), made)).unwrap();
    let refused = log.change(|manager| manager.record_artifact(&id, file, &"p".repeat(401), made)).unwrap_err();
    assert_eq!(refused, GoalError::TooLong { what: "path", chars: 401, limit: 400 });
}

// OLLM-074 OLLM-103
#[test]
fn no_way_brings_a_goal_back_into_a_prompt_that_has_no_room_for_it() {
    let mut log = Log { allotment: Some(120), ..Log::default() };
    log.create(&"x".repeat(100));
    log.reply("[CHECKPOINT] Pack - COMPLETED");
    let (earlier, records) = (log.goals(), log.records.len() as u64);
    log.create("Rest");
    log.allotment = Some(100);
    let (id, pack) = (GoalId::new("g1"), CheckpointId::new("s1"));
    let refused = [
        log.change(|manager| manager.resume_goal(&id)).unwrap_err(),
        log.change(|manager| manager.create_checkpoint(&id, "Unpack", None, None)).unwrap_err(),
        log.change(|manager| manager.update_checkpoint(&id, &pack, CheckpointStatus::Pending)).unwrap_err(),
        log.change(|manager| manager.restore(earlier.clone(), records)).unwrap_err(),
    ];
    let wanted = GoalError::DoesNotFit { allotment: 100, frame: 80, line: 31, decisions: 0, locked: 0 };
    assert!(refused.iter().all(|refused| *refused == wanted), "{refused:?}");
    assert_eq!(log.goals().shown().map(Goal::description), Some("Rest"));
}

// SEC-002 OLLM-071
#[test]
fn a_goal_is_trusted_as_little_as_any_text_of_it() {
    let mut log = Log::default();
    let id = log.create("Move");
    log.reply("[CHECKPOINT] Van");
    let by_a_stranger = |event: GoalEvent| GoalRecord { event, trust: Trust::Outside, ..log.records[0].clone() };
    let step = CheckpointId::new("s1");
    let set = GoalEvent::CheckpointSet { goal: id.clone(), checkpoint: step, status: CheckpointStatus::InProgress };
    let added = GoalEvent::CheckpointAdded {
        goal: id.clone(),
        checkpoint: CheckpointId::new("s2"),
        description: "Give away the key".into(),
        metadata: None,
        summary: None,
    };
    let trust = |event: GoalEvent| {
        let (goals, misfits) = Goals::fold(log.records.iter().chain([&by_a_stranger(event)]));
        assert_eq!(misfits, []);
        goals.goal(&id).unwrap().trust()
    };
    assert_eq!([trust(set), trust(added)], [Trust::Owner, Trust::Outside], "a mark brings no text");
}
