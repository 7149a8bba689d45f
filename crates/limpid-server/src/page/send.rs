//! What a person does in a conversation: says something, answers, stops, chooses.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::{Form, Json};
use limpid_core::{ConversationId, Effort, Labelled, MessageId};
use limpid_runtime::earlier::say_instead;
use limpid_runtime::{ApprovalAnswer, ChatRequest, ConversationChoice, Input};
use serde::Deserialize;
use serde_json::json;

use super::attached::{File, Words, read};
use super::chat::title;
use super::follow::follow;
use super::markdown;
use super::state::Page;
use super::trouble::Trouble;

/// Bytes of a message on its way; a letter may take several there.
pub(super) const MOST_BYTES: usize = 8 * 1024 * 1024;

/// A message.
#[derive(Deserialize)]
pub(super) struct Said {
    text: String,
    /// What was pasted and may be anybody's text.
    #[serde(default)]
    pasted: String,
    /// What of the text was pasted and the person says is theirs.
    #[serde(default)]
    mine: String,
    /// Files that go along, as JSON.
    #[serde(default)]
    files: String,
    /// What makes it the same message when it is sent again.
    key: Option<String>,
    mode: Option<String>,
    model: Option<String>,
    /// The earlier message in whose place it is said.
    instead: Option<i64>,
    /// The newest message that was seen then.
    newest: Option<i64>,
}

/// An answer to a call that waits, by the number with which it was asked about.
#[derive(Deserialize)]
pub(super) struct Answered {
    call: u64,
    answer: String,
}

/// Something that is chosen for a conversation.
#[derive(Deserialize)]
pub(super) struct Chosen {
    mode: Option<String>,
    model: Option<String>,
    effort: Option<String>,
}

/// Another title.
#[derive(Deserialize)]
pub(super) struct Titled {
    title: String,
}

/// A line that is being typed.
#[derive(Deserialize)]
pub(super) struct Line {
    line: String,
}

fn choice(id: &str) -> ConversationChoice {
    match id {
        "new" => ConversationChoice::New,
        id => ConversationChoice::Id(ConversationId::new(id)),
    }
}

/// `POST /c/{id}/send`: says something, or carries a command out. The answer says in which conversation.
pub(super) async fn send(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    said: Result<Form<Said>, FormRejection>,
) -> Result<Response, Trouble> {
    let Form(said) = said.map_err(|refused| match refused.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Trouble::invalid("The message is too large to be sent. Send less of it."),
        _ => Trouble::invalid(refused.body_text()),
    })?;
    let Said { text, pasted, mine, files, key, mode, model, instead, newest } = said;
    let files = read(&files)?;
    let has_words = !text.trim().is_empty();
    if !has_words && pasted.trim().is_empty() && files.is_empty() {
        return Err(Trouble::invalid("There is nothing to send."));
    }
    let conversation = choice(&id);
    let input = if has_words { page.agent.command(&conversation, &text).await? } else { Input::Message(text) };
    let text = match input {
        Input::Message(text) => text,
        Input::Reply(reply) => {
            let to = reply.conversation.as_ref().map(ToString::to_string);
            // What a command says is laid out for a terminal.
            return Ok(
                Json(json!({ "reply": markdown::to_html(&markdown::fenced(&reply.text)), "to": to })).into_response()
            );
        }
    };
    let words = if pasted.is_empty() { text.clone() } else { format!("{text}\n\n{pasted}").trim_start().to_owned() };
    let shown =
        Words { text: words, files: files.iter().map(|file| File::new(&file.name, &file.text)).collect(), from: "" };
    let set = |value: Option<String>| value.filter(|value| id == "new" && !value.is_empty());
    let request = ChatRequest {
        conversation,
        text,
        handed_in: Some(pasted).filter(|pasted| !pasted.trim().is_empty()).map(Labelled::outside),
        files,
        made_mine: Some(mine).filter(|mine| !mine.is_empty()),
        key,
        mode: set(mode),
        model: set(model),
        can_answer: true,
        ..ChatRequest::default()
    };
    let handle = match instead.zip(newest) {
        Some((message, newest)) => say_instead(&page.agent, request, MessageId(message), MessageId(newest)).await?,
        None => page.agent.chat(request).await?,
    };
    let id = handle.conversation().clone();
    if instead.is_some() {
        page.talks.of(&id).reload();
    }
    follow(&page, handle, shown).await?;
    Ok(Json(json!({ "conversation": id.to_string() })).into_response())
}

/// `POST /c/{id}/answer`
pub(super) async fn answer(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Form(Answered { call, answer }): Form<Answered>,
) -> Result<Response, Trouble> {
    let answer = match answer.as_str() {
        "once" => ApprovalAnswer::Once,
        "always" => ApprovalAnswer::Always,
        "clean" => ApprovalAnswer::CleanFirst,
        "no" => ApprovalAnswer::No,
        _ => return Err(Trouble::invalid("The answers are once, always, clean and no.")),
    };
    match page.talks.of(&ConversationId::new(id)).answer(call, answer) {
        true => Ok(Json(json!({})).into_response()),
        false => Err(Trouble::invalid("This question does not wait any more. It may be a draft by now: see Activity.")),
    }
}

/// `POST /c/{id}/stop`
pub(super) async fn stop(State(page): State<Arc<Page>>, Path(id): Path<String>) -> Response {
    let stopped = page.agent.conversations().cancel(&ConversationId::new(id));
    Json(json!({ "stopped": stopped })).into_response()
}

/// `POST /c/{id}/choose`
pub(super) async fn choose(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Form(chosen): Form<Chosen>,
) -> Result<Response, Trouble> {
    let conversation = page.agent.directory().existing(&ConversationId::new(id)).await?.id;
    if let Some(mode) = chosen.mode {
        page.agent.conversations().set_mode(&conversation, &mode).await?;
    }
    let effort = match chosen.effort.as_deref() {
        Some(word) => Some(Effort::parse(word).ok_or_else(|| Trouble::invalid(format!("Unknown effort `{word}`.")))?),
        None => None,
    };
    if chosen.model.is_some() || effort.is_some() {
        let conversation = ConversationChoice::Id(conversation);
        let request = ChatRequest { conversation, model: chosen.model, effort, ..ChatRequest::default() };
        page.agent.conversations().conversation_for(&request).await?;
    }
    Ok(Json(json!({})).into_response())
}

/// `POST /c/{id}/title`
pub(super) async fn rename(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Form(Titled { title: to }): Form<Titled>,
) -> Result<Response, Trouble> {
    let renamed = page.agent.conversations().rename(&ConversationId::new(id), &to).await?;
    page.talks.of(&renamed.id).reload();
    page.lists_changed();
    Ok(Json(json!({ "title": title(&renamed) })).into_response())
}

/// `GET /c/{id}/complete?line=/mo`
pub(super) async fn complete(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(Line { line }): Query<Line>,
) -> Response {
    let found = page.agent.complete(&choice(&id), &line).await;
    let words: Vec<_> = found.into_iter().map(|found| json!({ "word": found.word, "help": found.help })).collect();
    Json(words).into_response()
}
