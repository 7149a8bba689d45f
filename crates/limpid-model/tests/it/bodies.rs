//! The bodies of requests, byte for byte, in every protocol.

use crate::support::{call, card, endpoint, inputs, prompt, second_turn, with_protocol};
use limpid_core::{CacheLife, Price, Rates, ToolProtocol};
use limpid_model::{Abilities, ForcedTools, Model, ModelCall, ModelCard, ReplyForm, Sampling, ToolUse};
use limpid_prompt::Inputs;
use limpid_testkit::{Wire, keep_body};
use serde_json::json;

/// Providers by the protocol that they speak at another address.
const PROVIDERS: [(&str, Wire); 4] =
    [("openai", Wire::OpenAiChat), ("anthropic", Wire::Anthropic), ("gemini", Wire::Gemini), ("ollama", Wire::Ollama)];

fn body(provider: &str, tools: ToolProtocol, call: &ModelCall) -> String {
    let endpoint = endpoint(provider, "http://127.0.0.1:1/v1", 1_000);
    limpid_model::RemoteModel::new(card(provider, tools), endpoint).unwrap().prepare(call).unwrap().body
}

fn responses_body(call: &ModelCall) -> String {
    responses_body_of(card("openai", ToolProtocol::Native), call)
}

fn responses_body_of(card: ModelCard, call: &ModelCall) -> String {
    let endpoint = limpid_model::Endpoint {
        protocol: limpid_model::protocol::Protocol::OpenaiResponses,
        ..endpoint("openai", "http://127.0.0.1:1/v1", 1_000)
    };
    limpid_model::RemoteModel::new(card, endpoint).unwrap().prepare(call).unwrap().body
}

fn all_bodies(call: &ModelCall) -> Vec<(Wire, String)> {
    let mut bodies: Vec<(Wire, String)> =
        PROVIDERS.map(|(provider, wire)| (wire, body(provider, ToolProtocol::Native, call))).to_vec();
    bodies.push((Wire::OpenAiResponses, responses_body(call)));
    for (wire, body) in &bodies {
        keep_body(*wire, body.as_bytes());
    }
    bodies
}

