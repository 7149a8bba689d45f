//! Streams as they were seen from providers and from odd servers, and the events that they stand for.
//!
//! A case is a file `cases/<protocol>/<name>.txt`; its events are the snapshot of the same name.

use limpid_core::ToolCall;
use proptest::prelude::*;

use super::{Adapter as _, Frames, Protocol};
use crate::call_ids::CallIds;
use crate::errors::Fault;
use crate::model::{ModelEvent, StateRule};

/// The events of a body that came in these chunks, and the fault that it ended with.
fn decode(protocol: Protocol, frames: Frames, chunks: &[&[u8]]) -> (Vec<ModelEvent>, Option<Fault>) {
    decode_opened(protocol, frames, chunks, false)
}

/// The same for a model whose text may begin inside its reasoning.
fn decode_opened(
    protocol: Protocol,
    frames: Frames,
    chunks: &[&[u8]],
    opened: bool,
) -> (Vec<ModelEvent>, Option<Fault>) {
    let mut frames = frames;
    let rule = protocol.state_rule(StateRule { in_chat: true, ..StateRule::default() });
    let mut decoder = protocol.decoder(CallIds::at(2), rule, opened);
    let mut events = Vec::new();
    let mut payloads: Vec<String> = chunks.iter().flat_map(|chunk| frames.feed(chunk).unwrap()).collect();
    payloads.extend(frames.finish());
    for payload in payloads {
        if let Err(fault) = decoder.feed(&payload, &mut events) {
            return (events, Some(fault));
        }
    }
    let fault = decoder.finish(&mut events).err();
    (events, fault)
}

fn calls(events: &[ModelEvent]) -> Vec<&ToolCall> {
    events.iter().filter_map(|event| if let ModelEvent::Call(call) = event { Some(call) } else { None }).collect()
}

// LES-141 MOD-023 MOD-082
#[test]
fn recorded_streams_have_their_events() {
    insta::glob!("cases/*/*.txt", |path| {
        let name = path.parent().and_then(|folder| folder.file_name()).unwrap().to_str().unwrap();
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.as_str() == name).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        // A server that does not stream sends one document.
        let frames =
            if text.starts_with('{') && protocol != Protocol::Ollama { Frames::whole() } else { protocol.frames() };
        let opened = path.file_name().unwrap().to_str().unwrap().starts_with("opened-");
        let (events, fault) = decode_opened(protocol, frames, &[text.as_bytes()], opened);
        let lines: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
        let end = fault.map(|fault| format!("\n{fault:?}")).unwrap_or_default();
        insta::assert_snapshot!(format!("{}{end}", lines.join("\n")));
    });
}

/// One reply with everything in it, in each protocol's words.
const WHOLE: [(Protocol, &str); 5] = [
    (Protocol::OpenaiChat, include_str!("cases/openai-chat/whole.txt")),
    (Protocol::OpenaiResponses, include_str!("cases/openai-responses/whole.txt")),
    (Protocol::Anthropic, include_str!("cases/anthropic/whole.txt")),
    (Protocol::Gemini, include_str!("cases/gemini/whole.txt")),
    (Protocol::Ollama, include_str!("cases/ollama/whole.txt")),
];

// LES-141
#[test]
fn a_stream_cut_at_any_byte_reports_no_call_that_is_not_whole() {
    for (protocol, text) in WHOLE {
        let (whole, fault) = decode(protocol, protocol.frames(), &[text.as_bytes()]);
        assert_eq!(fault, None);
        let whole = calls(&whole);
        assert!(!whole.is_empty(), "{protocol:?}");
        for end in 0..text.len() {
            let (events, fault) = decode(protocol, protocol.frames(), &[&text.as_bytes()[..end]]);
            let some = calls(&events);
            assert!(some.is_empty() || some == whole, "{protocol:?} {end}: {some:?}");
            assert!(some.is_empty() || fault.is_none(), "{protocol:?} {end}: calls beside {fault:?}");
            assert_eq!(fault.is_none(), matches!(events.last(), Some(ModelEvent::End(_))), "{protocol:?} {end}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn where_the_bytes_are_cut_makes_no_difference(at in 0usize..5, cuts in proptest::collection::vec(0.0f64..1.0, 0..10)) {
        let (protocol, text) = WHOLE[at];
        let bytes = text.as_bytes();
        let mut borders: Vec<usize> = cuts.into_iter().map(|share| (share * bytes.len() as f64) as usize).collect();
        borders.extend([0, bytes.len()]);
        borders.sort_unstable();
        let chunks: Vec<&[u8]> = borders.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(decode(protocol, protocol.frames(), &chunks), decode(protocol, protocol.frames(), &[bytes]));
    }

    #[test]
    fn no_stream_makes_a_decoder_panic(at in 0usize..5, text: String, json in any_json()) {
        let protocol = Protocol::ALL[at];
        decode(protocol, Frames::whole(), &[text.as_bytes()]);
        decode(protocol, Frames::whole(), &[json.to_string().as_bytes()]);
    }
}

/// Documents that use the protocols' own names with values of any type.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[a-z_.]{0,8}".prop_map(Into::into),
    ];
    let name = proptest::sample::select(vec![
        "choices",
        "delta",
        "tool_calls",
        "function",
        "arguments",
        "index",
        "type",
        "item",
        "response",
        "usage",
        "message",
        "content",
        "candidates",
        "parts",
        "functionCall",
        "args",
        "done",
        "error",
        "finish_reason",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::vec((name.clone(), inner), 0..5)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}
