//! Ids of spans, made from the ids of what they tell of. So a turn that goes on after a crash stays one trace, and whoever starts an
//! agent is found without anybody having to remember its span.

use limpid_core::{CallId, RequestId, TurnId};
use opentelemetry::{SpanId, TraceId};
use sha2::{Digest as _, Sha256};

/// The trace of a turn, and its span there.
pub(crate) fn of_turn(turn: &TurnId) -> (TraceId, SpanId) {
    both(&["turn", turn.as_str()])
}

/// A trace of a request's own, for one that belongs to no turn, and its span.
pub(crate) fn of_request(request: &RequestId) -> (TraceId, SpanId) {
    both(&["request", request.as_str()])
}

/// The span of a call of a tool in the trace of its turn.
pub(crate) fn of_call(turn: &TurnId, call: &CallId) -> SpanId {
    both(&["call", turn.as_str(), call.as_str()]).1
}

fn both(parts: &[&str]) -> (TraceId, SpanId) {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    let (mut trace, mut span) = ([0; 16], [0; 8]);
    trace.copy_from_slice(&hash[..16]);
    span.copy_from_slice(&hash[16..24]);
    (TraceId::from_bytes(trace), SpanId::from_bytes(span))
}
