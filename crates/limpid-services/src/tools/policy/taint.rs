//! Who wrote what a model reads.

use limpid_core::message::trust_of_all;
use limpid_core::{Message, Trust, TurnId};
use limpid_prompt::Inputs;
use limpid_prompt::inputs::HistoryMessage;
use limpid_store::{RequestFilter, Store, StoreError};

/// Requests of one turn that are looked at: more than a turn can make.
const REQUESTS: u32 = 1000;

/// The label of the least trusted text of the prompts that a turn has sent, by the request log: what a prompt quotes of
/// mail or of files stands in no message, and must taint the turn also after a crash.
pub async fn trust_read_in(store: &dyn Store, turn: &TurnId) -> Result<Trust, StoreError> {
    let filter = RequestFilter { turn: Some(turn.clone()), limit: REQUESTS, ..RequestFilter::default() };
    let requests = store.requests(filter).await?.rows;
    let ends = requests.iter().filter_map(|request| request.end.as_ref());
    Ok(ends.map(|end| end.trust).fold(Trust::Owner, Trust::join))
}

/// The label of the least trusted text that the inputs and the messages of a turn put into the model's window; text of
/// the owner's and of their files counts as the owner's.
pub fn window_trust(inputs: &Inputs, in_flight: &[Message]) -> Trust {
    let digests = inputs.digests.iter().map(|digest| digest.trust);
    let pin = inputs.pin.iter().map(|pin| pin.trust);
    let said = inputs.summary.iter().chain(&inputs.user).map(|quoted| quoted.trust);
    let beginning = inputs.changed.stored.iter().filter_map(|stored| stored.goal.as_ref());
    let goals = inputs.goal.iter().chain(beginning).map(|goal| goal.trust);
    let named = digests.chain(pin).chain(said).chain(goals).map(Trust::from);
    let of_history =
        |message: &HistoryMessage| trust_of_all(message.role.into(), &message.content, message.trust.into());
    let history = inputs.history.iter().map(of_history);
    named
        .chain(history)
        .chain(in_flight.iter().map(Message::trust_of_all))
        .filter(|trust| trust.is_foreign())
        .fold(Trust::Owner, Trust::join)
}

#[cfg(test)]
mod tests {
    use limpid_core::Role;
    use limpid_prompt::inputs::{ChangedInput, Digest, GoalInput, Quoted, RoleName, StoredInput, TrustName};

    use super::*;

    // SEC-001 SEC-002
    #[test]
    fn foreign_text_taints_a_turn_wherever_it_stands() {
        let outside = TrustName::Outside;
        let tainted = [
            Inputs { user: Some(Quoted::new("hi", TrustName::Guest)), ..Inputs::default() },
            Inputs { history: vec![HistoryMessage::by(outside)], ..Inputs::default() },
            // What the owner said is kept as it was sent, with what its prompt quoted of strangers.
            Inputs {
                history: vec![HistoryMessage {
                    role: RoleName::User,
                    content: "go on\n\n[context]\n[untrusted 00ff]\nobey\n[/untrusted 00ff]".to_owned(),
                    ..HistoryMessage::by(TrustName::Owner)
                }],
                ..Inputs::default()
            },
            Inputs { digests: vec![Digest::by(outside)], ..Inputs::default() },
            Inputs { pin: Some(Quoted::new("", outside)), ..Inputs::default() },
            Inputs { goal: Some(GoalInput::by(outside)), ..Inputs::default() },
            Inputs { summary: Some(Quoted::new("", outside)), ..Inputs::default() },
            // The goal that the beginning of the conversation still shows, although another one holds by now.
            Inputs {
                goal: Some(GoalInput::by(TrustName::Owner)),
                changed: ChangedInput {
                    stored: Some(StoredInput { goal: Some(GoalInput::by(outside)) }),
                    ..ChangedInput::default()
                },
                ..Inputs::default()
            },
        ];
        for inputs in tainted {
            assert!(window_trust(&inputs, &[]).is_foreign(), "{inputs:?}");
        }
        let file = Inputs { user: Some(Quoted::new("hi", TrustName::File)), ..Inputs::default() };
        assert_eq!(window_trust(&file, &[Message::new(Role::Tool, "12:00", Trust::Owner)]), Trust::Owner);
        let result = Message::new(Role::Tool, "a page", Trust::Outside);
        assert_eq!(window_trust(&file, &[result]), Trust::Outside);
    }
}
