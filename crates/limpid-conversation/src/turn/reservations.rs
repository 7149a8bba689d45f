//! Rights that are reserved in a turn: made while nothing foreign is in the window, used afterwards.

use std::time::Duration;

use limpid_core::message::FAILED;
use limpid_core::reach::FIND_TOOLS;
use limpid_core::{Message, Sentence, ToolCall, sentence};
use limpid_services::error::AgentError;
use limpid_services::tools::{CallContext, Permit, Reservation};
use limpid_store::{Kept, TurnWrite, TypedOrCalled};
use serde::Deserialize;
use serde_json::Value;

use crate::turn::journal::{Entry, Reserved};
use crate::turn::opened_links::OpenedLinks;
use crate::turn::running::RunningTurn;

/// Rights that one turn has at most.
const MOST: usize = 50;

/// What a cut result says in its middle.
const CUT: &str = " characters left out";

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    reserve: Vec<Reservation>,
}

/// Keeps what a call of the finder reserves that may run: one that the owner's rules forbid, or to which they said no, leaves no right. A
/// call that reserves something wrong does nothing else either.
pub(super) async fn reserve(
    turn: &mut RunningTurn,
    permit: &Permit,
    context: &CallContext,
) -> Result<Result<(), Sentence>, AgentError> {
    let call = permit.call();
    let finds = call.name == FIND_TOOLS && turn.calls.finder().is_some();
    let Some(Arguments { reserve }) = finds.then(|| serde_json::from_str(&call.arguments).ok()).flatten() else {
        return Ok(Ok(()));
    };
    // A call that is made again after the program stopped has reserved already.
    if reserve.is_empty() || turn.calls.reservations.were_made_by(&call.id) {
        return Ok(Ok(()));
    }
    if context.trust.is_foreign() {
        return Ok(Err(
            "nothing was reserved: strangers' text was read by now; make the call, and the person is asked".into(),
        ));
    }
    if turn.calls.reservations.len() + reserve.len() > MOST {
        return Ok(Err(sentence!("nothing was reserved: a turn has {} reservations at most", MOST)));
    }
    let said = turn.deps.store().typed_and_called(&turn.writer.lease().conversation).await?;
    let typed = said.into_iter().filter_map(|said| match said {
        TypedOrCalled::Typed(text) => Some(text),
        TypedOrCalled::Called(..) => None,
    });
    let typed: Vec<String> = typed.collect();
    for reservation in &reserve {
        if let Err(why) = turn.calls.tools.check_reservation(reservation, &typed) {
            return Ok(Err(sentence!("nothing was reserved: {}", why.join(context.trust))));
        }
    }
    // Of several the order could be chosen, and that would say something of what was read.
    let opens = |it: &&Reservation| turn.calls.tools.opens_links(it);
    if turn.calls.reservations.iter().chain(&reserve).filter(opens).count() > 1 {
        return Ok(Err("nothing was reserved: the links of one result are reserved in a turn, no more".into()));
    }
    keep(turn, call, reserve).await?;
    Ok(Ok(()))
}

/// The reserved right to a call, if there is one.
pub(super) fn right_to(turn: &RunningTurn, call: &ToolCall, context: &CallContext) -> Option<usize> {
    let arguments = serde_json::from_str::<Value>(&call.arguments).ok().filter(|_| context.trust.is_foreign())?;
    // Reserved links are opened with the result that they are in, never by a call of the model's.
    if turn.calls.tools.fetched_by(call).is_some() {
        return None;
    }
    let read = |tool: &str, arguments: &Value| whole_result(turn.machine.in_flight(), tool, arguments);
    turn.calls.reservations.covering(&call.name, &arguments, read)
}

/// The right to open the links of what a call returns, with its place, if there is one.
pub(super) fn links_of(
    turn: &RunningTurn,
    call: &ToolCall,
    context: &CallContext,
    (now_ms, timeout): (i64, Duration),
) -> Option<(usize, OpenedLinks)> {
    let arguments = serde_json::from_str::<Value>(&call.arguments).ok()?;
    let opens = |reservation: &Reservation| turn.calls.tools.opens_links(reservation);
    let (at, reservation) = turn.calls.reservations.opened_with(&call.name, &arguments, opens)?;
    Some((at, OpenedLinks { reservation: reservation.clone(), judged: context.clone(), now_ms, timeout }))
}

async fn keep(turn: &mut RunningTurn, by: &ToolCall, calls: Vec<Reservation>) -> Result<(), AgentError> {
    let reserved = Reserved::By { call: by.id.to_string(), calls: calls.clone() };
    turn.commit(vec![TurnWrite::Event(Entry::Reserved(reserved).into_row(Kept::UntilEnd)?)]).await?;
    turn.calls.reservations.add(Some(by.id.clone()), calls);
    Ok(())
}

/// The result of the first call of this turn with this tool and these arguments: none when it failed or was cut. A later one is
/// another result, since what was read in between may have asked for it.
fn whole_result(in_flight: &[Message], tool: &str, arguments: &Value) -> Option<String> {
    let is_same = |call: &&ToolCall| {
        call.name == tool && serde_json::from_str::<Value>(&call.arguments).is_ok_and(|made| made == *arguments)
    };
    let made = in_flight.iter().flat_map(|message| &message.calls).find(is_same)?;
    let result = in_flight.iter().find(|message| message.call_id.as_ref() == Some(&made.id))?;
    let is_whole = !result.text.starts_with(FAILED) && !result.text.contains(CUT);
    is_whole.then(|| result.text.clone())
}

#[cfg(test)]
mod tests {
    use limpid_core::{CallId, Role};
    use serde_json::json;

    use super::*;

    // SEC-070
    #[test]
    fn a_result_is_that_of_the_first_such_call_and_whole() {
        let call = |id: &str, arguments: &str| ToolCall {
            id: CallId::new(id),
            name: "read".to_owned(),
            arguments: arguments.to_owned(),
        };
        let calling = Message {
            calls: vec![
                call("a", r#"{"page":"a"}"#),
                call("b", r#"{"page":"b"}"#),
                call("c", r#"{"page":"c"}"#),
                call("d", r#"{"page":"a"}"#),
            ],
            ..Message::new(Role::Assistant, "", limpid_core::Trust::Owner)
        };
        let result = |id: &str, text: &str| Message {
            call_id: Some(CallId::new(id)),
            ..Message::new(Role::Tool, text, limpid_core::Trust::Owner)
        };
        let failed = format!("{FAILED}\"no\"}}");
        let cut = "head\n[… 9 characters left out …]\ntail";
        let messages = [
            calling,
            result("a", "the page"),
            result("b", &failed),
            result("c", cut),
            result("d", "the page, changed"),
        ];
        let read = |tool: &str, page: &str| whole_result(&messages, tool, &json!({ "page": page }));
        assert_eq!(read("read", "a"), Some("the page".to_owned()));
        for (tool, page) in [("read", "b"), ("read", "c"), ("read", "d"), ("send", "a")] {
            assert_eq!(read(tool, page), None, "{tool} {page}");
        }
    }
}
