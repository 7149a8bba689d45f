//! Answers in the shape of OpenAI's chat completions, whole and piece by piece.

use std::convert::Infallible;

use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use limpid_prompt::shown::Drawn;
use serde_json::{Value, json};

use super::wire::{Answer, ChatCompletion, Choice, TokenUsage};

/// A piece of a stream.
#[derive(PartialEq)]
pub(super) enum Chunk {
    Json(Value),
    Done,
}

impl Chunk {
    pub(super) fn event(self) -> Event {
        match self {
            Self::Json(value) => Event::default().data(value.to_string()),
            Self::Done => Event::default().data("[DONE]"),
        }
    }
}

pub(super) fn chunk((id, created, model): (&str, i64, &str), delta: &Value, finish: Option<&str>) -> Chunk {
    Chunk::Json(json!({
        "id": id, "object": "chat.completion.chunk", "created": created, "model": model,
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    }))
}

pub(super) fn whole(
    (id, created, model): (&str, i64, String),
    content: Drawn,
    (reasoning_content, finish_reason): (Option<Drawn>, &'static str),
    usage: TokenUsage,
) -> ChatCompletion {
    let message = Answer { role: "assistant", content, reasoning_content, refusal: () };
    let choices = vec![Choice { index: 0, message, finish_reason }];
    ChatCompletion { id: id.to_owned(), object: "chat.completion", created, model, choices, usage }
}

/// The answer of a command as a stream.
pub(super) fn reply_stream(whole: &ChatCompletion) -> Response {
    let named = (whole.id.as_str(), whole.created, whole.model.as_str());
    let text = whole.choices.first().map_or("", |choice| choice.message.content.as_str());
    let said = chunk(named, &json!({ "role": "assistant", "content": text }), None);
    let events = [said, chunk(named, &json!({}), Some("stop")), Chunk::Done];
    Sse::new(futures_util::stream::iter(events.map(|event| Ok::<_, Infallible>(event.event())))).into_response()
}
