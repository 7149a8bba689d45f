//! The screens of goals: what each conversation works towards, and what happened to that.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use limpid_core::ConversationId;
use limpid_core::goal::{Artifact, Checkpoint, CheckpointStatus, Decision, Goal, GoalRecord, GoalStatus, Goals};
use limpid_prompt::shown::shown_line;
use limpid_runtime::goals::record_text;
use limpid_runtime::{AgentError, ConversationChoice};
use limpid_store::Conversation;
use serde::Deserialize;

use super::forms::back;
use super::shell::Shell;
use super::state::Page;
use super::trouble::{Trouble, screen as screen_of};

/// Conversations that are shown.
const MOST: u32 = 50;

/// The goals of a conversation.
struct Own {
    id: String,
    title: String,
    goals: Vec<GoalRow>,
}

/// A goal as it is shown.
struct GoalRow {
    id: String,
    text: String,
    is_foreign: bool,
    /// Whether prompts show it, so that its steps and decisions can be changed.
    is_shown: bool,
    status: &'static str,
    is_active: bool,
    is_over: bool,
    facts: Vec<String>,
    summary: Option<String>,
    steps: Vec<Step>,
    decisions: Vec<DecisionRow>,
    files: Vec<String>,
}

/// A step of a goal.
struct Step {
    id: String,
    text: String,
    number: usize,
    is_done: bool,
    is_begun: bool,
    summary: Option<String>,
}

/// Something that was decided.
struct DecisionRow {
    id: String,
    text: String,
    why: String,
    is_locked: bool,
}

/// Something that happened to goals.
struct Event {
    text: String,
    is_foreign: bool,
    at: String,
}

#[derive(Template)]
#[template(path = "goals.html")]
struct GoalsScreen {
    shell: Shell,
    conversations: Vec<Own>,
}

#[derive(Template)]
#[template(path = "goals_one.html")]
struct OneScreen {
    shell: Shell,
    own: Own,
    warnings: Vec<String>,
    history: Vec<Event>,
}

/// What is to be done with a goal, or with a step or decision of it.
#[derive(Deserialize)]
struct Act {
    act: String,
    name: String,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/goals", get(screen)).route("/goals/{id}", get(one)).route("/goals/{id}/act", post(act))
}

async fn screen(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Trouble> {
    let mut conversations = Vec::new();
    for conversation in page.agent.goals().conversations(MOST).await? {
        let goals = page.agent.goals().list(&ConversationChoice::Id(conversation.id.clone())).await?;
        conversations.push(own(&page, &conversation, &goals));
    }
    let shell = Shell::new(&page, &headers, "Goals · Limpid", "activity").await?;
    Ok(Html(GoalsScreen { shell, conversations }.render()?).into_response())
}

/// `GET /goals/{id}`: the goals of a conversation, and what happened to them.
async fn one(State(page): State<Arc<Page>>, Path(id): Path<String>, headers: HeaderMap) -> Result<Response, Trouble> {
    let conversation = match page.agent.directory().existing(&ConversationId::new(id)).await {
        Ok(conversation) => conversation,
        Err(error) => return screen_of(&page, &headers, "No such conversation", error.into()).await,
    };
    let choice = ConversationChoice::Id(conversation.id.clone());
    let goals = page.agent.goals().list(&choice).await?;
    let history = page.agent.goals().history(&choice).await?;
    let screen = OneScreen {
        shell: Shell::new(&page, &headers, "Goals · Limpid", "activity").await?,
        own: own(&page, &conversation, &goals),
        warnings: history.warnings.iter().map(|warning| shown_line(warning)).collect(),
        history: history.records.iter().rev().map(|record| event(&page, record)).collect(),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `POST /goals/{id}/act`
async fn act(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(Act { act, name }): Form<Act>,
) -> Result<Response, Trouble> {
    let goals = page.agent.goals();
    let own = match page.agent.directory().existing(&ConversationId::new(id)).await {
        Ok(own) => own.id,
        Err(error) => return screen_of(&page, &headers, "Not done", error.into()).await,
    };
    let choice = ConversationChoice::Id(own.clone());
    let done = match act.as_str() {
        "pause" => goals.pause(&choice, Some(&name)).await,
        "resume" => goals.resume(&choice, Some(&name)).await,
        "complete" => goals.complete(&choice, Some(&name), "").await,
        "done" => goals.set_checkpoint(&choice, &name, CheckpointStatus::Completed).await,
        "again" => goals.set_checkpoint(&choice, &name, CheckpointStatus::Pending).await,
        "lock" => goals.lock_decision(&choice, &name).await,
        _ => Err(AgentError::Invalid("A goal is paused, resumed or completed.".to_owned())),
    };
    back(&page, &headers, done, |_| format!("/goals/{own}")).await
}

fn own(page: &Page, conversation: &Conversation, goals: &Goals) -> Own {
    let shown = goals.shown().map(Goal::id);
    let mut rows: Vec<GoalRow> =
        goals.history().iter().rev().map(|goal| goal_row(page, goal, shown == Some(goal.id()))).collect();
    rows.sort_by_key(|row| !row.is_shown);
    Own {
        id: conversation.id.to_string(),
        title: match conversation.title.trim() {
            "" => "New conversation".to_owned(),
            title => shown_line(title),
        },
        goals: rows,
    }
}

fn goal_row(page: &Page, goal: &Goal, is_shown: bool) -> GoalRow {
    let progress = goal.progress();
    let mut facts = vec![format!("{} priority", goal.priority()), format!("since {}", page.clock(goal.created_ms()))];
    if progress.total > 0 {
        facts.push(format!("{} of {} steps done", progress.completed, progress.total));
    }
    facts.extend(goal.completed_ms().map(|at| format!("completed {}", page.clock(at))));
    let step = |(at, step): (usize, &Checkpoint)| Step {
        id: step.id.to_string(),
        text: shown_line(&step.description),
        number: at + 1,
        is_done: step.status == CheckpointStatus::Completed,
        is_begun: step.status == CheckpointStatus::InProgress,
        summary: step.summary.as_deref().map(shown_line),
    };
    let decision = |decision: &Decision| DecisionRow {
        id: decision.id().to_string(),
        text: shown_line(decision.description()),
        why: shown_line(decision.rationale()),
        is_locked: decision.is_locked(),
    };
    GoalRow {
        id: goal.id().to_string(),
        text: shown_line(goal.description()),
        is_foreign: goal.trust().is_foreign(),
        is_shown,
        status: goal.status().as_str(),
        is_active: goal.status() == GoalStatus::Active,
        is_over: goal.completed_ms().is_some(),
        facts,
        summary: goal.summary().filter(|summary| !summary.is_empty()).map(shown_line),
        steps: goal.checkpoints().iter().enumerate().map(step).collect(),
        decisions: goal.decisions().iter().map(decision).collect(),
        files: goal
            .artifacts()
            .iter()
            .map(|Artifact { action, path, .. }| format!("{action} {}", shown_line(path)))
            .collect(),
    }
}

fn event(page: &Page, record: &GoalRecord) -> Event {
    Event {
        text: shown_line(&record_text(record)),
        is_foreign: record.trust.is_foreign(),
        at: page.moment(record.at_ms),
    }
}
