//! The trace of a turn: what of it is under way, until it ends and becomes a span.

use std::collections::BTreeMap;

use limpid_core::{CallId, ConversationId, TurnId};
use limpid_services::directory::is_run;
use limpid_store::{NewRequest, RequestEnd};
use limpid_telemetry::{ToolFacts, ToolFailure, Traces, TurnEnd, TurnFacts};
use limpid_turn::{Event, Outcome};

use crate::deps::ConversationDeps;
use crate::sent::SentRequest;

/// The trace of a turn.
pub(crate) struct TurnTrace {
    traces: Traces,
    turn: TurnId,
    conversation: ConversationId,
    path: String,
    began_ms: i64,
    /// The call that started the agent whose turn it is.
    started_by: Option<(TurnId, CallId)>,
    request: Option<SentRequest>,
    /// Calls that run: the tool, and when each began.
    calls: BTreeMap<CallId, (String, i64)>,
}

impl TurnTrace {
    /// Begins it.
    pub(super) async fn begin(
        deps: &ConversationDeps,
        conversation: &ConversationId,
        turn: &TurnId,
        path: &str,
        began_ms: i64,
    ) -> Self {
        let traces = deps.traces.clone();
        // Nothing of a turn depends on its trace.
        let agent = match traces.are_on() && is_run(conversation) {
            true => deps.store().agent_in(conversation).await.ok().flatten(),
            false => None,
        };
        Self {
            traces,
            turn: turn.clone(),
            conversation: conversation.clone(),
            path: path.to_owned(),
            began_ms,
            started_by: agent.map(|agent| (agent.new.turn, agent.new.call)),
            request: None,
            calls: BTreeMap::new(),
        }
    }

    /// A request leaves.
    pub(super) fn sent(&mut self, row: Option<SentRequest>) {
        self.request = row;
    }

    /// What is kept of a request that is about to leave.
    pub(super) fn request(&self, row: &NewRequest) -> Option<SentRequest> {
        SentRequest::of(&self.traces, row, Some(&self.turn), Some(&self.conversation))
    }

    /// The request has ended.
    pub(super) fn answered(&mut self, end: &RequestEnd) {
        if let Some(request) = self.request.take() {
            request.end(&self.traces, end);
        }
    }

    /// A call of a tool runs from here on.
    pub(super) fn called(&mut self, call: &CallId, tool: &str, now_ms: i64) {
        if self.traces.are_on() {
            self.calls.insert(call.clone(), (tool.to_owned(), now_ms));
        }
    }

    /// A call of a tool has ended; one that never ran is not told of.
    pub(super) fn returned(&mut self, event: &Event, now_ms: i64) {
        let (call, failure) = match event {
            Event::ToolDone { id, outcome } => (id, outcome.failed.then_some(ToolFailure::Failed)),
            Event::Timer { id } => (id, Some(ToolFailure::Timeout)),
            _ => return,
        };
        if let Some((tool, began_ms)) = self.calls.remove(call) {
            self.tool((call, &tool), (began_ms, now_ms), failure);
        }
    }

    /// The turn is over, and with it whatever of it still ran.
    pub(super) fn over(&mut self, outcome: &Outcome, now_ms: i64) {
        for (call, (tool, began_ms)) in std::mem::take(&mut self.calls) {
            self.tool((&call, &tool), (began_ms, now_ms), Some(ToolFailure::Cancelled));
        }
        self.traces.turn(&TurnFacts {
            turn: &self.turn,
            conversation: &self.conversation,
            path: &self.path,
            started_by: self.started_by.as_ref().map(|(turn, call)| (turn, call)),
            began_ms: self.began_ms,
            ended_ms: now_ms,
            end: match outcome {
                Outcome::Answered { .. } => TurnEnd::Answered,
                Outcome::Cancelled => TurnEnd::Cancelled,
                Outcome::Failed { class, .. } => TurnEnd::Failed(*class),
            },
        });
    }

    fn tool(&self, (call, tool): (&CallId, &str), (began_ms, ended_ms): (i64, i64), failure: Option<ToolFailure>) {
        let (turn, conversation) = (&self.turn, &self.conversation);
        self.traces.tool(&ToolFacts { turn, conversation, call, tool, began_ms, ended_ms, failure });
    }
}
