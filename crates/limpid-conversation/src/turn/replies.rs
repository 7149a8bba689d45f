//! Replies of models in a turn: how the next one is asked for, and what comes of it.

use std::mem;
use std::sync::Arc;

use limpid_context::place_found;
use limpid_core::{FailureClass, Labelled, ToolCall};
use limpid_model::ModelError;
use limpid_services::error::AgentError;
use limpid_store::TurnWrite;
use limpid_turn::Event;
use limpid_turn::window::ContextSize;
use tokio_util::sync::CancellationToken;

use crate::compaction;
use crate::event::TurnEvent;
use crate::model_call::{CallDeps, CallEnd, CallFailure, EndedRequest, ModelCall, ModelStep, OutgoingRequest};
use crate::turn::agents::{self, AgentsTurn};
use crate::turn::requests::{NextRequest, ReplyKind};
use crate::turn::running::{PendingReply, RunningTurn, WaitsFor};

/// Asks the models in their order for the next reply.
pub(super) async fn ask(turn: &mut RunningTurn, round: u32, kind: ReplyKind) -> Result<(), AgentError> {
    let deps = Arc::clone(&turn.deps);
    let allowed = match agents::may_go_on(turn).await? {
        AgentsTurn::IsOver => return stopped_before_asking(turn).await,
        AgentsTurn::HasNoTokens(error) => Err(error),
        AgentsTurn::GoesOn(spender) => {
            let path = &turn.requests.path;
            deps.spending.check_and_tell(spender, Some(path), Some(turn.writer.turn())).await
        }
    };
    let next = match allowed {
        Ok(()) => {
            if let Some(finder) = turn.calls.finder() {
                place_found(&mut turn.requests.inputs.tools, &finder.found());
            }
            turn.requests.next(&deps, turn.writer.lease(), turn.machine.in_flight()).await
        }
        Err(error) => Err(error),
    };
    let next = match next {
        Ok(NextRequest::Ready(next)) => *next,
        Ok(NextRequest::NeedsNote(compaction)) => {
            turn.waits_for = WaitsFor::Note(compaction, round, kind);
            return Ok(());
        }
        Err(AgentError::Model(error)) => return failed(turn, None, String::new(), error).await,
        Err(error) => return Err(error),
    };
    if let Some(smaller) = next.smaller {
        compaction::show_less(&deps, turn.writer.lease(), smaller).await?;
    }
    next.notices.into_iter().for_each(|notice| turn.listeners.send(&TurnEvent::Notice(notice)));
    let size = next.rendered.size;
    let form = turn.requests.form_of(kind, turn.machine.decision());
    let recipe = turn.requests.recipe(&deps, turn.writer.lease(), next.rendered, form).await?;
    let call = ModelCall::start(
        CallDeps::of(&deps, turn.redactor_of_reply()),
        turn.requests.models.clone(),
        *deps.retry,
        round,
        recipe.into_calls(),
        CancellationToken::new(),
    );
    turn.waits_for = WaitsFor::Reply(Box::new(PendingReply { call, round, kind, size }));
    Ok(())
}

/// Every message that is answered was stopped before a model was asked.
async fn stopped_before_asking(turn: &mut RunningTurn) -> Result<(), AgentError> {
    nothing_said(turn).await?;
    turn.apply(Event::Cancel, None, Vec::new()).await
}

pub(super) async fn model_step(turn: &mut RunningTurn, step: ModelStep) -> Result<(), AgentError> {
    match step {
        ModelStep::Seen(event) => turn.listeners.send(&event),
        ModelStep::Request(request) => {
            let OutgoingRequest { row, trust, .. } = *request;
            turn.read = turn.read.join(trust);
            let sent = turn.trace.request(&row);
            turn.commit(vec![TurnWrite::Request(Box::new(row))]).await?;
            turn.trace.sent(sent);
        }
        ModelStep::GivenUp(ended) => {
            let end = end_of_request(turn, Some(ended));
            turn.commit(end).await?;
        }
        ModelStep::Over(end) => {
            let reply = match mem::replace(&mut turn.waits_for, WaitsFor::Nothing) {
                WaitsFor::Reply(reply) => Some((reply.round, reply.kind, reply.size)),
                other => {
                    turn.waits_for = other;
                    None
                }
            };
            call_over(turn, *end, reply).await?;
        }
    }
    Ok(())
}

