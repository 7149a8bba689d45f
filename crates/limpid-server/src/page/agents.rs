//! The screens of agents: who started whom, how each stands, and what it said.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use limpid_core::{AgentId, AgentState, ConversationId, PlannedId, Role};
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::{AgentReport, Planned, Told};
use limpid_store::{AgentFilter, StoredMessage, SubAgent};
use serde::Deserialize;

use super::forms::{back, typed};
use super::meter::thousands;
use super::parts::call;
use super::shell::Shell;
use super::state::Page;
use super::trouble::{Trouble, screen as screen_of};

/// Agents that are shown.
const MOST: u32 = 100;

/// An agent in its tree.
#[derive(Template)]
#[template(path = "parts/agent.html")]
struct Node {
    id: i64,
    label: String,
    is_foreign: bool,
    state: &'static str,
    /// How the word of its state looks.
    look: &'static str,
    is_over: bool,
    told: String,
    why: String,
    /// Those that it started, each as HTML.
    children: Vec<String>,
}

/// The trees that a conversation began.
struct Trees {
    chat: String,
    title: String,
    roots: Vec<String>,
}

/// A planned task.
struct PlanRow {
    id: i64,
    name: String,
    is_foreign: bool,
    state: String,
    after: String,
    agent: Option<i64>,
}

#[derive(Template)]
#[template(path = "agents.html")]
struct AgentsScreen {
    shell: Shell,
    at_work: usize,
    trees: Vec<Trees>,
    plan: Vec<PlanRow>,
}

/// A message of an agent's work.
struct Said {
    who: &'static str,
    at: String,
    text: String,
    calls: Vec<String>,
}

