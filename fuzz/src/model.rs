//! What models say: streams, arguments of calls, and the events of a turn.

use std::time::Duration;

use limpid_core::message::unpaired;
use limpid_core::{CallId, FailureClass, Labelled, Message, Protocol, Role, ToolCall, Trust};
use limpid_model::protocol::events_of;
use limpid_turn::arguments::canonical;
use limpid_turn::{Effect, Event, OfferedTool, Reply, ToolOutcome, Turn, TurnStart, Why};
use serde_json::Value;

/// A reply of each protocol, in one piece and in two: both say the same.
pub(crate) fn stream(bytes: &[u8]) {
    let [which, at, body @ ..] = bytes else { return };
    let protocol = Protocol::ALL[usize::from(*which) % Protocol::ALL.len()];
    let (first, second) = body.split_at(usize::from(*at).min(body.len()));
    assert_eq!(events_of(protocol, [first, second]), events_of(protocol, [body]));
}

/// Arguments of a call: parsing what was written for them is the identity.
pub(crate) fn arguments(bytes: &[u8]) {
    let Ok(once) = canonical(&String::from_utf8_lossy(bytes)) else { return };
    assert_eq!(canonical(&once).ok().as_deref(), Some(&*once));
    let value: Value = serde_json::from_str(&once).expect("canonical arguments are JSON");
    assert_eq!(value.to_string(), once);
}

/// A turn that is told anything in any order, and that a crash interrupts: it goes on from its journal as it would have gone
/// on without, ends once, and stores calls and results in pairs.
pub(crate) fn turn(bytes: &[u8]) {
    let Some((crash, bytes)) = bytes.split_first() else { return };
    let tool = OfferedTool { name: "look".to_owned(), timeout: Duration::from_secs(1), result_chars: None };
    let start = TurnStart { tools: vec![tool], ..TurnStart::default() };
    let events: Vec<Event> = bytes.chunks(3).filter_map(event).take(200).collect();
    let before = usize::from(*crash).min(events.len());
    let (mut turn, _) = Turn::start(start.clone());
    let mut resumed = Turn::resume(start, events.iter().take(before).cloned());
    let mut ends = 0;
    for (at, event) in events.into_iter().enumerate() {
        let effects = turn.on(event.clone());
        ends += effects.iter().filter(|effect| matches!(effect, Effect::End { .. })).count();
        if at >= before {
            assert_eq!(resumed.on(event), effects);
        }
        assert_eq!(unpaired(turn.in_flight()), None);
    }
    assert_eq!(resumed, turn);
    assert_eq!(ends, usize::from(turn.outcome().is_some()));
    assert!(!turn.pending().is_empty(), "nothing makes this turn go on");
}

/// An event out of three bytes: which one, which call it is about, and what it says.
fn event(three: &[u8]) -> Option<Event> {
    let [kind, which, says] = *three.first_chunk()?;
    let id = || CallId::new(format!("call_{}", which % 4));
    let words = || char::from(says).to_string();
    let call = |n: u8| ToolCall {
        id: CallId::new(format!("call_{}", n % 4)),
        name: if says % 3 == 0 { "other".to_owned() } else { "look".to_owned() },
        arguments: if says % 5 == 0 { words() } else { "{}".to_owned() },
    };
    Some(match kind % 8 {
        0 => Event::Chunk { text: Labelled::outside(words()) },
        1 => Event::Reply(Labelled::outside(Reply::text(words()))),
        2 => Event::Reply(Labelled::outside(Reply::calls((0..which % 5).map(call).collect()))),
        3 => Event::ModelFailed {
            class: FailureClass::ALL[usize::from(says) % FailureClass::ALL.len()],
            message: words(),
        },
        4 => Event::ToolDone {
            id: id(),
            outcome: ToolOutcome::done(Labelled::outside(words()), || "0123456789abcdef".to_owned()),
        },
        5 => Event::Held { id: id(), why: Why { reason: words(), about: None, bound_to: words() } },
        6 if says % 2 == 0 => Event::Decided { id: id(), approved: which % 2 == 0, at_ms: 1 },
        6 => Event::Timer { id: id() },
        _ if says % 7 == 0 => Event::Cancel,
        _ => Event::Steer(Message::new(Role::User, words(), Trust::Owner)),
    })
}
