//! The turn that answers a request. When whoever asked is gone, it stops.

use limpid_core::Usage;
use limpid_core::goal::WithoutMarkers;
use limpid_prompt::shown::{Unloaded, shown};
use limpid_runtime::{Finish, Outcome, TurnEvent, TurnHandle};
use tokio_util::sync::CancellationToken;

use super::error::ApiError;
use super::wire::{CompletionTokens, PromptTokens, TokenUsage};

/// A piece of an answer.
#[derive(Debug)]
pub(super) enum Piece {
    /// More of what is said.
    Text(String),
    /// More of what the model thinks.
    Reasoning(String),
    /// The end, and why it ended.
    End(&'static str),
}

/// The turn that answers a request.
pub(super) struct Answering {
    handle: TurnHandle,
    /// Cancelled when the server ends; the turn is carried on by the next one.
    ending: CancellationToken,
    markers: Option<WithoutMarkers>,
    unloaded: Unloaded,
    /// All that was said.
    pub(super) text: String,
    usage: Usage,
    /// Whether what is said next is a part of its own.
    is_next_part: bool,
    /// What ended it, when there is a piece before that.
    end: Option<Result<&'static str, ApiError>>,
    is_over: bool,
}

impl Answering {
    pub(super) fn new(handle: TurnHandle, hides_markers: bool, ending: CancellationToken) -> Self {
        Self {
            handle,
            ending,
            markers: hides_markers.then(WithoutMarkers::default),
            unloaded: Unloaded::default(),
            text: String::new(),
            usage: Usage::default(),
            is_next_part: false,
            end: None,
            is_over: false,
        }
    }

    /// The next piece; after the end there is none.
    ///
    /// # Errors
    /// When the turn fails or cannot be carried on.
    pub(super) async fn next(&mut self) -> Result<Piece, ApiError> {
        loop {
            if let Some(end) = self.end.take() {
                self.is_over = true;
                return end.map(Piece::End);
            }
            let event = tokio::select! {
                event = self.handle.next() => event,
                () = self.ending.cancelled() => Some(TurnEvent::Interrupted("the server ends".to_owned())),
            };
            let piece = match event {
                Some(TurnEvent::Text(text)) => self.said(&text),
                Some(TurnEvent::Reasoning(text)) => Some(Piece::Reasoning(shown(&text).into_owned())),
                Some(TurnEvent::ToolStarted { .. } | TurnEvent::Retrying { .. }) => {
                    let rest = self.rest();
                    self.is_next_part = !self.text.is_empty();
                    rest
                }
                Some(TurnEvent::Usage { usage, .. }) => {
                    self.count(usage);
                    None
                }
                Some(TurnEvent::Done { outcome, answer }) => {
                    self.end = Some(ended(outcome));
                    let rest = self.rest();
                    match answer.filter(|_| self.text.is_empty()) {
                        Some(answer) => self.said(&answer),
                        None => rest,
                    }
                }
                Some(TurnEvent::Interrupted(why)) => {
                    self.end = Some(Err(ApiError::interrupted(why)));
                    None
                }
                None => {
                    self.end = Some(Err(ApiError::interrupted("the turn broke off; what was said is kept")));
                    None
                }
                Some(_) => None,
            };
            if let Some(piece) = piece {
                return Ok(piece);
            }
        }
    }

    /// Tokens that were read and written.
    pub(super) fn usage(&self) -> TokenUsage {
        let usage = &self.usage;
        TokenUsage {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input.saturating_add(usage.output),
            prompt_tokens_details: PromptTokens { cached_tokens: usage.cached },
            completion_tokens_details: CompletionTokens { reasoning_tokens: usage.reasoning },
        }
    }

    fn said(&mut self, text: &str) -> Option<Piece> {
        let text = match &mut self.markers {
            Some(markers) => markers.push(text),
            None => text.to_owned(),
        };
        self.keep(&text)
    }

    /// What may still have become a marker and did not.
    fn rest(&mut self) -> Option<Piece> {
        let rest = std::mem::take(self.markers.as_mut()?).finish();
        self.keep(&rest)
    }

    fn keep(&mut self, text: &str) -> Option<Piece> {
        if text.is_empty() {
            return None;
        }
        // Clients print what comes as it comes.
        let text = self.unloaded.push(&shown(text));
        let text = if std::mem::take(&mut self.is_next_part) { format!("\n\n{text}") } else { text };
        self.text.push_str(&text);
        Some(Piece::Text(text))
    }

    fn count(&mut self, more: Usage) {
        let usage = &mut self.usage;
        usage.input = usage.input.saturating_add(more.input);
        usage.cached = usage.cached.saturating_add(more.cached);
        usage.output = usage.output.saturating_add(more.output);
        usage.reasoning = usage.reasoning.saturating_add(more.reasoning);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        // Nobody reads the rest; what was said is kept. A server that ends leaves the turn to the next one.
        if !self.is_over && !self.ending.is_cancelled() {
            self.handle.cancel();
        }
    }
}

fn ended(outcome: Outcome) -> Result<&'static str, ApiError> {
    match outcome {
        Outcome::Answered { finish: Finish::Length } => Ok("length"),
        Outcome::Answered { .. } | Outcome::Cancelled => Ok("stop"),
        Outcome::Failed { class, message } => Err(ApiError::failed(class, message)),
    }
}
