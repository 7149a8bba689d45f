//! The screen of tasks: what is to be done later, when, and how it went.

mod shown;

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use limpid_core::by_side::by_side;
use limpid_core::task::{TaskKind, TaskStatus};
use limpid_runtime::AgentError;
use limpid_runtime::tasks::{TaskChange, TaskRequest, When, parse_span};
use limpid_store::Task;
use serde::Deserialize;

use self::shown::{Row, TaskForm, name, row};
use super::forms::{back, typed};
use super::shell::Shell;
use super::state::Page;
use super::trouble::Trouble;

/// Tasks that are shown.
const MOST: usize = 200;

/// A line of the list.
enum Entry {
    Task(Box<Row>),
    /// One that was just deleted, where it stood.
    Gone {
        id: i64,
        name: String,
        is_foreign: bool,
    },
}

#[derive(Template)]
#[template(path = "tasks.html")]
struct TasksScreen {
    shell: Shell,
    entries: Vec<Entry>,
    over: Vec<Row>,
    all: bool,
    left_out: usize,
    zone: String,
    /// The form of a new task.
    form: TaskForm,
}

/// What is asked for.
#[derive(Default, Deserialize)]
struct Asked {
    /// A task that is shown open.
    open: Option<String>,
    /// A task that was just deleted, and where it stood.
    gone: Option<String>,
    at: Option<String>,
    /// Those too that are over.
    all: Option<String>,
}

/// Where a task stood in the list.
#[derive(Deserialize)]
struct Place {
    at: Option<String>,
}

/// What a task is to be.
#[derive(Deserialize)]
struct Wanted {
    description: String,
    text: String,
    kind: Option<String>,
    when: String,
    time: String,
    /// The time of one that is due once, as a browser's own field gives it.
    #[serde(default)]
    at: String,
}

/// A form that could not be carried out.
struct Refused {
    /// The task that was to be changed; none where one was to be made.
    task: Option<i64>,
    typed: Wanted,
    why: String,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/tasks", get(screen).post(add))
        .route("/tasks/{id}", post(change))
        .route("/tasks/{id}/run", post(run))
        .route("/tasks/{id}/on", post(on))
        .route("/tasks/{id}/off", post(off))
        .route("/tasks/{id}/delete", post(delete))
        .route("/tasks/{id}/undo", post(undo))
}

async fn screen(
    State(page): State<Arc<Page>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    list(&page, &headers, asked, None).await
}

/// The list, with what was typed into a form that could not be carried out.
async fn list(page: &Page, headers: &HeaderMap, asked: Asked, refused: Option<Refused>) -> Result<Response, Trouble> {
    let number = |text: Option<&String>| text.and_then(|text| text.parse::<i64>().ok());
    let (open, gone) = (number(asked.open.as_ref()), number(asked.gone.as_ref()));
    let open = open.or(refused.as_ref().and_then(|refused| refused.task));
    let all = asked.all.is_some();
    let waits = |task: &Task| matches!(task.standing.status, TaskStatus::Pending | TaskStatus::Disabled);
    let listed = page.agent.tasks().list(None).await?.rows;
    let heartbeat = page.agent.heartbeat().next_due_ms().await?.map(|due| page.clock(due));
    let (mut entries, mut over) = (Vec::new(), Vec::new());
    let wanted = |task: &&Task| waits(task) || all;
    let shown = by_side(listed.iter().filter(wanted), MOST, |task| task.new.trust.is_foreign());
    let left_out = listed.iter().filter(wanted).count() - shown.len();
    for task in shown {
        let runs = page.agent.tasks().get(&task.id.to_string()).await?.1.rows;
        let mut row = row(page, task, &runs, open == Some(task.id.0), heartbeat.as_deref());
        if let Some(refused) = refused.as_ref().filter(|refused| refused.task == Some(task.id.0)) {
            row.form.keep(&refused.typed, &refused.why);
        }
        if waits(task) { entries.push(Entry::Task(Box::new(row))) } else { over.push(row) }
    }
    let gone = listed.iter().find(|task| Some(task.id.0) == gone && task.standing.status == TaskStatus::Cancelled);
    if let Some(task) = gone {
        let at = asked.at.and_then(|at| at.parse().ok()).unwrap_or(entries.len()).min(entries.len());
        entries.insert(at, Entry::Gone { id: task.id.0, name: name(task), is_foreign: task.new.trust.is_foreign() });
        over.retain(|row| row.id != task.id.0);
    }
    let mut form = TaskForm::default();
    if let Some(refused) = refused.as_ref().filter(|refused| refused.task.is_none()) {
        form.keep(&refused.typed, &refused.why);
    }
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let screen = TasksScreen {
        shell: Shell::new(page, headers, "Tasks · Limpid", "activity").await?,
        form,
        entries,
        over,
        all,
        left_out,
        zone: page.agent.zone().iana_name().unwrap_or("UTC").to_owned(),
    };
    Ok((status, Html(screen.render()?)).into_response())
}

