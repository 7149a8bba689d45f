//! Providers on loopback that hold a client to their rules about reasoning that travels back, in the words of their own
//! errors.

mod anthropic;
mod chat;
pub mod fields;
mod gemini;
mod ollama;
mod parts;
mod responses;
pub mod schemas;
mod tool_search;

use std::io;
use std::sync::{Arc, Mutex};

use limpid_model::script::Reply;
use serde_json::{Value, json};

use parts::Issued;

use crate::lock::lock;
use crate::recorder::{Recorded, Recorder};

/// Whose rules are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Anthropic: a message with calls begins with the thinking that led to them.
    Anthropic,
    /// Anthropic since preserved thinking: a block is valid only behind what it was made behind. A request without tools
    /// gets a summary in place of the next answer.
    AnthropicPreserved,
    /// OpenAI Responses without stored items.
    Responses,
    /// OpenAI Responses of a server that looks for everything with an id among what it has stored, which is nothing.
    ResponsesForgetful,
    /// Chat Completions of a server that wants reasoning back.
    Chat,
    /// Chat Completions of a server that refuses fields which it does not know.
    PlainChat,
    /// Chat Completions of a server before other providers.
    Gateway,
    /// Ollama, whose library knows these fields and no others.
    Ollama,
    /// Gemini 3 and later.
    Gemini,
    /// Gemini before 3.
    Gemini2,
}

pub use fields::FieldRule;

/// What is answered to a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Blocks, items or parts, in the provider's own form.
    Content(Vec<Value>),
    /// A status, and what the provider says about it.
    Error(u16, &'static str),
}

/// A running provider.
pub struct Strict {
    recorder: Recorder,
    shared: Arc<Shared>,
}

struct Shared {
    rules: Rules,
    fields: Vec<FieldRule>,
    answers: Vec<Answer>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    bodies: Vec<Value>,
    issued: Vec<Issued>,
    refused: Vec<String>,
}

impl Strict {
    /// Starts a provider that gives these answers, one a request, and the last one again.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(rules: Rules, answers: Vec<Answer>) -> io::Result<Self> {
        Self::refusing(rules, Vec::new(), answers).await
    }

    /// Starts one that also refuses some fields.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn refusing(rules: Rules, fields: Vec<FieldRule>, answers: Vec<Answer>) -> io::Result<Self> {
        let shared = Arc::new(Shared { rules, fields, answers, seen: Mutex::default() });
        let server = Arc::clone(&shared);
        let recorder = Recorder::answering(move |request| server.answer(request)).await?;
        Ok(Self { recorder, shared })
    }

    /// Its URL without a path.
    pub fn url(&self) -> String {
        self.recorder.url()
    }

    /// Every body so far.
    pub fn bodies(&self) -> Vec<Value> {
        lock(&self.shared.seen).bodies.clone()
    }

    /// What was refused so far, in the provider's words.
    pub fn refused(&self) -> Vec<String> {
        lock(&self.shared.seen).refused.clone()
    }
}

impl Shared {
    fn answer(&self, request: &Recorded) -> Reply {
        if self.rules == Rules::Ollama && request.path != "/api/chat" {
            // It is asked what it knows of the model.
            return error(404, "model not found");
        }
        let body = request.json();
        // Nobody holds a conversation without tools here: this asks for a summary.
        let is_summary = matches!(self.rules, Rules::AnthropicPreserved) && body["tools"].is_null();
        if is_summary && self.fields.is_empty() {
            let summary = json!({"type": "text", "text": "The person asked for the time."});
            return Reply { raw: Some(anthropic::stream(&[summary])), ..Reply::default() };
        }
        let mut seen = lock(&self.seen);
        let checked = match self.rules {
            Rules::Anthropic | Rules::AnthropicPreserved => {
                let preserved = self.rules == Rules::AnthropicPreserved;
                tool_search::anthropic(&body).and_then(|()| anthropic::check(&body, &seen.issued, preserved))
            }
            Rules::Responses | Rules::ResponsesForgetful => {
                let forgetful = self.rules == Rules::ResponsesForgetful;
                tool_search::responses(&body).and_then(|()| responses::check(&body, &seen.issued, forgetful))
            }
            Rules::Chat => chat::check(&body, &seen.issued),
            Rules::PlainChat => chat::check_plain(&body),
            Rules::Gateway => chat::check_gateway(&body, &seen.issued),
            Rules::Ollama => ollama::check(&body),
            Rules::Gemini => gemini::check(&body, &seen.issued),
            Rules::Gemini2 => gemini::check_earlier(&body),
        };
        let refused = self.fields.iter().find_map(|rule| rule(&body));
        let checked = refused.map_or(checked, |said| Err((400, said)));
        seen.bodies.push(body.clone());
        if let Err((status, message)) = checked {
            seen.refused.push(message.clone());
            return error(status, &message);
        }
        let count = seen.bodies.len();
        match self.answers.get(count - 1).or(self.answers.last()) {
            Some(Answer::Content(content)) => {
                let content = &match self.rules {
                    Rules::Gemini => gemini::named(content, count),
                    _ => content.clone(),
                };
                let raw = match self.rules {
                    Rules::Anthropic | Rules::AnthropicPreserved => anthropic::stream(content),
                    Rules::Responses | Rules::ResponsesForgetful => responses::stream(content),
                    Rules::Chat | Rules::PlainChat | Rules::Gateway => chat::stream(content),
                    Rules::Ollama => ollama::stream(content),
                    Rules::Gemini | Rules::Gemini2 => gemini::stream(content),
                };
                seen.issued.push(Issued { content: content.clone(), request: body });
                Reply { raw: Some(raw), ..Reply::default() }
            }
            Some(Answer::Error(status, message)) => error(*status, message),
            None => error(500, "there is no answer"),
        }
    }
}

fn error(status: u16, message: &str) -> Reply {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    let content_type = Some("application/json".to_owned());
    Reply { status: Some(status), raw: Some(body.to_string()), content_type, ..Reply::default() }
}
