//! What a program does in a conversation: says something, hears what happens, answers, stops.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::{Extension, Json};
use futures_util::Stream;
use futures_util::stream::unfold;
use limpid_core::{ConversationId, Effort, Labelled};
use limpid_prompt::shown::Drawn;
use limpid_runtime::{ChatRequest, ConversationChoice, Input};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::conversations::existing;
use super::door;
use super::error::{ApiError, ErrorBody};
use super::extract::{Path, Query};
use super::live::follow;
use super::live_event::{AnswerWord, LiveEvent};
use super::state::Api;
use super::tokens::ApiToken;
use super::typed::is_typed;
use super::wire::parse;

/// Something that is said. It counts as typed by the owner.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewMessage {
    /// The words; a line that begins with a slash is a command.
    #[schema(min_length = 1)]
    text: String,
    /// What makes it the same message when it is sent again.
    key: Option<String>,
    /// The mode from here on.
    mode: Option<String>,
    /// The model from here on, as `provider/id`.
    model: Option<String>,
    /// How much models are to reason from here on.
    effort: Option<String>,
}

/// A message that was taken.
#[derive(Serialize, ToSchema)]
pub(super) struct Taken {
    /// The conversation; a command may have begun another one.
    conversation: Option<String>,
    /// The mark after which the events of its turn come.
    after: Option<String>,
    /// What a command came to.
    #[schema(value_type = Option<String>)]
    reply: Option<Drawn>,
}

/// An answer to a call that waits.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAnswer {
    /// The number of the question.
    question: u64,
    answer: AnswerWord,
}

/// Whether something was stopped.
#[derive(Serialize, ToSchema)]
pub(super) struct Stopped {
    stopped: bool,
}

/// Where somebody goes on.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct After {
    /// The id of the last event that was seen, as in `Last-Event-ID`; absent: from now on.
    after: Option<String>,
}

