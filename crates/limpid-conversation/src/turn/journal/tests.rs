//! Entries as they are written and read.

use limpid_core::state::Span;

use limpid_core::{FailureClass, Labelled, Message, ProviderState, Role, ToolCall, Trust};
use limpid_turn::{Finish, Reply, ToolOutcome, Why};

use super::*;

fn row(seq: u64, entry: &Entry) -> TurnEvent {
    let NewEvent { kind, payload, shared, trust, .. } = entry.clone().into_row(Kept::UntilEnd).unwrap();
    TurnEvent { seq, kind, payload, shared, trust, at_ms: 0 }
}

// SEC-041 MOD-001
#[test]
fn every_entry_is_read_as_it_was_written() {
    let call = ToolCall { id: CallId::new("c1"), name: "clock".into(), arguments: "{\"a\":".into() };
    let thought = ProviderState {
        protocol: "anthropic".into(),
        model: "anthropic/claude".into(),
        json: "{\"thinking\":\"\"}".into(),
        span: Span { text: 0..1, calls: 0..0 },
        after: Some("00ff".into()),
    };
    let done = ToolOutcome::done(Labelled::outside("12:00".to_owned()), || "00ff".into());
    let began = TurnStarted {
        model: "openai/gpt-5".into(),
        profile: "limpid".into(),
        path: "chat-remote".into(),
        inputs: Inputs {
            soul: Some("Kind.\n".into()),
            tools: vec![ToolInput { name: "clock".into(), ..ToolInput::default() }],
            more_tools: vec!["radio: Plays".into()],
            ..Inputs::default()
        },
        tools: vec![("clock".into(), 30)],
        calls_with_tools: 15,
        result_chars: 20_000,
        effort: EffortChoice::default(),
        cache: CacheLife::Hour,
        own_result_chars: [("clock".into(), 50)].into(),
    };
    let steer = Message { boundary: Some("0a".into()), ..Message::new(Role::User, "and?", Trust::Guest) };
    let reply = Reply { text: "x".into(), calls: vec![call], state: vec![thought], finish: Finish::Length };
    let event = |event| Entry::Event(event, None);
    let entries = [
        Entry::Started(Box::new(began)),
        Entry::ToolsStarted(vec![CallId::new("c1")]),
        Entry::Reserved(Reserved::By { call: "c1".into(), calls: vec![reserved()] }),
        Entry::Reserved(Reserved::Unknown(vec![reserved()])),
        Entry::Spent(0),
        event(Event::Chunk { text: Labelled::new("It\n".into(), Trust::Owner) }),
        event(Event::Reply(Labelled::new(reply, Trust::Guest))),
        event(Event::ModelFailed { class: FailureClass::Rate, message: "slow down".into() }),
        event(Event::ToolDone { id: CallId::new("c1"), outcome: done }),
        event(Event::ToolDone { id: CallId::new("c1"), outcome: ToolOutcome::refused("no") }),
        event(Event::Held {
            id: CallId::new("c1"),
            why: Why {
                reason: "text from outside was read".into(),
                about: Some("memory 4, tea: black".into()),
                bound_to: "00ff".into(),
            },
        }),
        event(Event::Decided { id: CallId::new("c1"), approved: true, at_ms: 7 }),
        event(Event::Timer { id: CallId::new("c1") }),
        Entry::Event(Event::Steer(steer), Some(InboundId(7))),
        event(Event::EndAfterCalls),
        event(Event::Cancel),
    ];
    let rows: Vec<TurnEvent> = entries.iter().zip(1..).map(|(entry, seq)| row(seq, entry)).collect();
    let read: Vec<Entry> = rows.iter().map(|row| Entry::from_row(row).unwrap()).collect();
    assert_eq!(read, entries);
    let shown: Vec<String> =
        rows[1..].iter().map(|row| format!("{} {} {}", row.kind, row.trust, row.payload)).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

fn reserved() -> Reservation {
    serde_json::from_str(r#"{"tool":"send","arguments":{"to":"ada"},"times":2}"#).unwrap()
}

// SEC-041
#[test]
fn an_entry_of_an_older_version_is_read() {
    let old = include_str!("began-0.1.json");
    let row = |shared: Option<&str>| TurnEvent {
        seq: 1,
        kind: "began".into(),
        payload: old.into(),
        shared: shared.map(str::to_owned),
        trust: Trust::Owner,
        at_ms: 0,
    };
    let Entry::Started(began) = Entry::from_row(&row(None)).unwrap() else { panic!("another entry") };
    assert_eq!(began.model, "openai/gpt-4o");
    let names: Vec<&str> = began.inputs.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["memory_store", "get_local_time"]);
    assert_eq!(began.inputs.more_tools, ["read_file: Read a file"]);
}

// LES-142
#[test]
fn an_entry_that_cannot_be_read_is_an_error_that_says_what_to_do() {
    let row = |kind: &str, payload: &str| TurnEvent {
        seq: 3,
        kind: kind.into(),
        payload: payload.into(),
        shared: None,
        trust: Trust::Owner,
        at_ms: 0,
    };
    let told: Vec<String> = [row("reply", "{\"reply\":"), row("began", "{}"), row("dance", "{\"dance\":{}}")]
        .map(|row| Entry::from_row(&row).unwrap_err().of_turn(&TurnId::new("t1"), &ConversationId::new("c1")))
        .map(|error| error.to_string())
        .into();
    for text in &told {
        assert!(text.contains("turn \"t1\" in conversation \"c1\"") && text.contains("limpid chat -c c1"), "{text}");
    }
    assert!(told[0].contains("entry 3 (reply)"), "{}", told[0]);
}
