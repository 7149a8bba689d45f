//! How a turn ended: as the turn machine names it, as the store keeps it, and as whoever listens hears it.

use limpid_core::{ConversationId, FailureClass, Role, TurnId};
use limpid_services::error::AgentError;
use limpid_store::{InboundId, Store, TurnEnd, TurnOutcome, TurnWrite};
use limpid_turn::{Finish, Outcome};

use crate::event::TurnEvent;

/// The end of a turn as the store takes it.
pub(crate) fn end_of(outcome: &Outcome) -> TurnWrite {
    match outcome {
        Outcome::Answered { finish } => TurnWrite::End(TurnOutcome::Answered, finish.as_str().to_owned()),
        Outcome::Cancelled => TurnWrite::End(TurnOutcome::Cancelled, String::new()),
        Outcome::Failed { class, message } => TurnWrite::End(TurnOutcome::Failed, format!("{class}: {message}")),
    }
}

/// The outcome that a stored end tells of.
pub(crate) fn outcome_of(end: &TurnEnd) -> Outcome {
    match end.outcome {
        TurnOutcome::Answered => Outcome::Answered { finish: Finish::parse(&end.detail).unwrap_or_default() },
        TurnOutcome::Cancelled => Outcome::Cancelled,
        TurnOutcome::Failed => {
            let parts = end.detail.split_once(": ");
            let parsed = parts.and_then(|(class, message)| Some((FailureClass::parse(class)?, message)));
            let (class, message) = parsed.unwrap_or((FailureClass::Malformed, &end.detail));
            Outcome::Failed { class, message: message.to_owned() }
        }
    }
}

/// The outcome of a turn that could not begin or be carried on.
pub(crate) fn failed(error: &AgentError) -> Outcome {
    let class = match error {
        AgentError::Model(error) => error.class,
        AgentError::File(_) | AgentError::Prompt(_) => FailureClass::OwnFile,
        _ => FailureClass::Malformed,
    };
    Outcome::Failed { class, message: error.to_string() }
}

/// The last words of a turn; none when it said nothing.
pub(crate) async fn answer_of(
    store: &dyn Store,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<Option<String>, AgentError> {
    let messages = store.messages(conversation, None).await?.rows;
    let answer = messages.into_iter().rev().find(|row| row.turn == *turn && row.message.role == Role::Assistant);
    Ok(answer.map(|row| row.message.text).filter(|text| !text.is_empty()))
}

/// How the turn ended that took an accepted message; none while it has not.
pub(crate) async fn end_of_message(store: &dyn Store, message: InboundId) -> Result<Option<TurnEvent>, AgentError> {
    let Some(turn) = store.accepted(message).await?.and_then(|inbound| inbound.turn) else { return Ok(None) };
    let Some(ended) = store.turn(&turn).await? else { return Ok(None) };
    let Some(end) = ended.end else { return Ok(None) };
    let answer = answer_of(store, &ended.conversation, &turn).await?;
    Ok(Some(TurnEvent::Done { outcome: outcome_of(&end), answer }))
}
