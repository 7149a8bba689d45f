//! `/v1/memories` and `/v1/tasks`: what the agent remembers, and what is to be done later.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use limpid_core::by_side::by_side;
use limpid_core::memory::Memory;
use limpid_prompt::shown::Drawn;
use limpid_runtime::tasks::trigger_words;
use limpid_store::Task;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::error::{ApiError, ErrorBody};
use super::extract::{Path, Query, limit};
use super::state::Api;

/// Which memories are listed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Those that have to do with these words, the best first; absent: all, by the time when they were made.
    search: Option<String>,
    /// The most rows, and up to a tenth more that were stored because of strangers' texts; absent: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// What the agent remembers.
#[derive(Serialize, ToSchema)]
pub(super) struct MemoryView {
    id: i64,
    #[schema(value_type = String)]
    key: Drawn,
    #[schema(value_type = String)]
    content: Drawn,
    category: &'static str,
    pinned: bool,
    /// Its label: `owner`, `file`, `guest` or `outside`.
    trust: &'static str,
    created_ms: i64,
    updated_ms: i64,
}

/// Memories.
#[derive(Serialize, ToSchema)]
pub(super) struct MemoryList {
    memories: Vec<MemoryView>,
}

/// What is to be done later.
#[derive(Serialize, ToSchema)]
pub(super) struct TaskView {
    id: String,
    #[schema(value_type = String)]
    description: Drawn,
    #[schema(value_type = String)]
    prompt: Drawn,
    /// When, in words.
    when: String,
    /// `pending`, `disabled`, `completed`, `failed` or `cancelled`.
    status: &'static str,
    /// When it is due next, in milliseconds since 1970.
    next_ms: Option<i64>,
    /// Tries that failed in a row.
    failures: u32,
    /// Its label: `owner`, `file`, `guest` or `outside`.
    trust: &'static str,
    conversation: Option<String>,
}

/// Tasks.
#[derive(Serialize, ToSchema)]
pub(super) struct TaskList {
    tasks: Vec<TaskView>,
}

impl MemoryView {
    fn new(memory: &Memory) -> Self {
        Self {
            id: memory.id.0,
            key: Drawn::line(&memory.key),
            content: Drawn::new(&memory.content),
            category: memory.category.as_str(),
            pinned: memory.pinned,
            trust: memory.trust.as_str(),
            created_ms: memory.created_ms,
            updated_ms: memory.updated_ms,
        }
    }
}

impl TaskView {
    fn new(task: Task, api: &Api) -> Self {
        let agent = &api.page.agent;
        Self {
            id: task.id.to_string(),
            when: trigger_words(&task.new.trigger, agent.now(), &agent.zone()),
            description: Drawn::new(&task.new.description),
            prompt: Drawn::new(&task.new.prompt),
            status: task.standing.status.as_str(),
            next_ms: task.standing.next.map(jiff::Timestamp::as_millisecond),
            failures: task.standing.failures,
            trust: task.new.trust.as_str(),
            conversation: task.new.conversation.map(|id| id.to_string()),
        }
    }
}

/// Lists memories, or searches them
#[utoipa::path(
    get,
    path = "/v1/memories",
    tag = "memories",
    params(Which),
    responses(
        (status = 200, description = "The memories", body = MemoryList),
        (status = 400, description = "The query says something wrong", body = ErrorBody)
    )
)]
pub(super) async fn memories(
    State(api): State<Arc<Api>>,
    Query(which): Query<Which>,
) -> Result<Json<MemoryList>, ApiError> {
    let most = usize::try_from(limit(which.limit)?).unwrap_or(usize::MAX);
    let agent = &api.page.agent;
    let mut rows = match which.search.as_deref() {
        Some(words) => agent.memory().recall(words, most).await?,
        None => agent.store().memories(None).await?.rows,
    };
    rows = by_side(rows, most, |memory| memory.trust.is_foreign());
    Ok(Json(MemoryList { memories: rows.iter().map(MemoryView::new).collect() }))
}

/// Lists what is to be done later
#[utoipa::path(
    get,
    path = "/v1/tasks",
    tag = "tasks",
    responses((status = 200, description = "The tasks", body = TaskList))
)]
pub(super) async fn tasks(State(api): State<Arc<Api>>) -> Result<Json<TaskList>, ApiError> {
    let rows = api.page.agent.tasks().list(None).await?.rows;
    Ok(Json(TaskList { tasks: rows.into_iter().map(|task| TaskView::new(task, &api)).collect() }))
}

/// Shows a task
#[utoipa::path(
    get,
    path = "/v1/tasks/{id}",
    tag = "tasks",
    params(("id" = String, Path, description = "Its id")),
    responses(
        (status = 200, description = "The task", body = TaskView),
        (status = 404, description = "There is none of that id", body = ErrorBody)
    )
)]
pub(super) async fn task(State(api): State<Arc<Api>>, Path(id): Path<String>) -> Result<Json<TaskView>, ApiError> {
    let tasks = api.page.agent.tasks().list(None).await?.rows;
    let found = tasks.into_iter().find(|task| task.id.to_string() == id);
    let missing = || ApiError::not_found("there is no such task; GET /v1/tasks lists them");
    Ok(Json(TaskView::new(found.ok_or_else(missing)?, &api)))
}