/// A call was refused and never ran.
pub(super) fn refused(call: &ToolCall, result: String) -> TurnEvent {
    TurnEvent::ToolRefused { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.clone(), result }
}

/// What comes of a call that is over; `asked` is what it was for, unless it was stopped.
async fn call_over(
    turn: &mut RunningTurn,
    end: CallEnd,
    asked: Option<(u32, ReplyKind, ContextSize)>,
) -> Result<(), AgentError> {
    let CallEnd { reply, request, failure } = end;
    match (failure, asked) {
        (None, _) => {
            let end = end_of_request(turn, request);
            let reply = Labelled::new(reply, turn.written());
            turn.apply(Event::Reply(reply), None, end).await?;
            for (call, result) in turn.machine.unrun() {
                turn.listeners.send(&refused(call, result.clone()));
            }
            Ok(())
        }
        (Some(CallFailure::NothingSaid { error, service, can_be_longer }), Some((round, kind, _))) => {
            if !can_be_longer || !turn.requests.raise_limit() {
                return failed(turn, request, reply.text, error).await;
            }
            give_up(turn, request).await?;
            turn.listeners.send(&TurnEvent::Retrying { reason: error.message, model: service });
            ask(turn, round, kind).await
        }
        (Some(CallFailure::Failed(error)), Some((round, kind, size)))
            if error.class == FailureClass::Overflow && request.is_some() && turn.requests.overflowed(&size) =>
        {
            give_up(turn, request).await?;
            ask(turn, round, kind).await
        }
        // The text that came before the stop is kept.
        (Some(CallFailure::Failed(error)), None) if error.class == FailureClass::Cancelled => {
            let end = end_of_request(turn, request);
            let text = Labelled::new(reply.text, turn.written());
            turn.apply(Event::Chunk { text }, None, end).await
        }
        (Some(failure), _) => failed(turn, request, reply.text, failure.into_error()).await,
    }
}

/// Has nothing kept of what an earlier request has brought.
pub(super) async fn nothing_said(turn: &mut RunningTurn) -> Result<(), AgentError> {
    let text = Labelled::new(String::new(), turn.written());
    turn.apply(Event::Chunk { text }, None, Vec::new()).await
}

async fn failed(
    turn: &mut RunningTurn,
    request: Option<EndedRequest>,
    text: String,
    error: ModelError,
) -> Result<(), AgentError> {
    let end = end_of_request(turn, request);
    if !text.is_empty() && !error.discards {
        // Whoever listened has read it.
        let text = Labelled::new(text, turn.written());
        turn.apply(Event::Chunk { text }, None, Vec::new()).await?;
    }
    turn.apply(Event::ModelFailed { class: error.class, message: error.message }, None, end).await
}

async fn give_up(turn: &mut RunningTurn, request: Option<EndedRequest>) -> Result<(), AgentError> {
    let end = end_of_request(turn, request);
    if !end.is_empty() {
        turn.commit(end).await?;
    }
    Ok(())
}

/// The end of a request for the request log; it is the one whose reply the next messages are.
fn end_of_request(turn: &mut RunningTurn, request: Option<EndedRequest>) -> Vec<TurnWrite> {
    let Some((id, end)) = request else { return Vec::new() };
    turn.request = Some(id.clone());
    turn.trace.answered(&end);
    // Its provider may have read pages for it.
    turn.read = turn.read.join(end.trust);
    vec![TurnWrite::RequestEnd(id, end)]
}