/// Says something in a conversation
///
/// The message is kept before the answer to this request. What happens then comes by `/v1/conversations/{id}/events`; give `after` from
/// the answer there, and nothing is missed.
#[utoipa::path(
    post,
    path = "/v1/conversations/{id}/messages",
    tag = "conversations",
    params(("id" = String, Path, description = "The conversation, or `new`")),
    request_body = NewMessage,
    responses(
        (status = 202, description = "It was taken", body = Taken),
        (status = 400, description = "The request says something wrong", body = ErrorBody),
        (status = 404, description = "There is no such conversation or model", body = ErrorBody),
        (status = 502, description = "There is no model", body = ErrorBody)
    )
)]
pub(super) async fn say(
    State(api): State<Arc<Api>>,
    Extension(program): Extension<ApiToken>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<(StatusCode, Json<Taken>), ApiError> {
    let NewMessage { text, key, mode, model, effort } = parse(&body)?;
    if text.trim().is_empty() {
        return Err(ApiError::invalid("there is nothing to say").param("text"));
    }
    let effort = match effort.as_deref() {
        Some(word) => Some(Effort::parse(word).ok_or_else(|| ApiError::invalid("that is no effort").param("effort"))?),
        None => None,
    };
    let agent = &api.page.agent;
    let conversation = match id.as_str() {
        "new" => ConversationChoice::New,
        id => ConversationChoice::Id(existing(&api, id).await?.id),
    };
    let (text, handed_in) = match is_typed(&api, &program, &text) {
        false => (String::new(), Some(Labelled::outside(text))),
        true => match agent.command(&conversation, &text).await? {
            Input::Message(text) => (text, None),
            Input::Reply(reply) => {
                let conversation = reply.conversation.map(|id| id.to_string());
                let taken = Taken { conversation, after: None, reply: Some(Drawn::new(&reply.text)) };
                return Ok((StatusCode::ACCEPTED, Json(taken)));
            }
        },
    };
    let before = match &conversation {
        ConversationChoice::Id(id) => api.lives.of(id).number(),
        _ => 0,
    };
    let key = key.map(|key| format!("api {} {key}", program.name));
    let request = ChatRequest {
        conversation,
        text,
        handed_in,
        key,
        mode,
        model,
        effort,
        can_answer: true,
        ..ChatRequest::default()
    };
    let handle = agent.chat(request).await?;
    let id = handle.conversation().clone();
    follow(&api.page, api.lives.of(&id), handle);
    let after = Some(api.page.mark(before));
    Ok((StatusCode::ACCEPTED, Json(Taken { conversation: Some(id.to_string()), after, reply: None })))
}

/// Tells what happens in a conversation, as server-sent events
///
/// Each event has an id; who comes back says the last one that they have seen, in `Last-Event-ID` or `after`, and is told the rest. Told
/// are turns that began by `/messages`; after a `reset`, read the messages again.
#[utoipa::path(
    get,
    path = "/v1/conversations/{id}/events",
    tag = "conversations",
    params(
        ("id" = String, Path, description = "The conversation"),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen"),
        After
    ),
    responses(
        (status = 200, description = "Events, until the client hangs up", body = LiveEvent, content_type = "text/event-stream"),
        (status = 404, description = "There is none of that id", body = ErrorBody)
    )
)]
pub(super) async fn events(
    State(api): State<Arc<Api>>,
    Extension(held): Extension<door::Place>,
    Extension(program): Extension<ApiToken>,
    Path(id): Path<String>,
    Query(After { after }): Query<After>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let id = existing(&api, &id).await?.id;
    let last = headers.get("last-event-id").and_then(|last| last.to_str().ok()).map(str::to_owned).or(after);
    let live = api.lives.of(&id);
    let now = live.number();
    let (seen, is_lost) = match last {
        None => (now, false),
        // A mark of another process, or of events that were never told.
        Some(mark) => match api.page.number(&mark).filter(|number| *number <= now) {
            Some(number) => (number, false),
            None => (now, true),
        },
    };
    let state = (api, live, seen, is_lost, Vec::new().into_iter(), (held, program));
    let events = unfold(state, |(api, live, mut seen, mut is_lost, mut waiting, held)| async move {
        let mut listening = live.listen();
        loop {
            // Whoever was shut out meanwhile hears nothing more.
            if !api.tokens.holds(&held.1) {
                return None;
            }
            if std::mem::take(&mut is_lost) {
                let event = Event::default().id(api.page.mark(seen)).json_data(LiveEvent::Reset).unwrap_or_default();
                return Some((Ok(event), (api, live, seen, is_lost, waiting, held)));
            }
            if let Some((number, text)) = waiting.next() {
                seen = number;
                let event = Event::default().id(api.page.mark(number)).data::<String>(text);
                return Some((Ok(event), (api, live, seen, is_lost, waiting, held)));
            }
            listening.mark_unchanged();
            let (lost, events) = live.after(seen);
            if lost {
                seen = events.first().map_or(live.number(), |(number, _)| number - 1);
                (is_lost, waiting) = (true, events.into_iter());
                continue;
            }
            if !events.is_empty() {
                waiting = events.into_iter();
                continue;
            }
            tokio::select! {
                changed = listening.changed() => changed.ok()?,
                () = api.page.ending.cancelled() => return None,
            }
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// Answers a call that waits
#[utoipa::path(
    post,
    path = "/v1/conversations/{id}/answers",
    tag = "conversations",
    params(("id" = String, Path, description = "The conversation")),
    request_body = NewAnswer,
    responses(
        (status = 204, description = "It was told"),
        (status = 400, description = "The request says something wrong", body = ErrorBody),
        (status = 404, description = "There is no such conversation, or no such call waits", body = ErrorBody)
    )
)]
pub(super) async fn answer(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<StatusCode, ApiError> {
    let NewAnswer { question, answer } = parse(&body)?;
    let id = existing(&api, &id).await?.id;
    match api.lives.of(&id).answer(question, answer) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found(
            "that question does not wait, or the answer was not offered; the call may be asked about anew, or be a draft by now",
        )),
    }
}

/// Stops what is under way in a conversation
#[utoipa::path(
    post,
    path = "/v1/conversations/{id}/stop",
    tag = "conversations",
    params(("id" = String, Path, description = "The conversation")),
    responses(
        (status = 200, description = "Whether there was anything to stop", body = Stopped),
        (status = 404, description = "There is none of that id", body = ErrorBody)
    )
)]
pub(super) async fn stop(State(api): State<Arc<Api>>, Path(id): Path<String>) -> Result<Json<Stopped>, ApiError> {
    let id: ConversationId = existing(&api, &id).await?.id;
    Ok(Json(Stopped { stopped: api.page.agent.conversations().cancel(&id) }))
}
