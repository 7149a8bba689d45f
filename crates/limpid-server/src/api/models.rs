//! `GET /v1/models`: what can be asked.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use limpid_runtime::ConversationChoice;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::{ApiError, ErrorBody};
use super::state::Api;
use super::tokens::{ApiRole, ApiToken};
use super::wire::AGENT;

/// What can be asked.
#[derive(Serialize, ToSchema)]
pub(super) struct ModelList {
    /// `list`
    object: &'static str,
    data: Vec<ModelEntry>,
}

/// The agent, or a model that it can be asked with.
#[derive(Serialize, ToSchema)]
pub(super) struct ModelEntry {
    /// `agent`: with the model that the owner has set, or `provider/id`.
    id: String,
    /// `model`
    object: &'static str,
    /// Nothing: when it was made is not known.
    created: i64,
    /// Its provider.
    owned_by: String,
}

impl ModelEntry {
    fn new(id: String) -> Self {
        let owned_by = id.split_once('/').map_or("owner", |(provider, _)| provider).to_owned();
        Self { id, object: "model", created: 0, owned_by }
    }
}

/// Lists what can be asked: the agent as it is set, and the models that it can be asked with
#[utoipa::path(
    get,
    path = "/v1/models",
    tag = "chat",
    responses((status = 200, description = "What can be asked", body = ModelList))
)]
pub(super) async fn list(State(api): State<Arc<Api>>, Extension(program): Extension<ApiToken>) -> Json<ModelList> {
    let data = names(&api, program.role).await.into_iter().map(ModelEntry::new).collect();
    Json(ModelList { object: "list", data })
}

/// Shows one of those that can be asked
#[utoipa::path(
    get,
    path = "/v1/models/{*id}",
    tag = "chat",
    params(("id" = String, Path, description = "`agent`, or `provider/id`")),
    responses(
        (status = 200, description = "It can be asked", body = ModelEntry),
        (status = 404, description = "There is no such model", body = ErrorBody)
    )
)]
pub(super) async fn show(
    State(api): State<Arc<Api>>,
    Extension(program): Extension<ApiToken>,
    Path(id): Path<String>,
) -> Result<Json<ModelEntry>, ApiError> {
    match names(&api, program.role).await.into_iter().find(|name| *name == id) {
        Some(name) => Ok(Json(ModelEntry::new(name))),
        None => {
            Err(ApiError::not_found(format!("there is no model `{id}`; GET /v1/models lists them"))
                .code("model_not_found"))
        }
    }
}

/// What a program can ask. One at which nobody sits has the model that the owner has set.
async fn names(api: &Api, role: ApiRole) -> Vec<String> {
    if role != ApiRole::Owner {
        return vec![AGENT.to_owned()];
    }
    let known = api.page.agent.complete(&ConversationChoice::New, "/model ").await;
    let mut names = vec![AGENT.to_owned()];
    names.extend(known.into_iter().map(|known| known.word).filter(|word| word.contains('/')));
    names
}
