//! The rules of goals, and what markers change.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod limits;

use limpid_core::goal::manager::Change;
use limpid_core::goal::{
    ArtifactAction, ArtifactKind, CheckpointStatus, Goal, GoalAuthor, GoalError, GoalEvent, GoalManager, GoalRecord,
    GoalStatus, Goals, Marker, Priority, Room, advance, scan,
};
use limpid_core::{CheckpointId, DecisionId, GoalId, Trust};

/// A conversation's log, and what it comes to.
#[derive(Default)]
struct Log {
    records: Vec<GoalRecord>,
    allotment: Option<usize>,
}

impl Log {
    fn goals(&self) -> Goals {
        let (goals, misfits) = Goals::fold(&self.records);
        assert_eq!(misfits, []);
        goals
    }

    /// Changes something; returns how many records that made.
    fn change<T>(
        &mut self,
        act: impl FnOnce(&mut GoalManager<'_>) -> Result<T, GoalError>,
    ) -> Result<(T, usize), GoalError> {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let room = Room { allotment: self.allotment.unwrap_or(1000), count: &count };
        let now_ms = i64::try_from(self.records.len()).unwrap();
        let change = Change { by: GoalAuthor::Tool, trust: Trust::Owner, turn: None, permitted: true, now_ms, room };
        let mut manager = GoalManager::new(self.goals(), change);
        let value = act(&mut manager)?;
        let (goals, records) = manager.finish();
        let made = records.len();
        self.records.extend(records);
        assert_eq!(goals, self.goals(), "the state is that of the log");
        Ok((value, made))
    }

    /// Takes in a reply; returns how many records it made, and what was refused.
    fn reply(&mut self, text: &str) -> (usize, Vec<GoalError>) {
        let markers: Vec<Marker> = scan(text).into_iter().filter_map(|line| line.marker?.ok()).collect();
        let (refused, made) = self.change(|manager| Ok(advance(manager, &markers))).unwrap();
        (made, refused)
    }

    fn create(&mut self, text: &str) -> GoalId {
        self.change(|manager| manager.create_goal(text, Priority::High)).unwrap().0
    }

    /// The goals, a line each: `*` before the shown one.
    fn shown(&self) -> Vec<String> {
        let goals = self.goals();
        let shown = goals.shown().map(Goal::id);
        let line = |goal: &Goal| {
            let mark = if Some(goal.id()) == shown { "*" } else { "" };
            let steps: Vec<String> =
                goal.checkpoints().iter().map(|step| format!("{}={}", step.description, step.status)).collect();
            format!("{mark}{} {} [{}]", goal.description(), goal.status(), steps.join(", "))
        };
        goals.history().iter().map(line).collect()
    }
}

fn clear(manager: &mut GoalManager<'_>) -> Result<(), GoalError> {
    manager.clear()
}

// OLLM-063 OLLM-064 OLLM-065 OLLM-066
#[test]
fn the_seeds_manager_does_what_it_says() {
    let mut log = Log::default();
    let goal = log.create("  Move\nhouse ");
    log.change(|manager| {
        let van = manager.create_checkpoint(&goal, "Find a van", Some("by phone"), Some("two offers"))?;
        manager.create_checkpoint(&goal, "Pack", None, None)?;
        manager.update_checkpoint(&goal, &van, CheckpointStatus::Completed)?;
        let june = manager.record_decision(&goal, "In June", "school is over")?;
        manager.lock_decision(&goal, &june)?;
        manager.record_artifact(&goal, ArtifactKind::File, "list.csv", ArtifactAction::Created)?;
        assert_eq!(manager.goal_progress(&goal)?.percentage, 50);
        assert_eq!(manager.active_goal().map(Goal::description), Some("Move house"));
        assert_eq!(manager.goal_history().len(), 1);
        Ok(())
    })
    .unwrap();
    let goals = log.goals();
    let known = goals.active().unwrap();
    assert_eq!((known.id().as_str(), known.priority(), known.created_ms()), ("g1", Priority::High, 0));
    let van = &known.checkpoints()[0];
    assert_eq!((van.metadata.as_deref(), van.summary.as_deref()), (Some("by phone"), Some("two offers")));
    assert_eq!((van.completed_ms, known.checkpoints()[1].completed_ms), (Some(1), None));
    let june = known.decisions().get(&DecisionId::new("d1")).unwrap();
    assert_eq!((june.description(), june.rationale(), june.is_locked()), ("In June", "school is over", true));
    assert_eq!(known.artifacts()[0].path, "list.csv");

    log.change(|manager| manager.pause_goal(&goal)).unwrap();
    assert_eq!((log.goals().active(), log.goals().shown()), (None, None));
    log.change(|manager| manager.resume_goal(&goal)).unwrap();
    log.change(|manager| manager.complete_goal(&goal, "moved")).unwrap();
    let goals = log.goals();
    assert_eq!(goals.active(), None);
    let done = goals.shown().unwrap();
    assert_eq!((done.status(), done.summary(), done.completed_ms()), (GoalStatus::Completed, Some("moved"), Some(9)));
}

// OLLM-068
#[test]
fn a_goal_is_completed_when_all_its_steps_are_judged_once_a_message() {
    let mut log = Log::default();
    log.reply("[GOAL] Move");
    assert_eq!(log.shown(), ["*Move active []"], "no steps never complete a goal");
    log.reply("[CHECKPOINT] Van - COMPLETED\n[CHECKPOINT] Pack");
    assert_eq!(log.shown(), ["*Move active [Van=completed, Pack=pending]"], "judged after all markers");
    log.reply("[CHECKPOINT] Pack - COMPLETED");
    assert_eq!(log.shown(), ["*Move completed [Van=completed, Pack=completed]"]);
    log.reply("[CHECKPOINT] Clean");
    assert_eq!(log.shown(), ["*Move active [Van=completed, Pack=completed, Clean=pending]"]);
    let goal = GoalId::new("g1");
    log.change(|manager| manager.complete_goal(&goal, "enough")).unwrap();
    let (made, refused) = log.reply("[CHECKPOINT] Paint");
    assert!(made == 0 && matches!(refused[..], [GoalError::Status { .. }]), "{refused:?}");
}

// OLLM-068 OLLM-078
#[test]
fn a_goal_that_its_steps_completed_takes_a_summary_of_the_owners_once() {
    let mut log = Log::default();
    log.reply("[GOAL] Move\n[CHECKPOINT] Van - COMPLETED");
    let goal = GoalId::new("g1");
    let ended = log.goals().shown().unwrap().completed_ms();
    for (said, kept) in [("", None), ("moved", Some("moved")), ("again", Some("moved"))] {
        log.change(|manager| manager.complete_goal(&goal, said)).unwrap();
        let goals = log.goals();
        let done = goals.shown().unwrap();
        assert_eq!((done.summary(), done.completed_ms()), (kept, ended), "after {said:?}");
    }
}

// OLLM-070
#[test]
fn going_on_without_a_name_says_which_goals_there_are() {
    let mut log = Log::default();
    assert_eq!(log.change(|manager| manager.waiting()), Err(GoalError::NoGoal));
    log.reply("[GOAL] Move\n[CHECKPOINT] Van - COMPLETED");
    let known = "g1 (Move)".to_owned();
    assert_eq!(log.change(|manager| manager.waiting()), Err(GoalError::NothingWaits { known }));
}

// OLLM-069 OLLM-070
#[test]
fn a_new_task_takes_the_place_of_the_shown_goal_and_resuming_restores_it() {
    let mut log = Log::default();
    log.reply("[GOAL] Move\n[CHECKPOINT] Van - COMPLETED");
    assert_eq!(log.shown(), ["*Move completed [Van=completed]"], "a completed goal stays");
    log.reply("[GOAL] Paint\n[CHECKPOINT] Buy - IN PROGRESS\n[DECISION] Blue - LOCKED\n[ARTIFACT] Created plan.md");
    assert_eq!(log.shown(), ["Move completed [Van=completed]", "*Paint active [Buy=in-progress]"]);
    let before = log.goals().goal(&GoalId::new("g2")).unwrap().clone();
    log.reply("[GOAL] Cook");
    assert_eq!(log.shown()[1..], ["Paint paused [Buy=in-progress]", "*Cook active []"]);
    log.change(|manager| manager.resume_goal(&GoalId::new("g2"))).unwrap();
    assert_eq!(log.goals().shown(), Some(&before), "unchanged");
    log.change(clear).unwrap();
    assert_eq!(log.goals().shown(), None);
    assert!(matches!(log.change(clear), Err(GoalError::NoGoal)));
}

// OLLM-073 OLLM-130
#[test]
fn a_locked_decision_is_changed_by_no_route() {
    let mut log = Log::default();
    let goal = log.create("Move");
    log.reply("[DECISION] In June - LOCKED\n[DECISION] By train");
    let locked = DecisionId::new("d1");
    let before = log.goals();
    let again = log.change(|manager| manager.record_decision(&goal, "in june.", "another reason"));
    assert!(matches!(again, Err(GoalError::DecisionLocked(_))), "{again:?}");
    assert!(matches!(log.change(|manager| manager.revisable(&goal, &locked)), Err(GoalError::DecisionLocked(_))));
    for reply in ["[DECISION] In June - UNLOCKED", "[DECISION] In June", "[DECISION] In June - LOCKED"] {
        assert_eq!(log.reply(reply), (0, vec![]), "{reply}");
    }
    // Nor does a log that somebody has tampered with.
    let tampered = GoalEvent::DecisionRevised { goal: goal.clone(), decision: locked, rationale: "none".into() };
    let record = GoalRecord { event: tampered, ..log.records[0].clone() };
    let (goals, misfits) = Goals::fold(log.records.iter().chain([&record]));
    assert_eq!((goals, misfits.len()), (before, 1));
    log.change(|manager| manager.record_decision(&goal, "By train", "cheap")).unwrap();
    let goals = log.goals();
    let open = goals.shown().unwrap().decisions().get(&DecisionId::new("d2")).unwrap();
    assert_eq!((open.rationale(), open.is_locked()), ("cheap", false));
}

// OLLM-074
#[test]
fn the_goal_line_and_its_locked_decisions_always_fit() {
    let mut log = Log { allotment: Some(120), ..Log::default() };
    // 80 for the frame, 6 and 25 for the line: 9 are left.
    let goal = log.create(&"x".repeat(100));
    log.reply("[DECISION] twelve chars\n[DECISION] and thirteen.");
    log.change(|manager| manager.lock_decision(&goal, &DecisionId::new("d1"))).unwrap();
    let refused = log.change(|manager| manager.lock_decision(&goal, &DecisionId::new("d2"))).unwrap_err();
    let wanted = GoalError::DoesNotFit { allotment: 120, frame: 80, line: 31, decisions: 18, locked: 2 };
    assert_eq!(refused, wanted);
    assert_eq!(log.reply("[DECISION] and thirteen - LOCKED"), (0, vec![wanted]));
    let long = log.change(|manager| manager.create_goal(&"y".repeat(137), Priority::Low)).unwrap_err();
    assert!(matches!(long, GoalError::DoesNotFit { line: 41, .. }), "{long:?}");
    let longer = log.change(|manager| manager.create_goal(&"y".repeat(301), Priority::Low)).unwrap_err();
    assert!(matches!(longer, GoalError::TooLong { chars: 301, limit: 300, .. }), "{longer:?}");
    // In a smaller window it cannot be resumed.
    log.change(|manager| manager.pause_goal(&goal)).unwrap();
    log.allotment = Some(119);
    assert!(matches!(log.change(|manager| manager.resume_goal(&goal)), Err(GoalError::DoesNotFit { .. })));
    log.allotment = Some(120);
    log.change(|manager| manager.resume_goal(&goal)).unwrap();
}

// OLLM-081
#[test]
fn a_step_is_the_one_that_says_the_same_or_the_only_one_that_begins_so() {
    let mut log = Log::default();
    log.reply("[GOAL] Ship\n[CHECKPOINT] Add login\n[CHECKPOINT] Add login form\n[CHECKPOINT] Write tests");
    log.reply("[CHECKPOINT] 3. **WRITE** - COMPLETED\n[CHECKPOINT] add  LOGIN. - IN PROGRESS");
    assert_eq!(log.shown(), ["*Ship active [Add login=in-progress, Add login form=pending, Write tests=completed]"]);
    let (made, refused) = log.reply("[CHECKPOINT] Add - COMPLETED");
    assert!(made == 0 && matches!(refused[..], [GoalError::Ambiguous { .. }]), "{refused:?}");
    log.reply("[GOAL] Rest");
    log.reply("[CHECKPOINT] Write tests - COMPLETED");
    assert_eq!(log.shown()[1], "*Rest completed [Write tests=completed]", "never a step of another goal");
}

// OLLM-082
#[test]
fn what_is_said_again_changes_nothing() {
    let reply = "[GOAL] Ship it\n[CHECKPOINT] Plan - COMPLETED\n[CHECKPOINT] Build - PENDING\n[NEXT] Build\n\
                 [DECISION] Rust - LOCKED\n[DECISION] No GUI\n[ARTIFACT] Created a.rs\n[ARTIFACT] Modified a.rs";
    let mut log = Log::default();
    assert!(log.reply(reply).0 > 8);
    assert_eq!(log.reply(reply), (0, vec![]));
    log.reply("[CHECKPOINT] Plan - PENDING\n[NEXT] Plan");
    assert_eq!(log.shown(), ["*Ship it active [Plan=completed, Build=in-progress]"], "what is done stays done");
    log.reply("[GOAL] Rest");
    assert_eq!(log.reply("[GOAL] **ship IT**.").0, 1);
    assert_eq!(log.shown(), ["*Ship it active [Plan=completed, Build=in-progress]", "Rest paused []"]);
    log.reply("[CHECKPOINT] Build - COMPLETED");
    assert_eq!(log.reply("[GOAL] Ship it"), (0, vec![]), "shown, although completed");
}

// OLLM-083
#[test]
fn without_a_shown_goal_only_a_goal_acts() {
    let mut log = Log::default();
    let (made, refused) = log.reply("[NEXT] a\n[CHECKPOINT] b\n[DECISION] c\n[ARTIFACT] Created d");
    assert_eq!((made, refused), (0, vec![GoalError::NoGoal; 4]));
    log.reply(
        "[GOAL] Ship\n[NEXT] Begin\n[CHECKPOINT] End\n[ARTIFACT] Created tests/a.rs\n[ARTIFACT] Deleted notes.md",
    );
    assert_eq!(log.shown(), ["*Ship active [Begin=in-progress, End=pending]"]);
    let goals = log.goals();
    let kinds: Vec<ArtifactKind> = goals.shown().unwrap().artifacts().iter().map(|artifact| artifact.kind).collect();
    assert_eq!(kinds, [ArtifactKind::Test, ArtifactKind::Documentation]);
}

// OLLM-065
#[test]
fn what_does_not_exist_is_named_with_what_does() {
    let mut log = Log::default();
    let goal = log.create("Move");
    log.reply("[CHECKPOINT] Van");
    let none = CheckpointId::new("s7");
    let errors = [
        log.change(|manager| manager.pause_goal(&GoalId::new("g7"))).unwrap_err().to_string(),
        log.change(|m| m.update_checkpoint(&goal, &none, CheckpointStatus::Pending)).unwrap_err().to_string(),
        log.change(|manager| manager.lock_decision(&goal, &DecisionId::new("d7"))).unwrap_err().to_string(),
        log.change(|manager| manager.create_goal(" \n", Priority::Low)).unwrap_err().to_string(),
    ];
    let wanted = [
        "there is no goal `g7`; there are: g1 (Move)",
        "there is no step `s7`; there are: s1 (Van)",
        "there is no decision `d7`; there are: none",
        "the goal is blank",
    ];
    assert_eq!(errors, wanted);
}

// OLLM-103 OLLM-071 OLLM-073
#[test]
fn an_earlier_moment_is_restored_by_the_log_and_what_was_locked_since_stands() {
    let mut log = Log::default();
    let goal = log.create("Move");
    log.reply("[CHECKPOINT] Van\n[DECISION] By train");
    let (earlier, records) = (log.goals(), log.records.len());
    log.reply(
        "[CHECKPOINT] Van - COMPLETED\n[ARTIFACT] Created list.md\n[DECISION] In May\n[DECISION] No piano - LOCKED",
    );
    log.create("Paint");
    let restore = |log: &mut Log| {
        log.change(|manager| manager.restore(earlier.clone(), records as u64)).unwrap();
    };
    restore(&mut log);
    let now = log.goals();
    let restored = now.shown().unwrap();
    assert_eq!((restored.id(), restored.status(), restored.progress().completed), (&goal, GoalStatus::Active, 0));
    assert_eq!((restored.artifacts().len(), now.history().len()), (0, 2));
    let decisions: Vec<_> = restored.decisions().iter().map(|one| (one.description(), one.is_locked())).collect();
    assert_eq!(decisions, [("By train", false), ("No piano", true)]);
    // Names are not given twice, and a moment can be restored again.
    log.reply("[DECISION] By bus");
    assert_eq!(log.goals().shown().unwrap().decisions().iter().last().unwrap().id().as_str(), "d4");
    restore(&mut log);
    assert_eq!(log.goals().shown(), Some(restored));
    // A log that has lost its beginning loses no more than that.
    let (goals, misfits) = Goals::fold(log.records.iter().skip(log.records.len() - 1));
    assert_eq!((goals.history().len(), misfits.len()), (0, 1));
}

// SEC-055
#[test]
fn what_was_locked_after_a_strangers_text_stands_again_with_its_label() {
    for (words, label) in [("No piano - LOCKED", Trust::Outside), ("No piano", Trust::Owner)] {
        let mut log = Log::default();
        log.create("Move");
        let (earlier, records) = (log.goals(), log.records.len());
        log.reply(&format!("[DECISION] {words}"));
        log.records.iter_mut().skip(records).for_each(|record| record.trust = Trust::Outside);
        log.change(|manager| manager.restore(earlier, records as u64)).unwrap();
        assert_eq!(log.goals().shown().unwrap().trust(), label, "{words}");
    }
}
