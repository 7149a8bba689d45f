//! Spans as OpenTelemetry's conventions for generative AI name them (`docs/telemetry.md`).

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use limpid_core::{FailureClass, Usage};
use opentelemetry::trace::{SpanContext, SpanKind, Status, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, SpanId, StringValue, TraceId, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use crate::facts::{RequestFacts, ToolFacts, ToolFailure, TurnEnd, TurnFacts};
use crate::ids;

/// Letters of a name at most; a longer one is left out.
const LONGEST: usize = 128;

/// The span of a turn.
pub(crate) fn of_turn(facts: &TurnFacts<'_>) -> SpanData {
    let (trace, span) = ids::of_turn(facts.turn);
    let mut attributes = vec![KeyValue::new("gen_ai.operation.name", "invoke_agent")];
    add(&mut attributes, "gen_ai.conversation.id", named(facts.conversation.as_str()));
    add(&mut attributes, "limpid.path", named(facts.path));
    let (outcome, error) = match facts.end {
        TurnEnd::Answered => ("answered", None),
        TurnEnd::Cancelled => ("cancelled", None),
        TurnEnd::Failed(class) => ("failed", Some(class.as_str())),
    };
    attributes.push(KeyValue::new("limpid.outcome", outcome));
    let mut made = data((trace, span), None, Cow::Borrowed("invoke_agent"), (facts.began_ms, facts.ended_ms));
    made.status = status(error, &mut attributes);
    made.attributes = attributes;
    if let Some((turn, call)) = facts.started_by {
        // It goes on when the turn that started it has ended, so it is a trace of its own that names the other one.
        let link = context(ids::of_turn(turn).0, ids::of_call(turn, call));
        made.links.links.push(opentelemetry::trace::Link::with_context(link));
    }
    made
}

/// The span of a request to a model.
pub(crate) fn of_request(facts: &RequestFacts<'_>) -> SpanData {
    let (own_trace, span) = ids::of_request(facts.id);
    let parent = facts.turn.map(ids::of_turn);
    let trace = parent.map_or(own_trace, |(trace, _)| trace);
    let is_local = facts.target.starts_with("local:");
    let model = if is_local { model_of_file(facts.model) } else { facts.model };
    let mut attributes = vec![KeyValue::new("gen_ai.operation.name", "chat")];
    add(&mut attributes, "gen_ai.provider.name", named(provider(facts.provider)));
    add(&mut attributes, "gen_ai.request.model", named(model));
    add(&mut attributes, "gen_ai.response.model", facts.answered_by.and_then(named));
    add(&mut attributes, "gen_ai.conversation.id", facts.conversation.and_then(|id| named(id.as_str())));
    add(&mut attributes, "limpid.path", named(facts.path));
    if let Some((host, port)) = server(facts.target) {
        add(&mut attributes, "server.address", named(&host));
        attributes.push(KeyValue::new("server.port", i64::from(port)));
    }
    if let Some(finish) = facts.finish.and_then(finish) {
        let reasons = vec![StringValue::from(finish)];
        attributes.push(KeyValue::new("gen_ai.response.finish_reasons", Value::Array(reasons.into())));
    }
    if let Some(first_ms) = facts.first_ms {
        let seconds = first_ms.saturating_sub(facts.sent_ms) as f64 / 1000.0;
        attributes.push(KeyValue::new("gen_ai.response.time_to_first_chunk", seconds));
    }
    facts.usage.iter().for_each(|usage| add_usage(&mut attributes, usage));
    if let Some(cost) = facts.cost {
        attributes.push(KeyValue::new("limpid.cost_usd", cost.0 as f64 / 1e6));
    }
    let name = named(model).map_or("chat".to_owned(), |model| format!("chat {model}"));
    let parent = parent.map(|(_, span)| span);
    let mut made = data((trace, span), parent, name.into(), (facts.sent_ms, facts.ended_ms));
    made.span_kind = if is_local { SpanKind::Internal } else { SpanKind::Client };
    made.status = status(facts.failure.map(FailureClass::as_str), &mut attributes);
    made.attributes = attributes;
    made
}

/// The span of a call of a tool.
pub(crate) fn of_tool(facts: &ToolFacts<'_>) -> SpanData {
    let (trace, parent) = ids::of_turn(facts.turn);
    let span = ids::of_call(facts.turn, facts.call);
    let mut attributes = vec![KeyValue::new("gen_ai.operation.name", "execute_tool")];
    add(&mut attributes, "gen_ai.tool.name", named(facts.tool));
    add(&mut attributes, "gen_ai.conversation.id", named(facts.conversation.as_str()));
    let name = named(facts.tool).map_or("execute_tool".to_owned(), |tool| format!("execute_tool {tool}"));
    let mut made = data((trace, span), Some(parent), name.into(), (facts.began_ms, facts.ended_ms));
    made.status = status(facts.failure.map(ToolFailure::as_str), &mut attributes);
    made.attributes = attributes;
    made
}

fn data(
    (trace, span): (TraceId, SpanId),
    parent: Option<SpanId>,
    name: Cow<'static, str>,
    (began_ms, ended_ms): (i64, i64),
) -> SpanData {
    SpanData {
        span_context: context(trace, span),
        parent_span_id: parent.unwrap_or(SpanId::INVALID),
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name,
        start_time: time(began_ms),
        // A clock that was set back makes no span that ends before it begins.
        end_time: time(ended_ms.max(began_ms)),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
            .with_version(env!("CARGO_PKG_VERSION"))
            .build(),
    }
}

fn context(trace: TraceId, span: SpanId) -> SpanContext {
    SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
}

fn time(ms: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or_default())
}

