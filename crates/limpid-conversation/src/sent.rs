//! A request under way, as the traces name it when it has ended.

use limpid_core::{ConversationId, RequestId, TurnId};
use limpid_store::{NewRequest, RequestEnd};
use limpid_telemetry::{RequestFacts, Traces};

/// What is kept of a request until it has ended.
pub(crate) struct SentRequest {
    id: RequestId,
    turn: Option<TurnId>,
    conversation: Option<ConversationId>,
    path: String,
    provider: String,
    model: String,
    target: String,
    sent_ms: i64,
}

impl SentRequest {
    /// Of a row of the request log, in a turn or a conversation; none when nobody looks at traces.
    pub(crate) fn of(
        traces: &Traces,
        row: &NewRequest,
        turn: Option<&TurnId>,
        conversation: Option<&ConversationId>,
    ) -> Option<Self> {
        traces.are_on().then(|| Self {
            id: row.id.clone(),
            turn: turn.cloned(),
            conversation: conversation.cloned(),
            path: row.path.clone(),
            provider: row.provider.clone(),
            model: row.model.clone(),
            target: row.target.clone(),
            sent_ms: row.sent_ms,
        })
    }

    /// It has ended.
    pub(crate) fn end(self, traces: &Traces, end: &RequestEnd) {
        traces.request(&RequestFacts {
            id: &self.id,
            turn: self.turn.as_ref(),
            conversation: self.conversation.as_ref(),
            path: &self.path,
            provider: &self.provider,
            model: &self.model,
            answered_by: end.model.as_deref(),
            target: &self.target,
            sent_ms: self.sent_ms,
            first_ms: end.first_ms,
            ended_ms: end.ended_ms,
            finish: end.finish.as_deref(),
            usage: end.usage,
            cost: end.cost,
            failure: end.failure.as_ref().map(|(class, _)| *class),
        });
    }
}
