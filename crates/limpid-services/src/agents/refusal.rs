//! Why an agent was not accepted, as the model reads it.

use limpid_core::agent::{MOST_DEPTH, MOST_IN_TREE};
use limpid_core::{AgentRefusal, Sentence, sentence};

/// A refusal that stays: the same call is refused again.
pub(super) fn words(refusal: AgentRefusal) -> Sentence {
    match refusal {
        AgentRefusal::Depth => {
            sentence!("agents can be nested at most {} levels deep; do this yourself", u32::from(MOST_DEPTH))
        }
        AgentRefusal::Over => "this agent has ended, so it cannot start another one".into(),
        AgentRefusal::SameTask(agent) => {
            sentence!("agent {} was given the same task in this turn; wait for its result", agent.0)
        }
        AgentRefusal::Live(live) => sentence!(
            "this conversation already has {} agents, the limit; none ended within 30 s, so wait for their results",
            live
        ),
        AgentRefusal::Tree => {
            sentence!("this message has led to {} agents, the limit; go on with what you have", MOST_IN_TREE)
        }
        AgentRefusal::Day(most) => {
            sentence!("programs have started {} agents within a day, the limit; do this yourself", most)
        }
        AgentRefusal::StillWorks => "an agent is still working in that conversation; tell that one instead".into(),
        AgentRefusal::Tokens(tokens) => {
            sentence!("the agents of this message have used their {} tokens; go on with what you have", tokens)
        }
    }
}

/// Why a planned task waits that could get no agent, where another message or day lifts the limit; none: it has failed.
pub(super) fn held(refusal: AgentRefusal) -> Option<Sentence> {
    match refusal {
        AgentRefusal::Tree => Some(sentence!(
            "the message that started it has led to {} agents, the limit; start it again after another message",
            MOST_IN_TREE
        )),
        AgentRefusal::Tokens(tokens) => Some(sentence!(
            "the agents of the message that started it have used their {} tokens; start it again after another message",
            tokens
        )),
        AgentRefusal::Day(most) => {
            Some(sentence!("programs have started {} agents within a day, the limit; start it again tomorrow", most))
        }
        AgentRefusal::Depth
        | AgentRefusal::Over
        | AgentRefusal::SameTask(_)
        | AgentRefusal::Live(_)
        | AgentRefusal::StillWorks => None,
    }
}
