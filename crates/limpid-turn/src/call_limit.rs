//! How many calls of tools a reply and a turn may make. A model that a stranger steers can ask for thousands.

use limpid_core::{ProviderState, Sentence, ToolCall, sentence};

/// Calls of one reply that run.
const A_REPLY: usize = 32;

/// Calls of a whole turn that run.
const A_TURN: usize = 200;

/// The calls of a reply that fit into a turn which has made some. Of the rest one stays, to say that and how many were left
/// out; what the provider wants back belongs to all of them, and goes when some do.
pub(crate) fn few_enough(
    mut calls: Vec<ToolCall>,
    state: Vec<ProviderState>,
    made: usize,
) -> (Vec<ToolCall>, Vec<ProviderState>, Option<usize>) {
    let room = A_REPLY.min(A_TURN.saturating_sub(made));
    if calls.len() <= room {
        return (calls, state, None);
    }
    let left_out = calls.len() - room;
    calls.truncate(room + 1);
    (calls, Vec::new(), Some(left_out))
}

/// What is said of calls that were left out.
pub(crate) fn refusal(left_out: usize) -> Sentence {
    sentence!("{} calls were not run: at most {} run at a time, and {} in a turn", left_out, A_REPLY, A_TURN)
}

#[cfg(test)]
mod tests {
    use limpid_core::CallId;

    use super::*;

    fn calls(count: usize) -> Vec<ToolCall> {
        let call = |at: usize| ToolCall { id: CallId::new(format!("c{at}")), name: "t".into(), arguments: "{}".into() };
        (0..count).map(call).collect()
    }

    // SEC-073
    #[test]
    fn the_rest_of_too_many_calls_is_one_that_says_so() {
        let fits = |count, made| {
            let (calls, _, left_out) = few_enough(calls(count), Vec::new(), made);
            (calls.len(), left_out)
        };
        assert_eq!(fits(32, 0), (32, None));
        assert_eq!(fits(33, 0), (33, Some(1)));
        assert_eq!(fits(400, 0), (33, Some(368)));
        assert_eq!(fits(20, 190), (11, Some(10)), "the turn has ten left");
        assert_eq!(fits(1, 200), (1, Some(1)));
    }
}
