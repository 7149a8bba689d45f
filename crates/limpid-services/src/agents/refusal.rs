//! Why an agent was not accepted, as the model reads it.

use limpid_core::agent::{MOST_DEPTH, MOST_IN_TREE};
use limpid_core::{AgentRefusal, Sentence, sentence};

/// A refusal that stays: the same call is refused again.
pub(super) fn words(refusal: AgentRefusal) -> Sentence {
    match refusal {
        AgentRefusal::Depth => {
            sentence!("agents start agents {} deep, which is the most; do this yourself", u32::from(MOST_DEPTH))
        }
        AgentRefusal::Over => "this agent has ended, so it starts no other".into(),
        AgentRefusal::SameTask(agent) => {
            sentence!("agent {} was given the same task in this turn; wait for its result", agent.0)
        }
        AgentRefusal::Live(live) => sentence!(
            "{} agents work for this conversation, which is the most, and none ended within 30 s; wait for their results",
            live
        ),
        AgentRefusal::Tree => {
            sentence!("{} agents came of this message, which is the most; go on with what there is", MOST_IN_TREE)
        }
        AgentRefusal::Day(most) => {
            sentence!("programs have started {} agents within a day, which is the most; do this yourself", most)
        }
        AgentRefusal::StillWorks => "that agent works at present; say it to the one that does".into(),
        AgentRefusal::Tokens(tokens) => sentence!(
            "the agents that came of this message have used their {} tokens; go on with what there is",
            tokens
        ),
    }
}

/// What holds a planned task back that had to get an agent, where the next message lifts it; none: it has failed.
pub(super) fn held(refusal: AgentRefusal) -> Option<Sentence> {
    match refusal {
        AgentRefusal::Tree => Some(sentence!(
            "{} agents came of the message that started it, which is the most; start it again after another message",
            MOST_IN_TREE
        )),
        AgentRefusal::Tokens(tokens) => Some(sentence!(
            "the agents of the message that started it have used their {} tokens; start it again after another message",
            tokens
        )),
        AgentRefusal::Day(most) => Some(sentence!(
            "programs have started {} agents within a day, which is the most; start it again tomorrow",
            most
        )),
        AgentRefusal::Depth
        | AgentRefusal::Over
        | AgentRefusal::SameTask(_)
        | AgentRefusal::Live(_)
        | AgentRefusal::StillWorks => None,
    }
}