/// Where a form leads; the form again, with what was typed, where it says something wrong.
async fn done(
    page: &Page,
    headers: &HeaderMap,
    done: Result<String, AgentError>,
    (task, typed): (Option<i64>, Wanted),
) -> Result<Response, Trouble> {
    match done {
        Err(AgentError::Invalid(why)) => {
            list(page, headers, Asked::default(), Some(Refused { task, typed, why })).await
        }
        done => back(page, headers, done, |to| to).await,
    }
}

/// `POST /tasks`
async fn add(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Form(wanted): Form<Wanted>,
) -> Result<Response, Trouble> {
    let kind = wanted.kind.as_deref().and_then(TaskKind::parse).unwrap_or(TaskKind::Reminder);
    let added = match when(&wanted) {
        Ok(Some(when)) => {
            // What a heartbeat is to do is for its model.
            let kind = if when == When::Heartbeat { TaskKind::Agent } else { kind };
            let (description, prompt) = (wanted.description.clone(), typed(&wanted.text));
            let (key, zone, missed, conversation) = (None, None, None, None);
            let request = TaskRequest { key, description, prompt, kind, when, zone, missed, conversation };
            page.agent.tasks().add(request).await
        }
        Ok(None) => Err(AgentError::Invalid("Say when the task is due.".to_owned())),
        Err(why) => Err(why),
    };
    let added = added.map(|task| format!("/tasks?open={0}#t{0}", task.id));
    done(&page, &headers, added, (None, wanted)).await
}

/// `POST /tasks/{id}`
async fn change(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(wanted): Form<Wanted>,
) -> Result<Response, Trouble> {
    let changed = match when(&wanted) {
        Ok(when) => {
            let (description, prompt) = (Some(wanted.description.clone()), Some(typed(&wanted.text)));
            let change = TaskChange { description, prompt, when, ..TaskChange::default() };
            page.agent.tasks().change(&id.to_string(), change).await
        }
        Err(why) => Err(why),
    };
    let changed = changed.map(|_| format!("/tasks?open={id}#t{id}"));
    done(&page, &headers, changed, (Some(id), wanted)).await
}

/// `POST /tasks/{id}/run`: one run now. It goes on when the browser is closed.
async fn run(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let ran = page.agent.jobs().begin_task(&id.to_string()).await;
    back(&page, &headers, ran, |_| format!("/tasks?open={id}&all=true#t{id}")).await
}

async fn on(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = page.agent.tasks().set_enabled(&id.to_string(), true).await;
    back(&page, &headers, done, |_| format!("/tasks#t{id}")).await
}

async fn off(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = page.agent.tasks().set_enabled(&id.to_string(), false).await;
    back(&page, &headers, done, |_| format!("/tasks#t{id}")).await
}

async fn delete(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(Place { at }): Form<Place>,
) -> Result<Response, Trouble> {
    let done = page.agent.tasks().cancel(&id.to_string()).await;
    let at = at.and_then(|at| at.parse::<usize>().ok()).map(|at| format!("&at={at}")).unwrap_or_default();
    // Without a fragment, which would keep the browser from Undo.
    back(&page, &headers, done, |_| format!("/tasks?gone={id}{at}")).await
}

async fn undo(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = page.agent.tasks().undo_cancel(&id.to_string()).await;
    back(&page, &headers, done, |_| format!("/tasks#t{id}")).await
}

/// When a task is to be due, as a form says it; none: as before.
fn when(Wanted { when, time, at, .. }: &Wanted) -> Result<Option<When>, AgentError> {
    let (time, at) = (time.trim(), at.trim());
    let span = || {
        let wrong = format!("`{time}` is no length of time. Write a number and s, m, h or d: 10m, 2h, 1d.");
        parse_span(time).ok_or(AgentError::Invalid(wrong))
    };
    Ok(match when.as_str() {
        "" => None,
        "at" if time.is_empty() && at.is_empty() => {
            return Err(AgentError::Invalid("Say on which day and at what time the task is due.".to_owned()));
        }
        "at" => Some(When::At(if at.is_empty() { time } else { at }.to_owned())),
        "in" => Some(When::In(span()?)),
        "every" => Some(When::Every(span()?)),
        "cron" => Some(When::Cron(time.to_owned())),
        "heartbeat" => Some(When::Heartbeat),
        _ => return Err(AgentError::Invalid("A task is due at, in, every, cron or heartbeat.".to_owned())),
    })
}
