//! Goals as a person reads them.

use std::fmt::Write as _;

use limpid_core::Trust;
use limpid_core::goal::{Artifact, Checkpoint, CheckpointStatus, Decision, Goal, GoalEvent, GoalRecord, Goals};

use crate::marked::marked_line;

/// A goal with everything that it holds, in lines.
pub fn goal_text(goal: &Goal) -> String {
    let progress = goal.progress();
    let mut text = format!(
        "{} ({}, {} priority, {}, {} of {} steps done)",
        marked_line(goal.description(), goal.trust()),
        goal.id(),
        goal.priority(),
        goal.status(),
        progress.completed,
        progress.total
    );
    if let Some(summary) = goal.summary().filter(|summary| !summary.is_empty()) {
        let _ = write!(text, "\nWhat came of it: {}", marked_line(summary, goal.trust()));
    }
    list(&mut text, "Steps", steps_text(goal).into_iter());
    list(&mut text, "Decisions", goal.decisions().iter().map(|one| decision(one, goal.trust())));
    let file = |Artifact { action, path, .. }: &Artifact| format!("{action} {}", marked_line(path, goal.trust()));
    list(&mut text, "Files", goal.artifacts().iter().map(file));
    text
}

/// The goals of a conversation, a line each; `*` stands before the one that the prompt shows.
pub fn goals_text(goals: &Goals) -> String {
    let shown = goals.shown().map(Goal::id);
    let line = |goal: &Goal| {
        let mark = if Some(goal.id()) == shown { '*' } else { ' ' };
        let progress = goal.progress();
        let steps = format!("{}/{}", progress.completed, progress.total);
        let description = marked_line(goal.description(), goal.trust());
        format!("{mark} {} {} {steps} {description}", goal.id(), goal.status())
    };
    goals.history().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What a change does to goals and steps that are there, each named by its own words and not by its number alone; of one that does
/// nothing to them, which goal is shown.
pub(super) fn change_text(before: &Goals, after: &Goals) -> String {
    let becomes = |was: String, now: String| if was == now { was } else { format!("{was}, becomes {now}") };
    let mut said = Vec::new();
    for goal in before.history() {
        let now = after.history().iter().find(|now| now.id() == goal.id()).unwrap_or(goal);
        if now == goal {
            continue;
        }
        let status = becomes(goal.status().to_string(), now.status().to_string());
        said.push(format!("goal {}, {}: {status}", goal.id(), goal.description()));
        for step in goal.checkpoints() {
            let now = now.checkpoints().iter().find(|now| now.id == step.id).unwrap_or(step);
            if now != step {
                let status = becomes(step.status.to_string(), now.status.to_string());
                said.push(format!("its step {}, {}: {status}", step.id, step.description));
            }
        }
    }
    match (said.is_empty(), before.shown()) {
        (false, _) => said.join("; "),
        (true, Some(goal)) => {
            format!("changes nothing of goal {}, {}: {}", goal.id(), goal.description(), goal.status())
        }
        (true, None) => "no goal is worked on".to_owned(),
    }
}

/// The steps of a goal, a line each.
pub fn steps_text(goal: &Goal) -> Vec<String> {
    let line = |step: &Checkpoint| {
        let mark = match step.status {
            CheckpointStatus::Completed => 'x',
            CheckpointStatus::InProgress => '>',
            CheckpointStatus::Pending => ' ',
        };
        format!("[{mark}] {} {}", step.id, marked_line(&step.description, goal.trust()))
    };
    goal.checkpoints().iter().map(line).collect()
}

/// What happened, without its time.
pub fn record_text(record: &GoalRecord) -> String {
    let about = match &record.event {
        GoalEvent::Created { description, priority, .. } => format!(": {description} ({priority} priority)"),
        GoalEvent::Completed { summary: Some(summary), .. } => format!(": {summary}"),
        GoalEvent::CheckpointAdded { checkpoint, description, .. } => format!(" {checkpoint}: {description}"),
        GoalEvent::CheckpointSet { checkpoint, status, .. } => format!(" {checkpoint}: {status}"),
        GoalEvent::DecisionRecorded { decision, description, .. } => format!(" {decision}: {description}"),
        GoalEvent::DecisionRevised { decision, rationale, .. } => format!(" {decision}: {rationale}"),
        GoalEvent::DecisionLocked { decision, .. } => format!(" {decision}"),
        GoalEvent::Restored { records, .. } => format!(" as after {records} changes"),
        GoalEvent::ArtifactRecorded { path, action, .. } => format!(": {action} {path}"),
        _ => String::new(),
    };
    format!("{} {}{about} (by {})", record.event.goal(), record.event.name(), record.by)
}

fn decision(decision: &Decision, trust: Trust) -> String {
    let locked = if decision.is_locked() { " (locked)" } else { "" };
    let why = match decision.rationale() {
        "" => String::new(),
        rationale => format!(": {}", marked_line(rationale, trust)),
    };
    format!("{} {}{locked}{why}", decision.id(), marked_line(decision.description(), trust))
}

fn list(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.map(|line| format!("\n  {line}")).collect();
    if !lines.is_empty() {
        let _ = write!(text, "\n{title}:{}", lines.concat());
    }
}
