//! `POST /v1/chat/completions`: the agent, asked as if it were a model.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use futures_util::stream::unfold;
use limpid_core::{Effort, Labelled};
use limpid_prompt::shown::Drawn;
use limpid_runtime::commands::OTHERS_READ;
use limpid_runtime::{ChatRequest, ConversationChoice, Input, TurnHandle};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::answering::{Answering, Piece};
use super::bound::{CONVERSATION, Taken, key_of, thread};
use super::command::command;
use super::completion::{Chunk, chunk, reply_stream, whole};
use super::door;
use super::error::{ApiError, ErrorBody};
use super::state::Api;
use super::tokens::{ApiRole, ApiToken};
use super::typed::is_typed;
use super::wire::{AGENT, Asked, ChatCompletion, Line, TokenUsage};

/// The header by which a request is the same one when it is sent again.
const KEY: &str = "idempotency-key";

/// The header of an answer that names what of the request was not read.
const IGNORED: &str = "x-limpid-ignored";

/// A request that is being answered.
struct Exchange {
    api: Arc<Api>,
    program: ApiToken,
    id: String,
    created: i64,
    model: String,
    answering: Answering,
    conversation: ConversationChoice,
    /// What stands before the answer; empty most often.
    notice: Drawn,
    /// What was said before the answer.
    said: Vec<Line>,
    /// Whether what was said finds the conversation again.
    by_words: bool,
    /// The end of this one lets the next one in the conversation begin.
    _turn: Option<OwnedSemaphorePermit>,
    _place: door::Place,
}

/// What is said in answer to a request.
enum Begun {
    /// A turn answers it.
    Turn(Box<Exchange>),
    /// A command did.
    Reply(Drawn, ConversationChoice),
}

