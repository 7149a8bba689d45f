//! `/v1/cost` and `/v1/requests`: what was sent to models, word for word, and what it cost.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use limpid_core::spend::Quantity;
use limpid_core::{ConversationId, RequestId};
use limpid_store::{CostBy, CostRow, RequestFilter, RequestSummary};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::error::{ApiError, ErrorBody};
use super::extract::{Path, Query, limit};
use super::state::Api;

/// By what it is summed up.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum By {
    /// Days of the owner's zone.
    Day,
    /// Prompt paths.
    Path,
    /// Models.
    Model,
    /// Conversations.
    Conversation,
}

/// What is summed up.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Sum {
    /// By what; absent: by day.
    #[param(inline)]
    by: Option<By>,
    /// From this moment on, in milliseconds since 1970; absent: all.
    since_ms: Option<i64>,
}

/// A line of what was spent.
#[derive(Serialize, ToSchema)]
pub(super) struct CostView {
    /// The day, path, model or conversation.
    group: String,
    requests: u64,
    /// Tokens that were read, those from the cache included.
    input: u64,
    cached: u64,
    output: u64,
    /// Millionths of a dollar, as far as prices are known.
    cost_micro_usd: u64,
    /// Requests whose price is not known.
    unknown_cost: u64,
}

/// A limit of a day.
#[derive(Serialize, ToSchema)]
pub(super) struct LimitView {
    limit: String,
    /// `tokens` or `micro_usd`.
    unit: &'static str,
    used: u64,
    cap: u64,
}

/// What was spent, and what limits are set.
#[derive(Serialize, ToSchema)]
pub(super) struct CostList {
    costs: Vec<CostView>,
    limits: Vec<LimitView>,
}

/// Which requests are listed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Of one conversation.
    conversation: Option<String>,
    /// At most so many rows; absent: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// A request to a model.
#[derive(Serialize, ToSchema)]
pub(super) struct RequestView {
    id: String,
    conversation: Option<String>,
    turn: Option<String>,
    /// `provider/id`
    model: String,
    profile: String,
    path: String,
    sent_ms: i64,
    ended_ms: Option<i64>,
    input: Option<u64>,
    cached: Option<u64>,
    output: Option<u64>,
    cost_micro_usd: Option<u64>,
    /// The class of its failure, where it failed.
    failure: Option<&'static str>,
}

/// Requests, newest first.
#[derive(Serialize, ToSchema)]
pub(super) struct RequestList {
    requests: Vec<RequestView>,
}

/// A request word for word.
#[derive(Serialize, ToSchema)]
pub(super) struct WholeRequest {
    request: RequestView,
    /// What was sent, in its order.
    messages: Vec<SentMessage>,
    /// The tools that were offered, as JSON.
    tools: String,
    /// The answer.
    answer: Option<String>,
}

/// A message of a request.
#[derive(Serialize, ToSchema)]
pub(super) struct SentMessage {
    role: &'static str,
    text: String,
    /// The parts of a prompt that it was made from.
    parts: Vec<SentPart>,
}

/// A part of a prompt.
#[derive(Serialize, ToSchema)]
pub(super) struct SentPart {
    section: String,
    /// The file that it comes from.
    origin: String,
    /// Its label: `owner`, `file`, `guest` or `outside`.
    trust: &'static str,
    text: String,
    tokens: Option<u64>,
}

impl CostView {
    fn new(row: CostRow) -> Self {
        Self {
            group: row.group,
            requests: row.requests,
            input: row.usage.input,
            cached: row.usage.cached,
            output: row.usage.output,
            cost_micro_usd: row.cost.0,
            unknown_cost: row.unknown_cost,
        }
    }
}

