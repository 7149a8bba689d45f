//! `/v1/drafts`: calls that wait for the owner.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use limpid_core::SEEN_DIGITS;
use limpid_prompt::shown::Drawn;
use limpid_store::{Draft, DraftId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::error::{ApiError, ErrorBody};
use super::extract::{Path, Query};
use super::state::Api;
use super::wire::parse;

/// A call that waits, or what came of it.
#[derive(Serialize, ToSchema)]
pub(super) struct DraftView {
    id: i64,
    conversation: String,
    #[schema(value_type = String)]
    tool: Drawn,
    /// What would run.
    #[schema(value_type = String)]
    arguments: Drawn,
    /// What a number or a key in the arguments stands for, such as the words of a memory.
    #[schema(value_type = Option<String>)]
    about: Option<Drawn>,
    /// Where it would send or fetch something.
    #[schema(value_type = Option<String>)]
    destination: Option<Drawn>,
    /// The folder that relative paths begin at.
    #[schema(value_type = String)]
    folder: Drawn,
    /// Why it waits.
    #[schema(value_type = String)]
    why: Drawn,
    /// The label of what led to it: `owner`, `file`, `guest` or `outside`.
    trust: &'static str,
    /// `open`, `approved`, `sending`, `sent`, `failed`, `refused` or `expired`.
    state: &'static str,
    /// What came of it.
    #[schema(value_type = String)]
    detail: Drawn,
    /// What a yes is bound to; an approval names it.
    hash: String,
    expires_ms: i64,
    changed_ms: i64,
}

/// Drafts.
#[derive(Serialize, ToSchema)]
pub(super) struct DraftList {
    drafts: Vec<DraftView>,
}

/// Which are listed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Those too that are over.
    #[serde(default)]
    #[param(required = false)]
    all: bool,
}

/// A yes to what was seen.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Approval {
    /// The hash of the draft as it was seen; it is carried out only if it still is that.
    hash: String,
}

impl DraftView {
    fn new(draft: Draft) -> Self {
        let hash = draft.new.bound_hash().to_owned();
        let new = draft.new;
        Self {
            id: draft.id.0,
            conversation: new.conversation.to_string(),
            tool: Drawn::line(&new.tool),
            arguments: Drawn::exact_json(&new.arguments),
            about: new.about.as_deref().map(Drawn::exact_line),
            destination: new.destination.as_deref().map(Drawn::exact_line),
            folder: Drawn::exact_line(&new.folder),
            why: Drawn::exact_line(&new.why),
            trust: new.trust.as_str(),
            state: draft.state.as_str(),
            detail: Drawn::new(&draft.detail),
            hash,
            expires_ms: new.expires_ms,
            changed_ms: draft.changed_ms,
        }
    }
}

/// Lists the calls that wait for the owner
#[utoipa::path(
    get,
    path = "/v1/drafts",
    tag = "drafts",
    params(Which),
    responses(
        (status = 200, description = "The drafts", body = DraftList),
        (status = 400, description = "The query says something wrong", body = ErrorBody)
    )
)]
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Query(Which { all }): Query<Which>,
) -> Result<Json<DraftList>, ApiError> {
    let rows = api.page.agent.drafts().list(all).await?.rows;
    Ok(Json(DraftList { drafts: rows.into_iter().map(DraftView::new).collect() }))
}

/// Shows a draft
#[utoipa::path(
    get,
    path = "/v1/drafts/{id}",
    tag = "drafts",
    params(("id" = i64, Path, description = "Its number")),
    responses(
        (status = 200, description = "The draft", body = DraftView),
        (status = 400, description = "That is no number", body = ErrorBody),
        (status = 404, description = "There is none of that number", body = ErrorBody)
    )
)]
pub(super) async fn show(State(api): State<Arc<Api>>, Path(id): Path<i64>) -> Result<Json<DraftView>, ApiError> {
    Ok(Json(DraftView::new(existing(&api, id).await?)))
}

/// Approves a draft and carries it out, once
#[utoipa::path(
    post,
    path = "/v1/drafts/{id}/approve",
    tag = "drafts",
    params(("id" = i64, Path, description = "Its number")),
    request_body = Approval,
    responses(
        (status = 200, description = "What came of it: `sent` or `failed`, or `open` again where something has changed", body = DraftView),
        (status = 400, description = "It is not what was seen, or does not wait any more", body = ErrorBody),
        (status = 404, description = "There is none of that number", body = ErrorBody)
    )
)]
pub(super) async fn approve(
    State(api): State<Arc<Api>>,
    Path(id): Path<i64>,
    body: Bytes,
) -> Result<Json<DraftView>, ApiError> {
    let Approval { hash } = parse(&body)?;
    existing(&api, id).await?;
    if hash.len() < SEEN_DIGITS {
        return Err(ApiError::invalid("give the hash of the draft as you have seen it").param("hash"));
    }
    // A program that hangs up after its yes has still said it.
    let agent = api.page.agent.clone();
    let approved = tokio::spawn(async move { agent.drafts().approve(DraftId(id), Some(&hash)).await }).await;
    let broken = |_| ApiError::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "the draft could not be carried out");
    Ok(Json(DraftView::new(approved.map_err(broken)??)))
}

/// Refuses a draft
#[utoipa::path(
    post,
    path = "/v1/drafts/{id}/refuse",
    tag = "drafts",
    params(("id" = i64, Path, description = "Its number")),
    responses(
        (status = 200, description = "It is refused", body = DraftView),
        (status = 400, description = "It does not wait any more", body = ErrorBody),
        (status = 404, description = "There is none of that number", body = ErrorBody)
    )
)]
pub(super) async fn refuse(State(api): State<Arc<Api>>, Path(id): Path<i64>) -> Result<Json<DraftView>, ApiError> {
    existing(&api, id).await?;
    Ok(Json(DraftView::new(api.page.agent.drafts().refuse(DraftId(id)).await?)))
}

async fn existing(api: &Api, id: i64) -> Result<Draft, ApiError> {
    let drafts = api.page.agent.drafts().list(true).await?.rows;
    let found = drafts.into_iter().find(|draft| draft.id.0 == id);
    found.ok_or_else(|| ApiError::not_found("there is no such draft; GET /v1/drafts lists them"))
}