/// Asks the agent, as any client of OpenAI's chat completions does
///
/// The agent has its own prompts and tools, so `system` messages, `tools` and sampling fields are left out; a call that needs a yes
/// becomes a draft. The conversation is the one that `X-Limpid-Conversation` names, else the one of `user`, else the one that has
/// said so far what `messages` says was said; else it is a new one. When the client hangs up, the turn stops.
#[utoipa::path(
    post,
    path = "/v1/chat/completions",
    tag = "chat",
    params(
        ("X-Limpid-Conversation" = Option<String>, Header, description = "The id of a conversation, or `new`"),
        ("Idempotency-Key" = Option<String>, Header, description = "What makes it the same message when it is sent again")
    ),
    request_body = super::wire::ChatCompletionRequest,
    responses(
        (status = 200, description = "The answer; with `stream` its pieces as server-sent events, and `[DONE]`", content(
            (ChatCompletion = "application/json"),
            (String = "text/event-stream")
        )),
        (status = 400, description = "The request says something wrong", body = ErrorBody),
        (status = 404, description = "There is no such conversation or model", body = ErrorBody),
        (status = 429, description = "A limit of the owner's or of the provider's is reached", body = ErrorBody),
        (status = 502, description = "The model failed", body = ErrorBody),
        (status = 503, description = "The turn could not be carried on, or too many requests are being answered", body = ErrorBody)
    )
)]
pub(super) async fn complete(
    State(api): State<Arc<Api>>,
    Extension(program): Extension<ApiToken>,
    Extension(held): Extension<door::Place>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let asked = Asked::read(&body)?;
    api.quotas.take(&program, body.len(), api.page.agent.now_ms())?;
    let role = program.role;
    let streams = asked.request.stream.unwrap_or_default();
    let tells_usage = asked.request.stream_options.as_ref().and_then(|options| options.include_usage);
    let ignored = asked.ignored.join(", ");
    let created = api.page.agent.now().as_second();
    let id = format!("chatcmpl-{}", api.page.agent.new_secret().split_off(40));
    let model = asked.request.model.clone();
    let (mut response, conversation) =
        match begin(&api, &program, held, &headers, asked, (&id, created)).await.map_err(|why| why.told_to(role))? {
            Begun::Turn(exchange) => {
                let conversation = exchange.conversation.clone();
                let answered = match streams {
                    true => exchange.stream(tells_usage.unwrap_or_default()),
                    false => exchange.whole().await.map_err(|why| why.told_to(role))?,
                };
                (answered, conversation)
            }
            Begun::Reply(text, conversation) => {
                let whole = whole((&id, created, model), text, (None, "stop"), TokenUsage::default());
                let answered = match streams {
                    true => reply_stream(&whole),
                    false => Json(whole).into_response(),
                };
                (answered, conversation)
            }
        };
    let named = match &conversation {
        ConversationChoice::Id(id) => Some(id.to_string()),
        _ => None,
    };
    for (name, value) in [(CONVERSATION, named), (IGNORED, (!ignored.is_empty()).then_some(ignored))] {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    Ok(response)
}

async fn begin(
    api: &Arc<Api>,
    program: &ApiToken,
    held: door::Place,
    headers: &HeaderMap,
    asked: Asked,
    (id, created): (&str, i64),
) -> Result<Begun, ApiError> {
    let is_owner = program.role == ApiRole::Owner;
    let model = model_of(api, program, &asked).await?;
    let effort = asked.request.reasoning_effort.as_deref().map(effort).transpose()?.filter(|_| is_owner);
    let thread = thread(api, program, headers, &asked).await?;
    let mut taken = Taken::new(api, program, &asked.before, thread);
    let turn = match &taken.thread.conversation {
        ConversationChoice::Id(id) => Some(api.turns.wait(id).await?),
        _ => None,
    };
    let Asked { request, before: mut said, text, .. } = asked;
    said.push(Line { role: "user".to_owned(), text: text.clone() });
    let by_words = taken.thread.by_words;
    let is_typed = is_typed(api, program, &text);
    let mut words = text;
    if is_typed {
        words = match command(api, program, &mut taken.thread, &words).await? {
            Input::Message(text) => text,
            Input::Reply(reply) => {
                let text = Drawn::new(&reply.text);
                said.push(Line { role: "assistant".to_owned(), text: text.to_string() });
                return Ok(Begun::Reply(text, taken.replied(&said)));
            }
        };
    }
    taken.thread.make_for_others(api, program).await?;
    let notice = if taken.thread.others_read { Drawn::new(&format!("{OTHERS_READ}\n\n")) } else { Drawn::default() };
    let (text, foreign) = parted(is_typed, words, taken.thread.before.clone());
    let key = headers.get(KEY).and_then(|key| key.to_str().ok());
    // A program may pass on keys of several people, who do not know of each other's.
    let key = key.map(|key| format!("api {} {:?} {key}", program.name, request.user.as_deref().unwrap_or_default()));
    let chat = ChatRequest {
        conversation: taken.thread.conversation.clone(),
        text,
        handed_in: foreign.map(Labelled::outside),
        model,
        effort,
        key,
        by_stranger: !is_owner,
        // The protocol has no place for them.
        hides_notices: true,
        ..ChatRequest::default()
    };
    let (api, program, id) = (Arc::clone(api), program.clone(), id.to_owned());
    // In a task of its own: were a turn begun for a client that has hung up meanwhile, nobody else would stop it.
    let beginning = tokio::spawn(async move {
        let handle = say(&api, &program, chat).await?;
        taken.answered();
        let conversation = ConversationChoice::Id(handle.conversation().clone());
        let hides = api.page.agent.config().chat.hide_markers;
        let answering = Answering::new(handle, hides, api.page.ending.clone());
        Ok(Exchange {
            api,
            program,
            id,
            created,
            model: request.model,
            answering,
            conversation,
            notice,
            said,
            by_words,
            _turn: turn,
            _place: held,
        })
    });
    let begun = beginning.await.map_err(|_| ApiError::interrupted("the turn could not be begun"))?;
    begun.map(|exchange| Begun::Turn(Box::new(exchange)))
}

/// What the owner typed, and what is anybody's.
fn parted(is_typed: bool, words: String, before: Option<String>) -> (String, Option<String>) {
    match is_typed {
        true => (words, before),
        false => (String::new(), Some(before.into_iter().chain([words]).collect::<Vec<_>>().join("\n\n"))),
    }
}

/// Says something, and keeps in which conversation the owner's program has said it.
async fn say(api: &Api, program: &ApiToken, chat: ChatRequest) -> Result<TurnHandle, ApiError> {
    let directory = api.page.agent.directory();
    let key = (program.role == ApiRole::Owner).then(|| key_of(program));
    if let (Some(key), ConversationChoice::Id(id)) = (&key, &chat.conversation) {
        directory.note_program(id, key).await?;
    }
    let is_new = chat.conversation == ConversationChoice::New;
    let handle = api.page.agent.chat(chat).await?;
    if let Some(key) = key.filter(|_| is_new) {
        // The turn runs already. What is not kept now is kept with the next message.
        let _ = directory.note_program(handle.conversation(), &key).await;
    }
    Ok(handle)
}

/// The model that a request names; none where it is the agent's own. Nothing is made for one that is not there.
async fn model_of(api: &Api, program: &ApiToken, asked: &Asked) -> Result<Option<String>, ApiError> {
    let model = Some(asked.request.model.clone()).filter(|model| model != AGENT);
    if let Some(model) = model.as_ref().filter(|_| program.role != ApiRole::Owner) {
        let why = format!("the token of this program has the model `{AGENT}` and not `{model}`");
        return Err(ApiError::not_found(why).code("model_not_found").param("model"));
    }
    let found = api.page.agent.models().choose(model.as_deref()).await;
    if let (Err(why), Some(_)) = (&found, &model) {
        return Err(ApiError::not_found(why.to_string()).code("model_not_found").param("model"));
    }
    found?;
    Ok(model)
}

fn effort(word: &str) -> Result<Effort, ApiError> {
    let word = if word == "none" { "off" } else { word };
    Effort::parse(word).ok_or_else(|| {
        let why = "the efforts are none, minimal, low, medium, high and xhigh";
        ApiError::invalid(why).param("reasoning_effort")
    })
}

impl Exchange {
    /// The whole answer.
    async fn whole(mut self) -> Result<Response, ApiError> {
        let mut thought = Drawn::default();
        let finish = loop {
            match self.answering.next().await? {
                Piece::Text(_) => {}
                Piece::Reasoning(more) => thought.append(&more),
                Piece::End(finish) => break finish,
            }
        };
        self.remember();
        let thought = (!thought.is_empty()).then_some(thought);
        let mut text = std::mem::take(&mut self.notice);
        text.append(&self.answering.text);
        let usage = self.answering.usage();
        let whole = whole((&self.id, self.created, std::mem::take(&mut self.model)), text, (thought, finish), usage);
        Ok(Json(whole).into_response())
    }

    /// The answer piece by piece.
    fn stream(self: Box<Self>, tells_usage: bool) -> Response {
        let first = self.chunk(&json!({ "role": "assistant", "content": self.notice }), None);
        let begun = Some((self, vec![first], tells_usage));
        let events = unfold(begun, |state| async move {
            let (mut exchange, mut waiting, tells_usage) = state?;
            if let Some(event) = waiting.pop() {
                let rest = (event != Chunk::Done).then_some((exchange, waiting, tells_usage));
                return Some((Ok::<_, Infallible>(event.event()), rest));
            }
            let next = exchange.answering.next().await;
            // Whoever was shut out meanwhile hears nothing more.
            if !exchange.api.tokens.holds(&exchange.program) {
                return None;
            }
            let chunk = match next {
                Ok(Piece::Text(text)) => exchange.chunk(&json!({ "content": text }), None),
                Ok(Piece::Reasoning(text)) => exchange.chunk(&json!({ "reasoning_content": text }), None),
                Ok(Piece::End(finish)) => {
                    exchange.remember();
                    waiting.push(Chunk::Done);
                    if tells_usage {
                        waiting.push(exchange.usage_chunk());
                    }
                    exchange.chunk(&json!({}), Some(finish))
                }
                Err(why) => {
                    waiting.push(Chunk::Done);
                    Chunk::Json(why.told_to(exchange.program.role).value())
                }
            };
            Some((Ok(chunk.event()), Some((exchange, waiting, tells_usage))))
        });
        Sse::new(events).keep_alive(KeepAlive::default()).into_response()
    }

    /// What the client was given as the answer so far.
    fn answer(&self) -> Line {
        Line { role: "assistant".to_owned(), text: format!("{}{}", self.notice, self.answering.text) }
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Chunk {
        chunk((&self.id, self.created, &self.model), delta, finish)
    }

    fn usage_chunk(&self) -> Chunk {
        Chunk::Json(json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model,
            "choices": [], "usage": self.answering.usage(),
        }))
    }

    /// What was said is known by its words from here on, and browsers that look on see it.
    fn remember(&mut self) {
        let mut said = std::mem::take(&mut self.said);
        said.push(self.answer());
        if self.by_words {
            self.api.threads.keep(&self.program, &said, self.conversation.clone());
        }
        if let ConversationChoice::Id(id) = &self.conversation {
            self.api.page.talks.of(id).reload();
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // It failed, or the client hung up: it may ask the same again, or go on from what it has read.
        if let Some((_, before)) = self.said.split_last().filter(|_| self.by_words) {
            let before = before.to_vec();
            let mut said = std::mem::take(&mut self.said);
            if !before.is_empty() {
                self.api.threads.keep(&self.program, &before, self.conversation.clone());
            }
            if !self.answering.text.is_empty() {
                said.push(self.answer());
                self.api.threads.keep(&self.program, &said, self.conversation.clone());
            }
        }
    }
}
