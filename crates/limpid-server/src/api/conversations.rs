//! `/v1/conversations`: what was said.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use limpid_core::{ConversationId, Role};
use limpid_prompt::shown::Drawn;
use limpid_runtime::said::{Said, said};
use limpid_runtime::{ChatRequest, ConversationChoice};
use limpid_store::{Conversation, StoredMessage};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::error::{ApiError, ErrorBody};
use super::extract::{Path, Query, limit};
use super::state::Api;
use super::wire::parse;

/// A conversation.
#[derive(Serialize, ToSchema)]
pub(super) struct ConversationView {
    id: String,
    /// `chat`, or what else it is for.
    kind: &'static str,
    /// Empty until it has one.
    #[schema(value_type = String)]
    title: Drawn,
    profile: String,
    mode: Option<String>,
    /// The model as `provider/id`; absent: the one that is set for all.
    model: Option<String>,
    messages: u64,
    /// Deliveries that were not read.
    unread: u64,
    /// Whether it is archived.
    archived: bool,
    created_ms: i64,
    updated_ms: i64,
}

/// Conversations.
#[derive(Serialize, ToSchema)]
pub(super) struct ConversationList {
    conversations: Vec<ConversationView>,
}

/// What a new conversation begins with; absent: what the owner has set.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NewConversation {
    profile: Option<String>,
    mode: Option<String>,
    /// The model as `provider/id`.
    model: Option<String>,
}

/// How much is listed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Many {
    /// At most so many rows; absent: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Which conversations are listed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// At most so many rows; absent: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Archived conversations, in place of the others.
    #[serde(default)]
    archived: bool,
}

/// A message.
#[derive(Serialize, ToSchema)]
pub(super) struct MessageView {
    /// Its number, which grows along the conversation.
    id: i64,
    /// The turn that wrote it.
    turn: String,
    /// `user`, `assistant` or `tool`.
    role: &'static str,
    /// Whose words it is: `owner`, `agent`, `handed_in`, `model` or `tool`.
    by: &'static str,
    /// Its label: `owner`, `file`, `guest` or `outside`.
    trust: &'static str,
    #[schema(value_type = String)]
    text: Drawn,
    /// Calls that it makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    calls: Vec<CallView>,
    /// The call that it is the result of.
    call: Option<String>,
    /// The request that it is the reply to.
    request: Option<String>,
    at_ms: i64,
}

/// A call of a tool.
#[derive(Serialize, ToSchema)]
pub(super) struct CallView {
    id: String,
    #[schema(value_type = String)]
    name: Drawn,
    /// As the model wrote them.
    #[schema(value_type = String)]
    arguments: Drawn,
}

/// Messages, oldest first.
#[derive(Serialize, ToSchema)]
pub(super) struct MessageList {
    messages: Vec<MessageView>,
}

impl ConversationView {
    pub(super) fn new(own: Conversation) -> Self {
        Self {
            id: own.id.to_string(),
            kind: own.kind.as_str(),
            title: Drawn::line(&own.title),
            profile: own.profile,
            mode: own.mode,
            model: own.model,
            messages: own.messages,
            unread: own.unread,
            archived: own.is_archived,
            created_ms: own.created_ms,
            updated_ms: own.updated_ms,
        }
    }
}

/// Lists conversations, newest first
#[utoipa::path(
    get,
    path = "/v1/conversations",
    tag = "conversations",
    params(Which),
    responses(
        (status = 200, description = "The conversations", body = ConversationList),
        (status = 400, description = "The query says something wrong", body = ErrorBody)
    )
)]
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Query(which): Query<Which>,
) -> Result<Json<ConversationList>, ApiError> {
    let (store, limit) = (api.page.agent.store(), limit(which.limit)?);
    let listed = match which.archived {
        true => store.archived_conversations(limit).await?,
        false => store.conversations(limit).await?,
    };
    let rows = listed.rows;
    Ok(Json(ConversationList { conversations: rows.into_iter().map(ConversationView::new).collect() }))
}

