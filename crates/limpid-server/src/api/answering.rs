//! The turn that answers a request. When whoever asked is gone, it stops.

use std::collections::VecDeque;

use limpid_core::Usage;
use limpid_core::goal::WithoutMarkers;
use limpid_prompt::shown::{Drawn, DrawnPieces};
use limpid_runtime::{Finish, Outcome, TurnEvent, TurnHandle};
use tokio_util::sync::CancellationToken;

use super::error::ApiError;
use super::wire::{CompletionTokens, PromptTokens, TokenUsage};

/// A piece of an answer.
#[derive(Debug)]
pub(super) enum Piece {
    /// More of what is said.
    Text(Drawn),
    /// More of what the model thinks.
    Reasoning(Drawn),
    /// The end, and why it ended.
    End(&'static str),
}

/// The turn that answers a request.
pub(super) struct Answering {
    handle: TurnHandle,
    /// Cancelled when the server ends; the turn is carried on by the next one.
    ending: CancellationToken,
    markers: Option<WithoutMarkers>,
    drawn: DrawnPieces,
    thought: DrawnPieces,
    /// All that was said.
    pub(super) text: Drawn,
    usage: Usage,
    /// Whether what is said next is a part of its own.
    is_next_part: bool,
    /// Pieces that are not given out yet.
    waiting: VecDeque<Piece>,
    /// What ended it, behind them.
    end: Option<Result<&'static str, ApiError>>,
    is_over: bool,
}

impl Answering {
    pub(super) fn new(handle: TurnHandle, hides_markers: bool, ending: CancellationToken) -> Self {
        Self {
            handle,
            ending,
            markers: hides_markers.then(WithoutMarkers::default),
            drawn: DrawnPieces::default(),
            thought: DrawnPieces::default(),
            text: Drawn::default(),
            usage: Usage::default(),
            is_next_part: false,
            waiting: VecDeque::new(),
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
            if let Some(piece) = self.waiting.pop_front() {
                return Ok(piece);
            }
            if let Some(end) = self.end.take() {
                self.is_over = true;
                return end.map(Piece::End);
            }
            let event = tokio::select! {
                event = self.handle.next() => event,
                () = self.ending.cancelled() => Some(TurnEvent::Interrupted("the server ends".to_owned())),
            };
            if !matches!(event, Some(TurnEvent::Reasoning(_))) {
                let rest = self.thought.pause();
                self.wait(Piece::Reasoning(rest));
            }
            match event {
                Some(TurnEvent::Text(text)) => self.said(&text),
                Some(TurnEvent::Reasoning(text)) => {
                    let more = self.thought.push(&text);
                    self.wait(Piece::Reasoning(more));
                }
                Some(TurnEvent::ToolStarted { .. } | TurnEvent::Retrying { .. }) => {
                    self.rest();
                    self.is_next_part = !self.text.is_empty();
                }
                Some(TurnEvent::Usage { usage, .. }) => self.count(usage),
                Some(TurnEvent::Done { outcome, answer }) => {
                    self.rest();
                    if let Some(answer) = answer.filter(|_| self.text.is_empty()) {
                        self.said(&answer);
                    }
                    self.finish(ended(outcome));
                }
                Some(TurnEvent::Interrupted(why)) => self.finish(Err(ApiError::interrupted(why))),
                None => self.finish(Err(ApiError::interrupted("the turn broke off; what was said is kept"))),
                Some(_) => {}
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

    fn said(&mut self, text: &str) {
        let text = match &mut self.markers {
            Some(markers) => markers.push(text),
            None => text.to_owned(),
        };
        self.keep(&text);
    }

    /// What may still have become a marker and did not.
    fn rest(&mut self) {
        if let Some(markers) = &mut self.markers {
            let rest = std::mem::take(markers).finish();
            self.keep(&rest);
        }
    }

    fn keep(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        // Clients put the parts together as they come.
        let gap = if std::mem::take(&mut self.is_next_part) { "\n\n" } else { "" };
        let more = self.drawn.push(&format!("{gap}{text}"));
        self.text.append(&more);
        self.wait(Piece::Text(more));
    }

    fn finish(&mut self, end: Result<&'static str, ApiError>) {
        let rest = self.drawn.pause();
        self.text.append(&rest);
        self.wait(Piece::Text(rest));
        self.end = Some(end);
    }

    fn wait(&mut self, piece: Piece) {
        let is_empty = matches!(&piece, Piece::Text(more) | Piece::Reasoning(more) if more.is_empty());
        if !is_empty {
            self.waiting.push_back(piece);
        }
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
