//! `/v1/conversations/{id}`, changed and deleted.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::conversations::{ConversationView, existing};
use super::error::{ApiError, ErrorBody};
use super::extract::Path;
use super::state::Api;
use super::wire::parse;

/// What a conversation is to be; absent: as it is.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ConversationChange {
    /// Its title, of one line.
    title: Option<String>,
    /// Whether it is archived. A message that is said in it later brings it back.
    archived: Option<bool>,
}

/// Renames, archives or brings back a conversation
#[utoipa::path(
    patch,
    path = "/v1/conversations/{id}",
    tag = "conversations",
    params(("id" = String, Path, description = "The conversation")),
    request_body = ConversationChange,
    responses(
        (status = 200, description = "The conversation as it is now", body = ConversationView),
        (status = 400, description = "The request says something wrong", body = ErrorBody),
        (status = 404, description = "There is none of that id", body = ErrorBody)
    )
)]
pub(super) async fn change(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<ConversationView>, ApiError> {
    let ConversationChange { title, archived } = parse(&body)?;
    let mut own = existing(&api, &id).await?;
    let conversations = api.page.agent.conversations();
    if let Some(title) = title {
        own = conversations.rename(&own.id, &title).await?;
    }
    if let Some(is_archived) = archived {
        own = conversations.archive(&own.id, is_archived).await?;
    }
    api.page.talks.of(&own.id).reload();
    api.page.lists_changed();
    Ok(Json(ConversationView::new(own)))
}

/// Deletes a conversation for good; memories, files, tasks and what it cost stay
#[utoipa::path(
    delete,
    path = "/v1/conversations/{id}",
    tag = "conversations",
    params(("id" = String, Path, description = "The conversation")),
    responses(
        (status = 204, description = "It is deleted"),
        (status = 400, description = "An answer or something else is under way in it, or reports arrive in it", body = ErrorBody),
        (status = 404, description = "There is none of that id", body = ErrorBody)
    )
)]
pub(super) async fn delete(State(api): State<Arc<Api>>, Path(id): Path<String>) -> Result<StatusCode, ApiError> {
    let own = existing(&api, &id).await?;
    api.page.agent.conversations().delete(&own.id).await?;
    api.page.talks.of(&own.id).reload();
    api.page.lists_changed();
    Ok(StatusCode::NO_CONTENT)
}