#[derive(Template)]
#[template(path = "agent_one.html")]
struct OneScreen {
    shell: Shell,
    node: Node,
    chat: String,
    task: String,
    context: Option<String>,
    facts: Vec<(&'static str, String)>,
    result: String,
    said: Vec<Said>,
}

/// What an agent is told.
#[derive(Deserialize)]
struct Message {
    text: String,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/agents", get(screen))
        .route("/agents/{id}", get(one))
        .route("/agents/{id}/cancel", post(cancel))
        .route("/agents/{id}/tell", post(tell))
}

async fn screen(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Trouble> {
    let filter = AgentFilter { limit: MOST, ..AgentFilter::default() };
    let agents = page.agent.agents().list(filter).await?.rows;
    let ids: Vec<AgentId> = agents.iter().map(|agent| agent.id).collect();
    let mut children: HashMap<AgentId, Vec<&SubAgent>> = HashMap::new();
    let mut chats: Vec<(&ConversationId, Vec<&SubAgent>)> = Vec::new();
    for agent in &agents {
        match agent.parent.filter(|parent| ids.contains(parent)) {
            // The oldest first below whoever started them.
            Some(parent) => children.entry(parent).or_default().insert(0, agent),
            None => match chats.iter_mut().find(|(chat, _)| *chat == &agent.chat) {
                Some((_, roots)) => roots.push(agent),
                None => chats.push((&agent.chat, vec![agent])),
            },
        }
    }
    let mut trees = Vec::new();
    for (chat, roots) in chats {
        let title = page.agent.directory().existing(chat).await?.title;
        let title = if title.trim().is_empty() { "New conversation".to_owned() } else { shown_line(&title) };
        let roots = roots.into_iter().map(|root| node(root, &children)?.render()).collect::<Result<_, _>>()?;
        trees.push(Trees { chat: chat.to_string(), title, roots });
    }
    let screen = AgentsScreen {
        shell: Shell::new(&page, &headers, "Agents · Limpid", "activity").await?,
        at_work: agents.iter().filter(|agent| !agent.state.is_over()).count(),
        trees,
        plan: page.agent.agents().planned(None).await?.iter().map(plan_row).collect(),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `GET /agents/{id}`
async fn one(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let one = match page.agent.agents().get(AgentId(id)).await {
        Ok(one) => one,
        Err(error) => return screen_of(&page, &headers, "No such agent", error.into()).await,
    };
    let said = page.agent.store().messages(&one.works_in(), None).await?.rows;
    let report = AgentReport::of_row(&one);
    let mut facts = vec![("Started", page.moment(one.new.now_ms))];
    facts.extend(one.ended_ms.map(|ended| ("Ended", page.moment(ended))));
    facts.extend(one.new.skill.as_deref().map(|skill| ("Skill", shown_line(skill))));
    facts.extend(one.new.tools.as_ref().map(|tools| ("Tools", shown_line(&tools.join(", ")))));
    facts.extend(one.state.is_over().then(|| ("Did", shown_line(&report.notice(one.id, one.state, one.trust)))));
    let screen = OneScreen {
        shell: Shell::new(&page, &headers, &format!("Agent {id} · Limpid"), "activity").await?,
        node: node(&one, &HashMap::new())?,
        chat: one.chat.to_string(),
        task: shown(&one.new.task).into_owned(),
        context: one.new.context.as_deref().map(|context| shown(context).into_owned()),
        facts,
        result: shown(&one.result).into_owned(),
        said: said.iter().map(|row| said_row(&page, row)).collect(),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `POST /agents/{id}/cancel`
async fn cancel(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let stopped = page.agent.agents().cancel(AgentId(id)).await;
    back(&page, &headers, stopped, |_| format!("/agents#a{id}")).await
}

/// `POST /agents/{id}/tell`: one that has ended goes on, as an agent of its own.
async fn tell(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(Message { text }): Form<Message>,
) -> Result<Response, Trouble> {
    let told = page.agent.agents().tell(AgentId(id), &typed(&text)).await;
    back(&page, &headers, told, |told| match told {
        Told::Hears(now) | Told::GoesOn { now, .. } => format!("/agents/{now}"),
    })
    .await
}

fn node(agent: &SubAgent, children: &HashMap<AgentId, Vec<&SubAgent>>) -> Result<Node, askama::Error> {
    let report = AgentReport::of_row(agent);
    let own = children.get(&agent.id).into_iter().flatten();
    let (state, look) = match agent.state {
        AgentState::Queued => ("waits", "wait"),
        AgentState::Running => ("working", "good"),
        AgentState::Done => ("done", ""),
        AgentState::Failed => ("failed", "fail"),
        AgentState::Timeout => ("took too long", "fail"),
        AgentState::Cancelled => ("stopped", ""),
        AgentState::Interrupted => ("cut off", "fail"),
    };
    let took = agent.began_ms.zip(agent.ended_ms).map(|(began, ended)| seconds((ended - began) / 1000));
    let tokens = (report.tokens > 0).then(|| format!("{} tokens", thousands(report.tokens as usize)));
    Ok(Node {
        id: agent.id.0,
        label: shown_line(&agent.new.label),
        is_foreign: agent.new.trust.is_foreign(),
        state,
        look,
        is_over: agent.state.is_over(),
        told: tokens.into_iter().chain(took).collect::<Vec<_>>().join(" · "),
        why: shown_line(&agent.reason),
        children: own.map(|child| node(child, children)?.render()).collect::<Result<_, _>>()?,
    })
}

fn said_row(page: &Page, row: &StoredMessage) -> Said {
    let message = &row.message;
    Said {
        who: match message.role {
            Role::Assistant => "Agent",
            Role::Tool => "Result",
            _ => "Task",
        },
        at: page.moment(row.at_ms),
        text: shown(&message.text).into_owned(),
        calls: message.calls.iter().map(|made| call(&made.name, &made.arguments, None)).collect(),
    }
}

fn plan_row(planned: &Planned) -> PlanRow {
    let numbers = |ids: &[PlannedId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let blocked_by = numbers(&planned.blocked_by);
    let state = planned.state.as_str();
    PlanRow {
        id: planned.task.id.0,
        name: shown_line(&planned.task.name),
        is_foreign: planned.task.trust.is_foreign(),
        state: if blocked_by.is_empty() { state.to_owned() } else { format!("{state} by {blocked_by}") },
        after: numbers(&planned.task.needs),
        agent: planned.task.agent.map(|(id, _)| id.0),
    }
}

fn seconds(count: i64) -> String {
    match count {
        ..120 => format!("{count} s"),
        120..7_200 => format!("{} min", count / 60),
        _ => format!("{} h", count / 3_600),
    }
}