/// Makes a conversation
#[utoipa::path(
    post,
    path = "/v1/conversations",
    tag = "conversations",
    request_body = NewConversation,
    responses(
        (status = 201, description = "It was made", body = ConversationView),
        (status = 400, description = "The request says something wrong", body = ErrorBody),
        (status = 404, description = "There is no such profile or model", body = ErrorBody),
        (status = 502, description = "There is no model", body = ErrorBody)
    )
)]
pub(super) async fn create(
    State(api): State<Arc<Api>>,
    body: Bytes,
) -> Result<(StatusCode, Json<ConversationView>), ApiError> {
    let NewConversation { profile, mode, model } = parse(&body)?;
    let conversation = ConversationChoice::New;
    let request = ChatRequest { conversation, profile, mode, model, ..ChatRequest::default() };
    let made = api.page.agent.conversations().conversation_for(&request).await?;
    Ok((StatusCode::CREATED, Json(ConversationView::new(made))))
}

/// Shows a conversation
#[utoipa::path(
    get,
    path = "/v1/conversations/{id}",
    tag = "conversations",
    params(("id" = String, Path, description = "The conversation")),
    responses(
        (status = 200, description = "The conversation", body = ConversationView),
        (status = 404, description = "There is none of that id", body = ErrorBody)
    )
)]
pub(super) async fn show(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
) -> Result<Json<ConversationView>, ApiError> {
    Ok(Json(ConversationView::new(existing(&api, &id).await?)))
}

/// Lists the messages of a conversation, oldest first
#[utoipa::path(
    get,
    path = "/v1/conversations/{id}/messages",
    tag = "conversations",
    params(("id" = String, Path, description = "The conversation"), Many),
    responses(
        (status = 200, description = "The newest messages, as many as were asked for", body = MessageList),
        (status = 400, description = "The query says something wrong", body = ErrorBody),
        (status = 404, description = "There is none of that id", body = ErrorBody)
    )
)]
pub(super) async fn messages(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Query(many): Query<Many>,
) -> Result<Json<MessageList>, ApiError> {
    let limit = limit(many.limit)?;
    let store = api.page.agent.store();
    let id = existing(&api, &id).await?.id;
    let rows = store.messages(&id, None).await?.rows;
    let typed: HashSet<String> = store.typed(&id).await?.into_iter().collect();
    let first = rows.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    let shown = (first..rows.len()).filter_map(|at| MessageView::new(&rows, at, &typed));
    Ok(Json(MessageList { messages: shown.collect() }))
}

impl MessageView {
    /// The message at a place; none where nobody but the model is to read it.
    fn new(rows: &[StoredMessage], at: usize, typed: &HashSet<String>) -> Option<Self> {
        let row = rows.get(at)?;
        let message = &row.message;
        let (by, text) = match message.role {
            Role::User => match said(rows, at, typed) {
                Said::Nothing => return None,
                Said::Owner(text) => ("owner", text.to_owned()),
                Said::Agent { words, result, .. } => ("agent", format!("{words}\n{result}").trim().to_owned()),
                Said::HandedIn(text, _) => ("handed_in", text.to_owned()),
            },
            Role::Assistant => ("model", message.text.clone()),
            Role::Tool => ("tool", message.text.clone()),
            Role::System => return None,
        };
        let calls = message.calls.iter().map(|call| CallView {
            id: call.id.to_string(),
            name: Drawn::line(&call.name),
            arguments: Drawn::json(&call.arguments),
        });
        Some(Self {
            id: row.id.0,
            turn: row.turn.to_string(),
            role: message.role.as_str(),
            by,
            trust: message.trust.as_str(),
            text: Drawn::new(&text),
            calls: calls.collect(),
            call: message.call_id.as_ref().map(ToString::to_string),
            request: row.request.as_ref().map(ToString::to_string),
            at_ms: row.at_ms,
        })
    }
}

/// A conversation that is there.
///
/// # Errors
/// When it is not.
pub(super) async fn existing(api: &Api, id: &str) -> Result<Conversation, ApiError> {
    let found = api.page.agent.store().conversation(&ConversationId::new(id)).await?;
    found.ok_or_else(|| ApiError::not_found("there is no such conversation; GET /v1/conversations lists them"))
}
