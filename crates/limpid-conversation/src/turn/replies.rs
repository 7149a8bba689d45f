//! Replies of models in a turn: how the next one is asked for, and what comes of it.

use std::mem;
use std::sync::Arc;

use limpid_context::place_found;
use limpid_core::FailureClass;
use limpid_model::ModelError;
use limpid_services::error::AgentError;
use limpid_services::spending::spender_of;
use limpid_store::TurnWrite;
use limpid_turn::Event;
use limpid_turn::window::ContextSize;
use tokio_util::sync::CancellationToken;

use crate::compaction;
use crate::event::TurnEvent;
use crate::model_call::{CallDeps, CallEnd, CallFailure, EndedRequest, ModelCall, ModelStep, OutgoingRequest};
use crate::turn::requests::{NextRequest, ReplyKind};
use crate::turn::running::{RunningTurn, WaitsFor};

/// A reply under way.
pub(super) struct PendingReply {
    pub(super) call: ModelCall,
    round: u32,
    kind: ReplyKind,
    /// The size of the request.
    size: ContextSize,
}

impl RunningTurn {
    /// Asks the models in their order for the next reply.
    pub(super) async fn ask(&mut self, round: u32, kind: ReplyKind) -> Result<(), AgentError> {
        let deps = Arc::clone(&self.deps);
        let path = &self.requests.path;
        let allowed = deps.spending.check_and_tell(spender_of(path), Some(path), Some(self.writer.turn())).await;
        let next = match allowed {
            Ok(()) => {
                if let Some(finder) = self.calls.finder() {
                    place_found(&mut self.requests.inputs.tools, &finder.found());
                }
                self.requests.next(&deps, self.writer.lease(), self.machine.in_flight()).await
            }
            Err(error) => Err(error),
        };
        let next = match next {
            Ok(NextRequest::Ready(next)) => *next,
            Ok(NextRequest::NeedsNote(compaction)) => {
                self.waits_for = WaitsFor::Note(compaction, round, kind);
                return Ok(());
            }
            Err(AgentError::Model(error)) => return self.failed(None, String::new(), error).await,
            Err(error) => return Err(error),
        };
        if let Some(smaller) = next.smaller {
            compaction::show_less(&deps, self.writer.lease(), smaller).await?;
        }
        next.notices.into_iter().for_each(|notice| self.listeners.send(&TurnEvent::Notice(notice)));
        if self.listeners.take_stopped(&self.answers) {
            return self.stopped_before_asking().await;
        }
        let size = next.rendered.size;
        let form = self.requests.form_of(kind, self.machine.decision());
        let recipe = self.requests.recipe(&deps, self.writer.lease(), next.rendered, form).await?;
        let call = ModelCall::start(
            CallDeps::of(&deps),
            self.requests.models.clone(),
            *deps.retry,
            round,
            recipe.into_calls(),
            CancellationToken::new(),
        );
        self.waits_for = WaitsFor::Reply(Box::new(PendingReply { call, round, kind, size }));
        Ok(())
    }

    /// Every message that is answered was stopped before a model was asked.
    async fn stopped_before_asking(&mut self) -> Result<(), AgentError> {
        self.apply(Event::Chunk { text: String::new() }, None, Vec::new()).await?;
        self.apply(Event::Cancel, None, Vec::new()).await
    }

    pub(super) async fn model_step(&mut self, step: ModelStep) -> Result<(), AgentError> {
        match step {
            ModelStep::Seen(event) => self.listeners.send(&event),
            ModelStep::Request(request) => {
                let OutgoingRequest { row, trust, .. } = *request;
                self.read = self.read.join(trust);
                self.commit(vec![TurnWrite::Request(Box::new(row))]).await?;
            }
            ModelStep::GivenUp(ended) => {
                let end = self.end_of_request(Some(ended));
                self.commit(end).await?;
            }
            ModelStep::Over(end) => {
                let reply = match mem::replace(&mut self.waits_for, WaitsFor::Nothing) {
                    WaitsFor::Reply(reply) => Some((reply.round, reply.kind, reply.size)),
                    other => {
                        self.waits_for = other;
                        None
                    }
                };
                self.call_over(*end, reply).await?;
            }
        }
        Ok(())
    }

    /// What comes of a call that is over; `asked` is what it was for, unless it was stopped.
    async fn call_over(
        &mut self,
        end: CallEnd,
        asked: Option<(u32, ReplyKind, ContextSize)>,
    ) -> Result<(), AgentError> {
        let CallEnd { reply, request, failure } = end;
        match (failure, asked) {
            (None, _) => {
                let end = self.end_of_request(request);
                self.apply(Event::Reply(reply), None, end).await
            }
            (Some(CallFailure::NothingSaid { error, service, can_be_longer }), Some((round, kind, _))) => {
                if !can_be_longer || !self.requests.raise_limit() {
                    return self.failed(request, reply.text, error).await;
                }
                self.give_up(request).await?;
                self.listeners.send(&TurnEvent::Retrying { reason: error.message, model: service });
                self.ask(round, kind).await
            }
            (Some(CallFailure::Failed(error)), Some((round, kind, size)))
                if error.class == FailureClass::Overflow && request.is_some() && self.requests.overflowed(&size) =>
            {
                self.give_up(request).await?;
                self.ask(round, kind).await
            }
            // The text that came before the stop is kept.
            (Some(CallFailure::Failed(error)), None) if error.class == FailureClass::Cancelled => {
                let end = self.end_of_request(request);
                self.apply(Event::Chunk { text: reply.text }, None, end).await
            }
            (Some(failure), _) => self.failed(request, reply.text, failure.into_error()).await,
        }
    }

    async fn failed(
        &mut self,
        request: Option<EndedRequest>,
        text: String,
        error: ModelError,
    ) -> Result<(), AgentError> {
        let end = self.end_of_request(request);
        if !text.is_empty() && !error.discards {
            // Whoever listened has read it.
            self.apply(Event::Chunk { text }, None, Vec::new()).await?;
        }
        self.apply(Event::ModelFailed { class: error.class, message: error.message }, None, end).await
    }

    async fn give_up(&mut self, request: Option<EndedRequest>) -> Result<(), AgentError> {
        let end = self.end_of_request(request);
        if !end.is_empty() {
            self.commit(end).await?;
        }
        Ok(())
    }

    /// The end of a request for the request log; it is the one whose reply the next messages are.
    fn end_of_request(&mut self, request: Option<EndedRequest>) -> Vec<TurnWrite> {
        let Some((id, end)) = request else { return Vec::new() };
        self.request = Some(id.clone());
        vec![TurnWrite::RequestEnd(id, end)]
    }
}
