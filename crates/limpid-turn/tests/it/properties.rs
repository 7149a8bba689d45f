//! Random turns: whatever comes in whatever order, the machine keeps its promises.

use std::time::Duration;

use limpid_core::{CallId, FailureClass, Labelled, Message, Role, ToolCall, Trust, message::unpaired};
use limpid_turn::{Effect, Event, Limits, OfferedTool, Reply, ToolOutcome, Turn, TurnStart, Why};
use proptest::prelude::*;

const TOOLS: [&str; 2] = ["clock", "memory_store"];
const LIMITS: Limits = Limits { calls_with_tools: 4, equal_batches: 3, result_chars: 60, screens_again: 2 };

fn start() -> TurnStart {
    let tool = |name: &str| OfferedTool { name: name.to_owned(), timeout: Duration::from_secs(30), result_chars: None };
    TurnStart {
        tools: TOOLS.map(tool).to_vec(),
        taken: [CallId::new("c0")].into(),
        limits: LIMITS,
        decision: None,
        is_screen: false,
    }
}

fn id() -> impl Strategy<Value = CallId> {
    prop_oneof![Just(""), Just("c0"), Just("c1"), Just("c2"), Just("c1-2"), Just("call")].prop_map(CallId::new)
}

fn call() -> impl Strategy<Value = ToolCall> {
    let name = prop_oneof![4 => Just("clock"), 2 => Just("memory_store"), 1 => Just("rm")];
    let arguments = prop_oneof![Just("{}"), Just(""), Just("{\"n\":1}"), Just("{\"n\":")];
    (id(), name, arguments).prop_map(|(id, name, arguments)| ToolCall {
        id,
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

fn label() -> impl Strategy<Value = Trust> {
    prop::sample::select(Trust::ALL.to_vec())
}

fn event() -> impl Strategy<Value = Event> {
    let text = prop_oneof![Just(String::new()), Just("word".to_owned()), Just("long ".repeat(40))];
    let calls = prop::collection::vec(call(), 0..4);
    let reply = (text.clone(), calls, label())
        .prop_map(|(text, calls, trust)| Event::Reply(Labelled::new(Reply { text, calls, ..Reply::default() }, trust)));
    let done = (id(), text.clone()).prop_map(|(id, text)| Event::ToolDone {
        id,
        outcome: ToolOutcome::done(Labelled::new(text, Trust::Owner), String::new),
    });
    prop_oneof![
        6 => reply,
        6 => done,
        2 => (id(), text.clone()).prop_map(|(id, error)| Event::ToolDone { id, outcome: ToolOutcome::failed(Labelled::new(error, Trust::Owner), String::new) }),
        2 => id().prop_map(|id| Event::Timer { id }),
        3 => id().prop_map(|id| Event::Held { id, why: Why { reason: String::new(), about: None, bound_to: "h".to_owned() } }),
        3 => (id(), any::<bool>()).prop_map(|(id, approved)| Event::Decided { id, approved, at_ms: 1 }),
        2 => (text.clone(), label()).prop_map(|(text, trust)| Event::Chunk { text: Labelled::new(text, trust) }),
        2 => text.prop_map(|text| Event::Steer(Message::new(Role::User, text, Trust::Owner))),
        1 => Just(Event::ModelFailed { class: FailureClass::Rate, message: String::new() }),
        1 => Just(Event::ModelFailed { class: FailureClass::Cancelled, message: String::new() }),
        1 => Just(Event::EndAfterCalls),
        1 => Just(Event::Cancel),
    ]
}

/// What a driver saw of a turn.
#[derive(Default)]
struct Seen {
    stored: Vec<Message>,
    calls_with_tools: u32,
    calls_without: u32,
    steered: usize,
    unanswered: usize,
    ends: usize,
}

impl Seen {
    fn take(&mut self, effects: &[Effect]) {
        for effect in effects {
            assert_eq!(self.ends, 0, "{effect:?} after the end");
            match effect {
                Effect::CallModel { tools: true, .. } => self.calls_with_tools += 1,
                Effect::CallModel { tools: false, .. } | Effect::Decide { .. } => self.calls_without += 1,
                Effect::RunTools { calls } => {
                    assert!(!calls.is_empty());
                    assert!(calls.iter().all(|planned| TOOLS.contains(&planned.call.name.as_str())));
                }
                Effect::AskOwner { calls } => assert!(!calls.is_empty()),
                Effect::StoreMessages { batch } => {
                    self.steered += batch.iter().filter(|message| message.role == Role::User).count();
                    self.stored.extend(batch.iter().cloned());
                }
                // Screens are asked for nowhere here.
                Effect::TellNotDrawn { why } => panic!("{why}"),
                Effect::Deliver { text } => assert!(!text.trim().is_empty()),
                Effect::End { unanswered, .. } => {
                    self.unanswered = unanswered.len();
                    self.ends += 1;
                }
            }
            assert_eq!(unpaired(&self.stored), None);
            let too_long = |message: &&Message| message.role == Role::Tool && message.text.chars().count() > 120;
            assert_eq!(self.stored.iter().find(too_long), None);
        }
        assert!(self.calls_with_tools <= LIMITS.calls_with_tools && self.calls_without <= 1);
    }
}

/// Answers whatever the turn waits for by calling tools again and again: the longest way to the end.
fn stubborn(turn: &Turn, step: usize, trust: Trust) -> Event {
    match turn.pending().remove(0) {
        Effect::RunTools { calls } => Event::Timer { id: calls[0].call.id.clone() },
        Effect::AskOwner { calls } => {
            Event::Decided { id: calls[0].call.id.clone(), approved: step.is_multiple_of(2), at_ms: 1 }
        }
        _ => {
            let call =
                ToolCall { id: CallId::new("c1"), name: "clock".to_owned(), arguments: format!("{{\"n\":{step}}}") };
            Event::Reply(Labelled::new(Reply::calls(vec![call]), trust))
        }
    }
}

proptest! {
    // ARC-012 ARC-013 SEC-002 KAI-112 KAI-114 LES-144
    #[test]
    fn a_turn_keeps_its_promises_and_always_ends(events in prop::collection::vec(event(), 0..40)) {
        let (mut turn, effects) = Turn::start(start());
        let mut seen = Seen::default();
        seen.take(&effects);
        let mut taken = Vec::new();
        let mut steering = 0;
        for event in events {
            steering += usize::from(turn.outcome().is_none() && matches!(event, Event::Steer(_)));
            seen.take(&turn.on(event.clone()));
            taken.push(event);
            prop_assert_eq!(&Turn::resume(start(), taken.iter().cloned()), &turn);
        }
        for step in 0..40 {
            if turn.outcome().is_some() { break }
            let event = stubborn(&turn, step, Trust::Owner);
            seen.take(&turn.on(event));
        }
        prop_assert_eq!(seen.ends, 1);
        prop_assert_eq!(&seen.stored[..], turn.in_flight());
        prop_assert_eq!(seen.steered + seen.unanswered, steering);
    }
}

/// The same event of a model that has read what somebody wrote.
fn having_read(event: Event, trust: Trust) -> Event {
    match event {
        Event::Reply(reply) => Event::Reply(Labelled::new(reply.into_parts().0, trust)),
        Event::Chunk { text } => Event::Chunk { text: Labelled::new(text.into_parts().0, trust) },
        other => other,
    }
}

proptest! {
    // SEC-055
    #[test]
    fn what_the_model_wrote_has_the_label_of_what_it_had_read(
        events in prop::collection::vec(event(), 0..40),
        trust in label(),
    ) {
        let (mut turn, _) = Turn::start(start());
        for event in events {
            turn.on(having_read(event, trust));
        }
        for step in 0..40 {
            if turn.outcome().is_some() { break }
            let event = stubborn(&turn, step, trust);
            turn.on(event);
        }
        for message in turn.in_flight() {
            if message.role == Role::Assistant {
                prop_assert_eq!(message.trust, trust);
            }
            // A refusal has no boundary, so it repeats nothing of what the model wrote.
            if message.role == Role::Tool && trust.is_foreign() {
                prop_assert!(!message.text.contains("`rm`"), "{}", message.text);
            }
        }
    }
}

// SEC-073
#[test]
fn of_400_calls_32_run_and_the_rest_is_refused_in_one_sentence() {
    let (mut turn, _) = Turn::start(start());
    let call = |at: usize| ToolCall { id: CallId::new(format!("x{at}")), name: "clock".into(), arguments: "{}".into() };
    let reply = Reply { calls: (0..400).map(call).collect(), ..Reply::default() };
    let effects = turn.on(Event::Reply(Labelled::new(reply, Trust::Owner)));
    let run = effects.iter().find_map(|effect| match effect {
        Effect::RunTools { calls } => Some(calls.len()),
        _ => None,
    });
    assert_eq!(run, Some(32), "{effects:?}");
}

/// Whoever carries a turn on has to know of them: what was asked for is not asked for again as if it never was.
// SEC-041 SEC-069 SEC-073
#[test]
fn calls_of_a_reply_are_calls_of_the_turn_before_all_of_them_have_ended() {
    let call =
        |id: &str| ToolCall { id: CallId::new(id), name: "clock".into(), arguments: format!("{{\"n\":\"{id}\"}}") };
    let reply =
        |ids: &[&str]| Event::Reply(Labelled::new(Reply::calls(ids.iter().map(|id| call(id)).collect()), Trust::Owner));
    let done = |id: &str| Event::ToolDone {
        id: CallId::new(id),
        outcome: ToolOutcome::done(Labelled::new(String::new(), Trust::Owner), String::new),
    };
    let turn = Turn::resume(start(), [reply(&["a"]), done("a"), reply(&["b", "c"]), done("b")]);
    let calls: Vec<(&str, bool)> = turn.calls().map(|call| (call.id.as_str(), turn.is_open(&call.id))).collect();
    assert_eq!(calls, [("a", false), ("b", false), ("c", true)]);
    let ended = Turn::resume(start(), [reply(&["a"]), done("a"), reply(&["b", "c"]), done("b"), done("c")]);
    assert_eq!(ended.calls().count(), 3, "each of them once");
}

/// Whoever tells of calls that never ran tells of each once.
// KAI-113
#[test]
fn a_call_that_is_refused_is_told_with_its_own_reply_alone() {
    let reply = |reply| Event::Reply(Labelled::new(reply, Trust::Owner));
    let call = ToolCall { id: CallId::new("a"), name: "rm".into(), arguments: "{}".into() };
    let (mut turn, _) = Turn::start(TurnStart { decision: Some("decide".into()), ..start() });
    turn.on(reply(Reply::calls(vec![call])));
    assert_eq!(turn.unrun().len(), 1);
    turn.on(reply(Reply::text("Nothing is up.")));
    assert_eq!(turn.unrun(), []);
}
