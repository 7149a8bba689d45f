//! `goal`.

use jiff::Timestamp;
use limpid_core::goal::{Artifact, Checkpoint, Decision, Goal, GoalRecord};
use limpid_core::{TurnId, goal::Goals};
use limpid_runtime::goals::{GoalChange, GoalHistory, goal_text, goals_text, record_text, steps_text};
use limpid_runtime::{Agent, ConversationChoice, marked_line};
use serde_json::{Value, json};

use super::choice::choice;
use super::listing::in_zone;
use super::own_words::own;
use crate::cli::{GoalArgs, GoalCommand, StepCommand};
use crate::failure::Failure;
use crate::output;

/// Carries out `goal …`; no model is asked.
///
/// # Errors
/// When the conversation, goal, step or decision does not exist, a rule of goals refuses it, or the store fails.
pub async fn run(agent: &Agent, command: &GoalCommand) -> Result<(), Failure> {
    match command {
        GoalCommand::Show { of } => show(&agent.goals().list(&which(of)).await?, of.json),
        GoalCommand::List { of } => list(&agent.goals().list(&which(of)).await?, of.json),
        GoalCommand::History { of } => history(agent, &agent.goals().history(&which(of)).await?, of.json),
        GoalCommand::Create { text, priority, mine, of } => {
            told(&agent.goals().create(&which(of), &own(text, mine.mine)?, (*priority).into()).await?, of.json)
        }
        GoalCommand::Pause { goal, of } => told(&agent.goals().pause(&which(of), goal.as_deref()).await?, of.json),
        GoalCommand::Resume { goal, of } => told(&agent.goals().resume(&which(of), goal.as_deref()).await?, of.json),
        GoalCommand::Complete { goal, summary, mine, of } => {
            own(std::slice::from_ref(summary), mine.mine)?;
            told(&agent.goals().complete(&which(of), goal.as_deref(), summary).await?, of.json)
        }
        GoalCommand::Clear { of } => told(&agent.goals().clear(&which(of)).await?, of.json),
        GoalCommand::Decide { text, because, mine, of } => {
            own(std::slice::from_ref(because), mine.mine)?;
            told(&agent.goals().record_decision(&which(of), &own(text, mine.mine)?, because).await?, of.json)
        }
        GoalCommand::Lock { decision, of } => told(&agent.goals().lock_decision(&which(of), decision).await?, of.json),
        GoalCommand::Step(command) => step(agent, command).await,
    }
}

async fn step(agent: &Agent, command: &StepCommand) -> Result<(), Failure> {
    match command {
        StepCommand::List { of } => {
            let goals = agent.goals().list(&which(of)).await?;
            let goal = goals.shown();
            if of.json {
                let steps = goal.map(Goal::checkpoints).unwrap_or_default();
                return output::json("steps", &steps.iter().map(step_json).collect::<Vec<_>>());
            }
            lines(goal.map(steps_text).unwrap_or_default().into_iter(), "There are no steps.")
        }
        StepCommand::Add { text, mine, of } => {
            told(&agent.goals().add_checkpoint(&which(of), &own(text, mine.mine)?).await?, of.json)
        }
        StepCommand::Set { step, status, of } => {
            told(&agent.goals().set_checkpoint(&which(of), step, (*status).into()).await?, of.json)
        }
    }
}

fn which(of: &GoalArgs) -> ConversationChoice {
    choice(Some(&of.conversation), &ConversationChoice::Last)
}

fn show(goals: &Goals, json: bool) -> Result<(), Failure> {
    match goals.shown() {
        shown if json => output::json("goal", &shown.map(goal_json)),
        Some(goal) => output::text(&goal_text(goal)),
        None => {
            output::tell("There is no goal.");
            Ok(())
        }
    }
}

fn list(goals: &Goals, json: bool) -> Result<(), Failure> {
    if json {
        return output::json("goals", &goals.history().iter().map(goal_json).collect::<Vec<_>>());
    }
    lines(goals.history().first().map(|_| goals_text(goals)).into_iter(), "There is no goal.")
}

fn history(agent: &Agent, history: &GoalHistory, json: bool) -> Result<(), Failure> {
    for trouble in &history.warnings {
        output::tell_further_in(trouble);
    }
    if json {
        return output::json("events", &history.records.iter().map(record_json).collect::<Vec<_>>());
    }
    let zone = agent.zone();
    let line = |record: &GoalRecord| {
        format!("{}  {}", in_zone(record.at_ms, &zone), marked_line(&record_text(record), record.trust))
    };
    lines(history.records.iter().map(line), "Nothing has happened to goals here.")
}

/// What a change came to: the goal as data, and beside it whether anything is different.
fn told(change: &GoalChange, json: bool) -> Result<(), Failure> {
    if json {
        let mut goal = goal_json(&change.goal);
        goal["what"] = json!(change.what);
        return output::json("goal", &goal);
    }
    output::text(&goal_text(&change.goal))?;
    output::tell(if change.what.is_empty() { "Nothing changed." } else { "Kept." });
    Ok(())
}

fn lines(lines: impl Iterator<Item = String>, none: &str) -> Result<(), Failure> {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        output::tell(none);
        return Ok(());
    }
    output::text(&lines.join("\n"))
}

/// A goal under the seed's names.
fn goal_json(goal: &Goal) -> Value {
    let progress = goal.progress();
    let decision = |decision: &Decision| {
        json!({
            "id": decision.id().as_str(), "description": decision.description(),
            "rationale": decision.rationale(), "locked": decision.is_locked(),
        })
    };
    let artifact = |artifact: &Artifact| json!({"type": artifact.kind.as_str(), "path": artifact.path, "action": artifact.action.as_str()});
    json!({
        "id": goal.id().as_str(), "description": goal.description(), "priority": goal.priority().as_str(),
        "status": goal.status().as_str(), "createdAt": utc(goal.created_ms()),
        "completedAt": goal.completed_ms().map(utc), "summary": goal.summary(), "trust": goal.trust().as_str(),
        "progress": {
            "completed": progress.completed, "total": progress.total, "percentage": progress.percentage,
        },
        "checkpoints": goal.checkpoints().iter().map(step_json).collect::<Vec<_>>(),
        "decisions": goal.decisions().iter().map(decision).collect::<Vec<_>>(),
        "artifacts": goal.artifacts().iter().map(artifact).collect::<Vec<_>>(),
    })
}

fn step_json(step: &Checkpoint) -> Value {
    json!({
        "id": step.id.as_str(), "description": step.description, "status": step.status.as_str(),
        "completedAt": step.completed_ms.map(utc), "metadata": step.metadata, "summary": step.summary,
    })
}

fn record_json(record: &GoalRecord) -> Value {
    json!({
        "goal": record.event.goal().as_str(), "what": record.event.name(), "text": record_text(record),
        "by": record.by.as_str(), "trust": record.trust.as_str(),
        "turn": record.turn.as_ref().map(TurnId::as_str), "at": utc(record.at_ms),
    })
}

fn utc(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    at.unwrap_or_default()
}
