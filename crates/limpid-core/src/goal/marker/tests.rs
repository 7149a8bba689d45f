use super::*;
use ArtifactAction::{Created, Deleted, Modified};
use CheckpointStatus::{Completed, InProgress, Pending};

fn goal(text: &str) -> Option<Result<Marker, ()>> {
    Some(Ok(Marker::Goal(text.to_owned())))
}

fn step(text: &str, status: Option<CheckpointStatus>) -> Option<Result<Marker, ()>> {
    Some(Ok(Marker::Checkpoint(text.to_owned(), status)))
}

fn decision(text: &str, lock: bool) -> Option<Result<Marker, ()>> {
    Some(Ok(Marker::Decision { text: text.to_owned(), lock }))
}

fn artifact(action: ArtifactAction, path: &str) -> Option<Result<Marker, ()>> {
    Some(Ok(Marker::Artifact(action, path.to_owned())))
}

fn next(text: &str) -> Option<Result<Marker, ()>> {
    Some(Ok(Marker::Next(text.to_owned())))
}

fn check(cases: &[(&str, Option<Result<Marker, ()>>)]) {
    for (line, wanted) in cases {
        assert_eq!(&read(line).map(|read| read.map_err(|_| ())), wanted, "{line}");
    }
}

// OLLM-080
#[test]
fn what_the_grammar_accepts() {
    check(&[
        ("[GOAL] Implement user authentication system", goal("Implement user authentication system")),
        ("[CHECKPOINT] Design authentication flow - COMPLETED", step("Design authentication flow", Some(Completed))),
        ("[DECISION] Use JWT for authentication - LOCKED", decision("Use JWT for authentication", true)),
        ("[ARTIFACT] Created src/auth/login.ts", artifact(Created, "src/auth/login.ts")),
        ("[NEXT] Implement JWT token generation", next("Implement JWT token generation")),
        ("[CHECKPOINT] Draw the flow - COMPLETED", step("Draw the flow", Some(Completed))),
        ("- **[checkpoint]** 2. Add login – in progress.", step("2. Add login", Some(InProgress))),
        ("[DECISION] Use X - it is fast - LOCKED", decision("Use X - it is fast", true)),
        ("[ARTIFACT] Created: src/a b.rs", artifact(Created, "src/a b.rs")),
        ("1) [NEXT] Write tests", next("Write tests")),
        ("   __[Goal]__:\tX!  ", goal("X")),
        ("**[GOAL] X**", goal("X")),
        ("* [checkpoint] Y — Pending**.", step("Y", Some(Pending))),
        ("[CHECKPOINT] Y - in-progress", step("Y", Some(InProgress))),
        ("[CHECKPOINT] Y", step("Y", None)),
        ("[CHECKPOINT] Y - LOCKED", step("Y - LOCKED", None)),
        ("[CHECKPOINT] Y -COMPLETED", step("Y -COMPLETED", None)),
        ("[DECISION] Y - COMPLETED", decision("Y - COMPLETED", false)),
        ("[artifact] modified `a.rs`.", artifact(Modified, "a.rs")),
        ("[ARTIFACT] DELETED src/__init__", artifact(Deleted, "src/__init__")),
        ("[NEXT] Make it **bold**.", next("Make it **bold**")),
        ("123. [GOAL] X", goal("X")),
    ]);
}

// OLLM-080 OLLM-130
#[test]
fn what_the_grammar_rejects() {
    let lines = [
        "[CHECKPOINT]",
        "[DECISION] Use X - UNLOCKED",
        "[decision] Use X – unlocked.",
        "[CHECKPOINT] X - BLOCKED",
        "[CHECKPOINT] X - DONE",
        "[CHECKPOINT] X - DONE - COMPLETED",
        "[NEXT] X - DONE",
        "[ARTIFACT] Touched a.rs",
        "[ARTIFACT] Created",
        "[ARTIFACT] Created ``",
        "[GOAL]   ",
        "[GOAL] ...",
        "[GOAL]X",
    ];
    check(&lines.map(|line| (line, Some(Err(())))));
    let (long, longest) = ("x".repeat(301), "x".repeat(300));
    check(&[(&format!("[GOAL] {long}"), Some(Err(()))), (&format!("[GOAL] {longest}"), goal(&longest))]);
    let (long, longest) = ("p".repeat(401), "p".repeat(400));
    check(&[
        (&format!("[ARTIFACT] Created {long}"), Some(Err(()))),
        (&format!("[ARTIFACT] Created {longest}"), artifact(Created, &longest)),
    ]);
}

// OLLM-080
#[test]
fn what_is_only_text() {
    let lines = [
        "> [GOAL] x",
        "see [GOAL] x",
        "[GOALS] x",
        "[GOAL](url)",
        "[GOAL][1]",
        "    [GOAL] x",
        "\t[GOAL] x",
        "`[GOAL] x`",
        "1234. [GOAL] x",
        "-[GOAL] x",
        "[ GOAL ] x",
        "",
        "[é",
    ];
    check(&lines.map(|line| (line, None)));
}

// OLLM-085
#[test]
fn every_beginning_of_a_marker_may_become_one() {
    for line in ["[GOAL] X", "  - **[checkpoint]** Y", "12) __[Next]__ Z", "[ARTIFACT] Created a"] {
        for at in (0..line.len()).filter(|at| line.is_char_boundary(*at)) {
            assert!(may_become(&line[..at]), "{:?}", &line[..at]);
        }
    }
    for line in ["Hello", "> [GOAL]", "see [GOAL]", "[GOALS", "[link](x)", "1. First", "    [GOAL]"] {
        assert!(!may_become(line), "{line:?}");
    }
}
