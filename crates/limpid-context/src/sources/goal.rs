//! The goal as prompts show it, and when its tools are offered.

use jiff::Timestamp;
use limpid_core::goal::{
    Artifact, ArtifactAction, ArtifactKind, Checkpoint, CheckpointStatus, Decision, Goal, GoalStatus, Priority, cue,
};
use limpid_core::{ConversationId, TurnId};
use limpid_prompt::Profile;
use limpid_prompt::inputs::{
    ArtifactInput, ArtifactType, CheckpointInput, DecisionInput, GoalInput, Inputs, {self as inputs},
};
use limpid_services::error::AgentError;
use limpid_services::goals::{CREATE_GOAL, GOAL_TOOLS};

use crate::deps::ContextDeps;
use crate::history::clean::is_put_aside;
use crate::prefix_cache::PrefixCache;

/// Fills in the goal of a conversation, and takes its tools away where nobody has asked for goals. A model
/// without tools is told of the markers where another one has the tools.
/// `session` learns that somebody has. Returns the turn that the goal began in, where one did.
pub(crate) async fn fill(
    deps: &ContextDeps,
    (conversation, profile): (Option<&ConversationId>, &Profile),
    inputs: &mut Inputs,
    session: &mut PrefixCache,
    notices: &mut Vec<String>,
) -> Result<Option<TurnId>, AgentError> {
    let (mut is_used, mut began) = (false, None);
    if let Some(conversation) = conversation {
        let kept = deps.goals.load(conversation).await?;
        is_used = !kept.goals.history().is_empty();
        match kept.goals.shown() {
            Some(goal) if is_put_aside(&*deps.store, conversation, goal).await? => {
                notices
                    .push("the goal was made from what strangers wrote and is put aside; `/goal` shows it".to_owned());
            }
            shown => {
                inputs.goal = shown.map(goal_input);
                began = shown.and_then(|goal| goal.turn().cloned());
            }
        }
        notices.extend(kept.warnings);
    }
    session.goals_asked_for |= cue::asks_for_goals(inputs.said());
    let is_quiet = profile.behaviour().goal_tools_on_request.contains(&inputs.mode);
    if is_quiet && !is_used && !session.goals_asked_for {
        inputs.tools.retain(|tool| tool.group != GOAL_TOOLS);
    } else {
        inputs.goal_markers = !inputs.model.tools;
    }
    Ok(began)
}

/// The goal that a conversation's prompts show.
pub async fn shown(deps: &ContextDeps, conversation: &ConversationId) -> Result<Option<GoalInput>, AgentError> {
    let kept = deps.goals.load(conversation).await?;
    let Some(goal) = kept.goals.shown() else { return Ok(None) };
    Ok(if is_put_aside(&*deps.store, conversation, goal).await? { None } else { Some(goal_input(goal)) })
}

/// The tool that a message asks for which speaks of goals while there is none.
pub(crate) fn asked_tool(inputs: &Inputs) -> Option<&'static str> {
    (inputs.goal.is_none() && cue::asks_for_goals(inputs.said())).then_some(CREATE_GOAL)
}

fn goal_input(goal: &Goal) -> GoalInput {
    GoalInput {
        id: goal.id().to_string(),
        description: goal.description().to_owned(),
        priority: match goal.priority() {
            Priority::High => inputs::Priority::High,
            Priority::Medium => inputs::Priority::Medium,
            Priority::Low => inputs::Priority::Low,
        },
        status: match goal.status() {
            GoalStatus::Active => inputs::GoalStatus::Active,
            GoalStatus::Paused => inputs::GoalStatus::Paused,
            GoalStatus::Completed => inputs::GoalStatus::Completed,
        },
        created_at: utc(goal.created_ms()),
        completed_at: goal.completed_ms().map(utc),
        checkpoints: goal.checkpoints().iter().map(checkpoint).collect(),
        decisions: goal.decisions().iter().map(decision).collect(),
        artifacts: goal.artifacts().iter().map(artifact).collect(),
        ..GoalInput::by(goal.trust().into())
    }
}

fn checkpoint(step: &Checkpoint) -> CheckpointInput {
    CheckpointInput {
        id: step.id.to_string(),
        description: step.description.clone(),
        status: match step.status {
            CheckpointStatus::Pending => inputs::CheckpointStatus::Pending,
            CheckpointStatus::InProgress => inputs::CheckpointStatus::InProgress,
            CheckpointStatus::Completed => inputs::CheckpointStatus::Completed,
        },
        completed_at: step.completed_ms.map(utc),
    }
}

fn decision(decision: &Decision) -> DecisionInput {
    DecisionInput {
        id: decision.id().to_string(),
        description: decision.description().to_owned(),
        rationale: decision.rationale().to_owned(),
        locked: decision.is_locked(),
    }
}

fn artifact(artifact: &Artifact) -> ArtifactInput {
    ArtifactInput {
        kind: match artifact.kind {
            ArtifactKind::File => ArtifactType::File,
            ArtifactKind::Test => ArtifactType::Test,
            ArtifactKind::Documentation => ArtifactType::Documentation,
        },
        path: artifact.path.clone(),
        action: match artifact.action {
            ArtifactAction::Created => inputs::ArtifactAction::Created,
            ArtifactAction::Modified => inputs::ArtifactAction::Modified,
            ArtifactAction::Deleted => inputs::ArtifactAction::Deleted,
        },
    }
}

fn utc(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    at.unwrap_or_default()
}