fn status(error: Option<&'static str>, attributes: &mut Vec<KeyValue>) -> Status {
    let Some(class) = error else { return Status::Unset };
    attributes.push(KeyValue::new("error.type", class));
    // What went wrong in words may repeat what somebody wrote.
    Status::error("")
}

fn add(attributes: &mut Vec<KeyValue>, key: &'static str, value: Option<&str>) {
    attributes.extend(value.map(|value| KeyValue::new(key, value.to_owned())));
}

fn add_usage(attributes: &mut Vec<KeyValue>, usage: &Usage) {
    let counts = [
        ("gen_ai.usage.input_tokens", Some(usage.input)),
        ("gen_ai.usage.output_tokens", Some(usage.output)),
        ("gen_ai.usage.cache_read.input_tokens", Some(usage.cached)),
        ("gen_ai.usage.cache_creation.input_tokens", Some(usage.cache_written).filter(|count| *count > 0)),
        ("gen_ai.usage.reasoning.output_tokens", Some(usage.reasoning).filter(|count| *count > 0)),
    ];
    for (key, count) in counts {
        let count = count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        attributes.extend(count.map(|count| KeyValue::new(key, count)));
    }
}

/// A name as it stands, when it is one: a provider, a server of tools or a small model may have put a sentence in its place.
fn named(name: &str) -> Option<&str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-:/@+".contains(letter);
    (!name.is_empty() && name.len() <= LONGEST && name.chars().all(is_plain)).then_some(name)
}

/// A provider by the conventions' name for it, where they have one.
fn provider(name: &str) -> &str {
    match name {
        "gemini" => "gcp.gemini",
        "mistral" => "mistral_ai",
        "moonshot" | "moonshotai" => "moonshot_ai",
        "xai" => "x_ai",
        other => other,
    }
}

/// The name of a model in this process, which may have been given as a file.
fn model_of_file(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".gguf")
}

/// Why an answer was over, by the conventions' words. A provider's own word is left out.
fn finish(word: &str) -> Option<&'static str> {
    Some(match word {
        "stop" => "stop",
        "calls" => "tool_call",
        "length" => "length",
        "moderated" => "content_filter",
        _ => return None,
    })
}

/// The machine and the port of an address.
fn server(target: &str) -> Option<(String, u16)> {
    let url = reqwest::Url::parse(target).ok()?;
    Some((url.host_str()?.trim_matches(['[', ']']).to_owned(), url.port_or_known_default()?))
}

#[cfg(test)]
mod tests;