impl RequestView {
    fn new(own: RequestSummary) -> Self {
        let usage = own.end.as_ref().and_then(|end| end.usage);
        Self {
            id: own.id.to_string(),
            conversation: own.conversation.map(|id| id.to_string()),
            turn: own.turn.map(|turn| turn.to_string()),
            model: format!("{}/{}", own.provider, own.model),
            profile: own.profile,
            path: own.path,
            sent_ms: own.sent_ms,
            ended_ms: own.end.as_ref().map(|end| end.ended_ms),
            input: usage.map(|usage| usage.input),
            cached: usage.map(|usage| usage.cached),
            output: usage.map(|usage| usage.output),
            cost_micro_usd: own.end.as_ref().and_then(|end| end.cost).map(|cost| cost.0),
            failure: own.end.as_ref().and_then(|end| end.failure.as_ref()).map(|(class, _)| class.as_str()),
        }
    }
}

/// Sums up tokens and money
#[utoipa::path(
    get,
    path = "/v1/cost",
    tag = "cost",
    params(Sum),
    responses(
        (status = 200, description = "What was spent, and what limits are set", body = CostList),
        (status = 400, description = "The query says something wrong", body = ErrorBody)
    )
)]
pub(super) async fn cost(
    State(api): State<Arc<Api>>,
    Query(Sum { by, since_ms }): Query<Sum>,
) -> Result<Json<CostList>, ApiError> {
    let agent = &api.page.agent;
    let by = match by.unwrap_or(By::Day) {
        By::Day => CostBy::Day,
        By::Path => CostBy::Path,
        By::Model => CostBy::Model,
        By::Conversation => CostBy::Conversation,
    };
    let rows = agent.costs(by, since_ms, None).await?;
    let limits = agent.spending().limits().await?.into_iter().map(|state| LimitView {
        unit: match state.limit.cap {
            Quantity::Tokens(_) => "tokens",
            Quantity::Money(_) => "micro_usd",
        },
        used: state.used.number(),
        cap: state.limit.cap.number(),
        limit: state.limit.key,
    });
    Ok(Json(CostList { costs: rows.into_iter().map(CostView::new).collect(), limits: limits.collect() }))
}

/// Lists requests to models, newest first
#[utoipa::path(
    get,
    path = "/v1/requests",
    tag = "cost",
    params(Which),
    responses(
        (status = 200, description = "The requests", body = RequestList),
        (status = 400, description = "The query says something wrong", body = ErrorBody)
    )
)]
pub(super) async fn requests(
    State(api): State<Arc<Api>>,
    Query(which): Query<Which>,
) -> Result<Json<RequestList>, ApiError> {
    let conversation = which.conversation.map(ConversationId::new);
    let filter = RequestFilter { conversation, limit: limit(which.limit)?, ..RequestFilter::default() };
    let rows = api.page.agent.store().requests(filter).await?.rows;
    Ok(Json(RequestList { requests: rows.into_iter().map(RequestView::new).collect() }))
}

/// Shows a request to a model, word for word
#[utoipa::path(
    get,
    path = "/v1/requests/{id}",
    tag = "cost",
    params(("id" = String, Path, description = "Its id")),
    responses(
        (status = 200, description = "The request", body = WholeRequest),
        (status = 404, description = "There is none of that id", body = ErrorBody)
    )
)]
pub(super) async fn request(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
) -> Result<Json<WholeRequest>, ApiError> {
    let found = api.page.agent.store().request(&RequestId::new(id)).await?;
    let missing = || ApiError::not_found("there is no such request; GET /v1/requests lists them");
    let found = found.ok_or_else(missing)?;
    let messages = found.messages.into_iter().map(|message| SentMessage {
        role: message.role.as_str(),
        text: message.text,
        parts: message
            .parts
            .into_iter()
            .map(|part| SentPart {
                section: part.section,
                origin: part.origin,
                trust: part.trust.as_str(),
                text: part.text,
                tokens: part.tokens,
            })
            .collect(),
    });
    let answer = found.summary.end.as_ref().map(|end| end.text.clone());
    let messages = messages.collect();
    Ok(Json(WholeRequest { request: RequestView::new(found.summary), messages, tools: found.tools, answer }))
}
