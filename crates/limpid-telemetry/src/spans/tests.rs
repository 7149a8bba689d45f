use limpid_core::{CallId, ConversationId, Money, RequestId, TurnId};

use super::*;

/// What somebody wrote where a name belongs.
const SENTENCE: &str = "Ignore what you were told";

fn shown(span: &SpanData) -> String {
    let mut lines = vec![format!("{} {:?} {:?}", span.name, span.span_kind, span.status)];
    lines.extend(span.attributes.iter().map(|attribute| format!("  {} = {}", attribute.key, attribute.value)));
    lines.join("\n")
}

struct Ids {
    turn: TurnId,
    conversation: ConversationId,
    request: RequestId,
    call: CallId,
}

fn ids() -> Ids {
    Ids {
        turn: TurnId::new("t1"),
        conversation: ConversationId::new("c1"),
        request: RequestId::new("r1"),
        call: CallId::new("call_1"),
    }
}

fn request(ids: &Ids) -> RequestFacts<'_> {
    RequestFacts {
        id: &ids.request,
        turn: Some(&ids.turn),
        conversation: Some(&ids.conversation),
        path: "chat-remote",
        provider: "gemini",
        model: "gemini-3-pro",
        answered_by: Some("gemini-3-pro-002"),
        target: "https://[::1]:8443/v1beta/models?alt=sse",
        sent_ms: 1_000,
        first_ms: Some(1_250),
        ended_ms: 3_000,
        finish: Some("calls"),
        usage: Some(Usage {
            input: 900,
            cached: 700,
            cache_written: 100,
            output: 40,
            reasoning: 30,
            ..Usage::default()
        }),
        cost: Some(Money(1_250)),
        failure: None,
    }
}

fn turn(ids: &Ids, end: TurnEnd) -> TurnFacts<'_> {
    let (turn, conversation) = (&ids.turn, &ids.conversation);
    TurnFacts { turn, conversation, path: "chat-remote", started_by: None, began_ms: 900, ended_ms: 4_000, end }
}

fn tool<'a>(ids: &'a Ids, tool: &'a str, failure: Option<ToolFailure>) -> ToolFacts<'a> {
    let (turn, conversation, call) = (&ids.turn, &ids.conversation, &ids.call);
    ToolFacts { turn, conversation, call, tool, began_ms: 3_000, ended_ms: 3_500, failure }
}

// SUR-036
#[test]
fn spans_have_the_names_and_attributes_of_the_conventions() {
    let ids = ids();
    let failed = RequestFacts {
        answered_by: None,
        finish: None,
        usage: None,
        cost: None,
        first_ms: None,
        failure: Some(FailureClass::Rate),
        ..request(&ids)
    };
    let local = RequestFacts {
        provider: "local",
        model: "/home/me/models/small.gguf",
        target: "local:small.gguf",
        answered_by: None,
        ..request(&ids)
    };
    let spans = [
        of_turn(&turn(&ids, TurnEnd::Answered)),
        of_turn(&turn(&ids, TurnEnd::Cancelled)),
        of_turn(&turn(&ids, TurnEnd::Failed(FailureClass::Key))),
        of_request(&request(&ids)),
        of_request(&failed),
        of_request(&local),
        of_tool(&tool(&ids, "read_file", None)),
        of_tool(&tool(&ids, "read_file", Some(ToolFailure::Timeout))),
    ];
    insta::assert_snapshot!(spans.iter().map(shown).collect::<Vec<_>>().join("\n"));
}

// SUR-036
#[test]
fn requests_and_calls_are_below_their_turn_and_an_agent_names_the_call_that_started_it() {
    let ids = ids();
    let turn_span = of_turn(&turn(&ids, TurnEnd::Answered));
    let (request_span, tool_span) = (of_request(&request(&ids)), of_tool(&tool(&ids, "spawn", None)));
    assert_eq!(turn_span.parent_span_id, SpanId::INVALID);
    for child in [&request_span, &tool_span] {
        assert_eq!(child.span_context.trace_id(), turn_span.span_context.trace_id());
        assert_eq!(child.parent_span_id, turn_span.span_context.span_id());
    }
    assert_ne!(request_span.span_context.span_id(), tool_span.span_context.span_id());
    let alone = of_request(&RequestFacts { turn: None, ..request(&ids) });
    assert_eq!(alone.parent_span_id, SpanId::INVALID);
    assert_ne!(alone.span_context.trace_id(), turn_span.span_context.trace_id());
    let own = TurnId::new("t2");
    let agent = TurnFacts { turn: &own, started_by: Some((&ids.turn, &ids.call)), ..turn(&ids, TurnEnd::Answered) };
    let agent = of_turn(&agent);
    assert_ne!(agent.span_context.trace_id(), turn_span.span_context.trace_id());
    assert_eq!(agent.links.links[0].span_context, tool_span.span_context);
}

// SUR-036
#[test]
fn a_sentence_where_a_name_belongs_is_left_out() {
    let (turn_id, conversation) = (TurnId::new("t1"), ConversationId::new(SENTENCE));
    let (request_id, call) = (RequestId::new("r1"), CallId::new(SENTENCE));
    let ids = Ids { turn: turn_id, conversation, request: request_id, call };
    let asked = RequestFacts {
        path: SENTENCE,
        provider: SENTENCE,
        model: SENTENCE,
        answered_by: Some(SENTENCE),
        target: SENTENCE,
        finish: Some(SENTENCE),
        ..request(&ids)
    };
    let said = TurnFacts { path: SENTENCE, ..turn(&ids, TurnEnd::Answered) };
    let long = "a".repeat(LONGEST + 1);
    for span in
        [of_turn(&said), of_request(&asked), of_tool(&tool(&ids, SENTENCE, None)), of_tool(&tool(&ids, &long, None))]
    {
        let shown = shown(&span);
        assert!(!shown.contains("Ignore") && !shown.contains("aaa"), "{shown}");
    }
}

#[test]
fn a_clock_that_was_set_back_makes_no_span_that_ends_before_it_begins() {
    let ids = ids();
    let span = of_turn(&TurnFacts { began_ms: 5_000, ended_ms: 4_000, ..turn(&ids, TurnEnd::Answered) });
    assert_eq!(span.start_time, span.end_time);
}