/// A body laid out for reading; the bytes themselves are compared elsewhere.
fn laid_out(body: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(body).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

#[test]
fn a_second_turn_with_everything_in_it() {
    let everything = ModelCall {
        sampling: Sampling { temperature: Some(0.7), top_p: Some(0.9), seed: Some(7), max_output: Some(512) },
        conversation: Some("c-1".to_owned()),
        cache: CacheLife::Minutes,
        ..call(prompt(&second_turn()))
    };
    for (wire, body) in all_bodies(&everything) {
        insta::assert_snapshot!(format!("second-turn-{}", wire.name()), laid_out(&body));
    }
}

#[test]
fn tool_choices_and_reply_forms() {
    let base = call(prompt(&inputs()));
    let json = ReplyForm::Json {
        name: "verdict".to_owned(),
        schema: json!({"type": "object", "properties": {"b": {}, "a": {}}}),
    };
    let must = ModelCall { tools: ToolUse::Must("tell_time".to_owned()), ..base.clone() };
    let never = ModelCall { tools: ToolUse::Never, reply: json, ..base };
    let rows: Vec<String> = [("must", must), ("never, JSON", never)]
        .iter()
        .flat_map(|(name, call)| {
            all_bodies(call).into_iter().map(move |(wire, body)| {
                let mut value: serde_json::Value = serde_json::from_str(&body).unwrap();
                let fields = value.as_object_mut().unwrap();
                for shown in ["messages", "input", "contents", "systemInstruction", "system"] {
                    fields.shift_remove(shown);
                }
                fields.entry("tools").and_modify(|tools| *tools = json!("…"));
                format!("{name} {}: {value}", wire.name())
            })
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"));
}

// MOD-070 MOD-073
#[test]
fn nothing_is_said_about_sampling_or_forced_to_a_model_that_is_not_known_to_take_it() {
    let must = ModelCall {
        sampling: Sampling { temperature: Some(0.7), top_p: Some(0.9), seed: Some(7), max_output: Some(512) },
        tools: ToolUse::Must("tell_time".to_owned()),
        ..call(prompt(&inputs()))
    };
    for provider in ["openai", "anthropic", "gemini", "ollama"] {
        for forced_tools in [None, Some(ForcedTools::Never), Some(ForcedTools::WithoutReasoning)] {
            let abilities = Abilities { forced_tools, ..Abilities::default() };
            let card = ModelCard { abilities, thinking: true, ..card(provider, ToolProtocol::Native) };
            let endpoint = endpoint(provider, "http://127.0.0.1:1/v1", 1_000);
            let prepared = limpid_model::RemoteModel::new(card, endpoint).unwrap().prepare(&must).unwrap();
            for word in ["temperature", "top_p", "topP", "seed", "tool_choice", "toolConfig"] {
                assert!(!prepared.body.contains(word), "{provider}: {}", prepared.body);
            }
            assert!(prepared.body.contains("512"), "the limit of the reply stays: {}", prepared.body);
            assert_eq!((prepared.call.tools, prepared.call.sampling.temperature), (ToolUse::Auto, None));
        }
    }
}

#[test]
fn the_texts_on_the_wire_are_the_prompts() {
    for inputs in [inputs(), second_turn()] {
        let prompt = prompt(&inputs);
        let mut wanted: Vec<(String, String)> =
            prompt.messages().iter().map(|message| (message.role().to_string(), message.text().to_owned())).collect();
        wanted.retain(|(_, text)| !text.is_empty());
        for (wire, body) in all_bodies(&call(prompt)) {
            let sent = wire.texts(&serde_json::from_str(&body).unwrap());
            let sent: Vec<(String, String)> = sent.into_iter().map(|sent| (sent.role, sent.text)).collect();
            assert_eq!(sent, wanted, "{}", wire.name());
        }
    }
}

/// Where the messages end: before the bracket that closes their list, or the last message's.
fn up_to_last_message(body: &str, list: &str) -> String {
    let start = body.find(list).unwrap() + list.len();
    let mut depth = 1;
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in body[start..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return body[..start + at].to_owned();
        }
    }
    panic!("the list does not end")
}

#[test]
fn the_second_turn_begins_with_all_the_bytes_of_the_first_ones_messages() {
    // Without marks, which move on by their nature.
    let first = body("openai", ToolProtocol::Native, &call(prompt(&inputs())));
    let second = body("openai", ToolProtocol::Native, &call(prompt(&second_turn())));
    let kept = up_to_last_message(&first, "\"messages\":[");
    assert!(kept.ends_with(r#"{"role":"user","content":"hi"}"#), "{kept}");
    assert!(second.starts_with(&kept), "{kept}\n{second}");

    let first = responses_body(&call(prompt(&inputs())));
    let second = responses_body(&call(prompt(&second_turn())));
    assert!(second.starts_with(&up_to_last_message(&first, "\"input\":[")));

    let [first, second] =
        [inputs(), second_turn()].map(|inputs| body("ollama", ToolProtocol::Native, &call(prompt(&inputs))));
    assert!(second.starts_with(&up_to_last_message(&first, "\"messages\":[")));
    let [first, second] =
        [inputs(), second_turn()].map(|inputs| body("gemini", ToolProtocol::Native, &call(prompt(&inputs))));
    assert!(second.starts_with(&up_to_last_message(&first, "\"contents\":[")));
}

#[test]
fn the_same_call_has_the_same_bytes() {
    for (one, other) in all_bodies(&call(prompt(&second_turn()))).iter().zip(all_bodies(&call(prompt(&second_turn()))))
    {
        assert_eq!(*one, other);
    }
}

// PRO-043
#[test]
fn anthropic_gets_marks_at_the_end_of_the_fixed_part_and_of_the_history() {
    let body = body("anthropic", ToolProtocol::Native, &call(prompt(&second_turn())));
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["system"][0]["cache_control"], mark);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[messages.len() - 2]["content"][0]["cache_control"], mark);
    assert_eq!(body.to_string().matches("cache_control").count(), 2);
}

// MOD-052
#[test]
fn what_lasts_is_kept_for_an_hour_before_what_does_not_and_nothing_when_that_is_off() {
    let mut running = second_turn();
    running.in_flight = running.history[1..4].to_vec();
    let asked = |cache| ModelCall { cache, ..call(prompt(&running)) };
    let marks = |body: &str| -> Vec<String> {
        let marks = body.split("\"cache_control\":").skip(1);
        marks.map(|rest| rest.split_once('}').unwrap().0.to_owned() + "}").collect()
    };
    let of = |provider: &str, cache| marks(&body(provider, ToolProtocol::Native, &asked(cache)));
    let (minutes, hour) = (r#"{"type":"ephemeral"}"#, r#"{"type":"ephemeral","ttl":"1h"}"#);
    assert_eq!(of("anthropic", CacheLife::Minutes), [minutes; 3]);
    assert_eq!(of("anthropic", CacheLife::Hour), [hour, hour, minutes], "fixed part, history, running turn");
    assert_eq!(of("anthropic", CacheLife::Off), [""; 0]);
    let paid = Price::flat(2.0, 0.2, 8.0);
    let paid = Price { base: Rates { cache_written: 2.5, ..paid.base }, ..Price::default() };
    let responses = |cache| -> serde_json::Value {
        let card = ModelCard { price: Some(paid.clone()), ..card("openai", ToolProtocol::Native) };
        serde_json::from_str(&responses_body_of(card, &asked(cache))).unwrap()
    };
    // Without a mark the provider keeps nothing, unless it may choose by itself.
    let off = responses(CacheLife::Off);
    assert_eq!(off["prompt_cache_options"], json!({"mode": "explicit"}));
    assert!(!off.to_string().contains("prompt_cache_breakpoint"));
    assert_eq!(responses(CacheLife::Hour), responses(CacheLife::Minutes), "there is one length only");
}

// LES-024
#[test]
fn a_long_turn_with_many_tools_has_four_marks_and_none_of_them_in_the_tools() {
    let mut many = second_turn();
    many.history = (0..20).flat_map(|_| many.history.clone()).collect();
    many.in_flight = (0..5).flat_map(|_| many.history[1..4].to_vec()).collect();
    let server = |n: usize| (0..10).map(move |tool| format!("server_{n}_tool_{tool}"));
    many.tools = (0..6).flat_map(server).map(|name| crate::support::tool(&name, "query")).collect();
    let body = body("anthropic", ToolProtocol::Native, &call(prompt(&many)));
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["tools"].as_array().unwrap().len(), 60);
    assert!(!body["tools"].to_string().contains("cache_control"));
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
}

// MOD-053
#[test]
fn where_the_cache_is_paid_for_only_what_is_marked_is_kept() {
    let free = Price::flat(2.0, 0.2, 8.0);
    let paid = Price { base: Rates { cache_written: 2.5, ..free.base }, ..Price::default() };
    let responses = |inputs: &Inputs, price: Price| -> serde_json::Value {
        let card = ModelCard { price: Some(price), ..card("openai", ToolProtocol::Native) };
        serde_json::from_str(&responses_body_of(card, &call(prompt(inputs)))).unwrap()
    };
    let mut running = second_turn();
    running.in_flight = running.history[1..4].to_vec();
    let body = responses(&running, paid);
    let explicit = json!({"mode": "explicit"});
    assert_eq!(body["prompt_cache_options"], explicit);
    let input = body["input"].as_array().unwrap();
    let marked: Vec<usize> = (0..input.len())
        .filter(|at| {
            let item = &input[*at];
            [&item["content"][0], &item["output"][0]].iter().any(|part| part["prompt_cache_breakpoint"] == explicit)
        })
        .collect();
    // What the model said cannot bear a mark; the fixed part and the newest result do.
    assert_eq!(marked, [0, input.len() - 1]);
    // A mark that moves changes nothing else: the texts are in parts either way.
    assert!(
        input
            .iter()
            .all(|item| item["role"] == "assistant" || !item["content"].is_string() && !item["output"].is_string())
    );
    let free = responses(&running, free);
    assert!(!free.to_string().contains("prompt_cache_breakpoint") && free["prompt_cache_options"].is_null());
}

#[test]
fn a_model_without_native_calls_reads_them_as_messages() {
    let inputs = with_protocol(second_turn(), ToolProtocol::Json);
    let body = body("openai", ToolProtocol::Json, &call(prompt(&inputs)));
    insta::assert_snapshot!(laid_out(&body));
}

#[test]
fn a_tool_that_must_be_called_must_be_offered() {
    let call = ModelCall { tools: ToolUse::Must("rm_rf".to_owned()), ..call(prompt(&inputs())) };
    let endpoint = endpoint("openai", "http://127.0.0.1:1/v1", 1_000);
    let model = limpid_model::RemoteModel::new(card("openai", ToolProtocol::Native), endpoint).unwrap();
    let error = model.prepare(&call).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tool `rm_rf` must be called, but the prompt does not offer it; add it to the path's tools"
    );
}

// SEC-032
#[test]
fn what_is_prepared_holds_no_secret() {
    let endpoint = endpoint("openai", "http://me:hunter22@127.0.0.1:1/v1?token=sk-test-secret", 1_000);
    let model = limpid_model::RemoteModel::new(card("openai", ToolProtocol::Native), endpoint).unwrap();
    let prepared = model.prepare(&call(prompt(&inputs()))).unwrap();
    assert_eq!(prepared.target, "http://127.0.0.1:1/v1/chat/completions");
    let shown = format!("{prepared:?}");
    assert!(!shown.contains("hunter22") && !shown.contains("sk-test-secret"), "{shown}");
}
