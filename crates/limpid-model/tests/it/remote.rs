//! Remote models over real sockets, with servers that behave and servers that do not.

use std::time::{Duration, Instant};

use crate::support::{ask, call, card, collect, endpoint, inputs, prompt, remote, second_turn, text, with_protocol};
use futures_util::StreamExt;
use limpid_core::{FailureClass, ToolProtocol};
use limpid_model::provider::{LocalServer, find_servers_at};
use limpid_model::{FinishReason, Model, ModelCall, ModelEvent, RemoteModel};
use limpid_testkit::{Recorder, Reply, Script, Wire};
use tokio_util::sync::CancellationToken;

/// A provider for each protocol, and the end of its base URL.
const PROVIDERS: [(&str, &str, Wire); 4] = [
    ("openai", "/v1", Wire::OpenAiChat),
    ("anthropic", "/v1", Wire::Anthropic),
    ("gemini", "/v1beta", Wire::Gemini),
    ("ollama", "", Wire::Ollama),
];

async fn record(script: &str) -> Recorder {
    Recorder::start(Script::parse(script).unwrap()).await.unwrap()
}

/// A model of each protocol behind this server.
fn models(recorder: &Recorder) -> Vec<(Wire, RemoteModel)> {
    let mut models: Vec<(Wire, RemoteModel)> = PROVIDERS
        .map(|(provider, path, wire)| {
            (wire, remote(provider, &format!("{}{path}", recorder.url()), ToolProtocol::Native))
        })
        .into_iter()
        .collect();
    let responses = limpid_model::Endpoint {
        protocol: limpid_model::protocol::Protocol::OpenaiResponses,
        ..endpoint("openai", &format!("{}/v1", recorder.url()), 5_000)
    };
    models.push((Wire::OpenAiResponses, RemoteModel::new(card("openai", ToolProtocol::Native), responses).unwrap()));
    models
}

const WHOLE: &str = r#"
[[reply]]
reasoning = "Hm."
text = ["Good ", "dáy"]
calls = [{ id = "c-1", name = "tell_time", arguments = { zone = "UTC" } }]
usage = { input = 120, cached = 100, output = 7 }
comments = true
piece = 7
"#;

// KOSHI-002
#[tokio::test]
async fn every_protocol_streams_the_reply_and_sends_the_prompts_texts() {
    let recorder = record(WHOLE).await;
    let prompt = prompt(&second_turn());
    let texts: Vec<(String, String)> =
        prompt.messages().iter().map(|message| (message.role().to_string(), message.text().to_owned())).collect();
    let call = call(prompt);
    let mut rows = Vec::new();
    for (wire, model) in models(&recorder) {
        let (events, error) = ask(&model, &call).await;
        assert_eq!(error, None);
        rows.push(format!("== {}\n{events:#?}", wire.name()));
        let request = recorder.calls().pop().unwrap();
        assert_eq!(request.wire(), Some(wire));
        assert_eq!(request.body, model.prepare(&call).unwrap().body.as_bytes(), "what leaves is what was prepared");
        let sent: Vec<(String, String)> = request.texts().into_iter().map(|sent| (sent.role, sent.text)).collect();
        assert_eq!(sent, texts, "{}", wire.name());
    }
    insta::assert_snapshot!(rows.join("\n"));
}

#[tokio::test]
async fn keys_travel_in_the_header_that_the_protocol_wants() {
    let recorder = record(WHOLE).await;
    for (wire, model) in models(&recorder) {
        ask(&model, &call(prompt(&inputs()))).await;
        let request = recorder.calls().pop().unwrap();
        let (header, value) = match wire {
            Wire::Anthropic => ("x-api-key", "sk-test-secret"),
            Wire::Gemini => ("x-goog-api-key", "sk-test-secret"),
            _ => ("authorization", "Bearer sk-test-secret"),
        };
        assert_eq!(request.header(header), Some(value), "{}", wire.name());
        assert!(!request.path.contains("secret"));
    }
}

#[tokio::test]
async fn an_owners_headers_query_and_fields_leave_with_every_request() {
    let recorder = record(WHOLE).await;
    let access = limpid_model::Access {
        key_header: Some("api-key".to_owned()),
        headers: [("x-team".to_owned(), limpid_model::ApiKey::new("ours"))].into(),
        query: [("api-version".to_owned(), "a b".to_owned())].into(),
        extra: serde_json::from_str(r#"{ "service_tier": "flex", "model": "another" }"#).unwrap(),
    };
    let here = limpid_model::Endpoint { access, ..endpoint("azure", &format!("{}/v1", recorder.url()), 5_000) };
    let model = RemoteModel::new(card("azure", ToolProtocol::Native), here).unwrap();
    ask(&model, &call(prompt(&inputs()))).await;
    let request = recorder.calls().pop().unwrap();
    assert_eq!(request.header("api-key"), Some("sk-test-secret"));
    assert_eq!((request.header("authorization"), request.header("x-team")), (None, Some("ours")));
    assert_eq!(request.path, "/v1/responses?api-version=a+b");
    assert_eq!((&request.json()["service_tier"], &request.json()["model"]), (&"flex".into(), &"m-1".into()));
}

/// What a call of a server with this script ends with.
// MOD-054
#[tokio::test]
async fn a_conversation_keeps_its_server_where_its_name_is_taken() {
    let recorder = record(WHOLE).await;
    let call = ModelCall { conversation: Some("c-1".to_owned()), ..call(prompt(&second_turn())) };
    let mut seen = Vec::new();
    for provider in ["mistral", "xai", "groq", "deepseek"] {
        let keys = [(provider.to_owned(), limpid_model::ApiKey::new("k"))].into();
        let known = limpid_model::Settings { keys, ..limpid_model::Settings::default() };
        let real = limpid_model::provider::endpoint(provider, "m-1", &known).unwrap();
        let here = limpid_model::Endpoint { base_url: format!("{}/v1", recorder.url()), ..real };
        let model = RemoteModel::new(card(provider, ToolProtocol::Native), here).unwrap();
        ask(&model, &call).await;
        let request = recorder.calls().pop().unwrap();
        let header = request.header("x-grok-conv-id").map(str::to_owned);
        seen.push((provider, request.json()["prompt_cache_key"].as_str().map(str::to_owned), header));
    }
    let name = || Some("c-1".to_owned());
    let expected = [("mistral", name(), None), ("xai", None, name()), ("groq", None, None), ("deepseek", None, None)];
    assert_eq!(seen, expected);
}

async fn failure(script: &str) -> (Vec<ModelEvent>, limpid_model::ModelError) {
    let recorder = record(script).await;
    let endpoint = endpoint("openai", &format!("{}/v1", recorder.url()), 100);
    let model = RemoteModel::new(card("openai", ToolProtocol::Native), endpoint).unwrap();
    let (events, error) = ask(&model, &call(prompt(&inputs()))).await;
    (events, error.unwrap())
}

// SEC-042
#[tokio::test]
async fn servers_that_misbehave_end_in_a_clear_error() {
    let cases = [
        ("never answers", "[[reply]]\nhang = \"start\""),
        ("falls silent", "[[reply]]\ntext = \"so\"\nhang = \"end\""),
        ("cuts the stream", "[[reply]]\ntext = \"so far so good\"\ncut = 250"),
        ("cuts the first piece", "[[reply]]\ntext = \"so far so good\"\ncut = 20"),
        (
            "answers HTML",
            "[[reply]]\nraw = \"<!doctype html><html><title>Log in</title>\"\ncontent_type = \"text/html\"",
        ),
        (
            "calls HTML a stream",
            "[[reply]]\nraw = \"<html><title>Log in</title>\"\ncontent_type = \"application/json\"",
        ),
        ("answers half JSON", "[[reply]]\nraw = '{\"choices\":[{\"index'\ncontent_type = \"application/json\""),
        ("answers something else", "[[reply]]\nraw = '{\"ok\":true}'\ncontent_type = \"application/json\""),
        ("answers nothing", "[[reply]]\nraw = \"\""),
        ("answers garbage", "[[reply]]\nraw = \"data: \\u0001\\u0002 garbage\\n\\n\""),
        ("refuses the key", "[[reply]]\nstatus = 401\nbody = '{\"error\":{\"message\":\"bad key sk-test-secret\"}}'"),
        ("is broken", "[[reply]]\nstatus = 500\nbody = '<html><title>Oops</title></html>'"),
        ("wants a wait", "[[reply]]\nstatus = 429\nbody = '{}'\nretry_after = 7"),
        ("sends elsewhere", "[[reply]]\nstatus = 301\nbody = ''"),
    ];
    let mut rows = Vec::new();
    for (name, script) in cases {
        let (events, error) = failure(script).await;
        assert!(!error.to_string().contains("sk-test-secret"), "{error}");
        let wait = error.retry_after.map(|wait| format!(" (wait {wait:?})")).unwrap_or_default();
        let said = if events.is_empty() { String::new() } else { format!(" after {:?}", text(&events)) };
        rows.push(format!("{name}{said}: {}{wait}: {error}", error.class));
    }
    let rows = rows.join("\n");
    // The port is drawn by the system.
    let ports = insta::Settings::clone_current();
    ports.bind(|| insta::assert_snapshot!(without_ports(&rows)));
}

fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        format!("{all}127.0.0.1:PORT{}", part.trim_start_matches(|c: char| c.is_ascii_digit()))
    })
}

#[tokio::test]
async fn nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (_, error) = ask(&remote("openai", &url, ToolProtocol::Native), &call(prompt(&inputs()))).await;
    let error = error.unwrap();
    assert_eq!(error.class, FailureClass::Transport);
    assert!(error.to_string().contains("nothing listens there"), "{error}");
}

// MOD-083
#[tokio::test]
async fn a_reply_that_ends_with_a_word_of_failure_or_an_unknown_one_is_no_answer() {
    let cases = [
        ("openai", "error", Some(FailureClass::Server)),
        ("openai", "insufficient_system_resource", Some(FailureClass::Server)),
        ("openai", "made-up", Some(FailureClass::Garbage)),
        ("openai", "content_filter", None),
        ("openai", "content_filter", Some(FailureClass::Moderated)),
        ("gemini", "MALFORMED_FUNCTION_CALL", Some(FailureClass::Garbage)),
        ("gemini", "UNEXPECTED_TOOL_CALL", Some(FailureClass::Garbage)),
        ("gemini", "MISSING_THOUGHT_SIGNATURE", Some(FailureClass::Garbage)),
        ("gemini", "TOO_MANY_TOOL_CALLS", Some(FailureClass::Garbage)),
        ("gemini", "MALFORMED_RESPONSE", Some(FailureClass::Garbage)),
        ("gemini", "OTHER", Some(FailureClass::Server)),
        ("gemini", "LANGUAGE", None),
        ("gemini", "IMAGE_SAFETY", None),
        ("gemini", "IMAGE_SAFETY", Some(FailureClass::Moderated)),
        ("anthropic", "made-up", Some(FailureClass::Garbage)),
        ("anthropic", "refusal", Some(FailureClass::Moderated)),
        ("ollama", "made-up", Some(FailureClass::Garbage)),
    ];
    for (provider, word, expected) in cases {
        let said = if expected.is_none() { "Half" } else { "" };
        let recorder = record(&format!("[[reply]]\ntext = \"{said}\"\nfinish = \"{word}\"")).await;
        let model = remote(provider, &recorder.url(), ToolProtocol::Native);
        let (events, error) = ask(&model, &call(prompt(&inputs()))).await;
        assert_eq!(error.as_ref().map(|error| error.class), expected, "{provider} {word}: {events:?}");
        let moderated = events.contains(&ModelEvent::End(FinishReason::Moderated));
        assert_eq!(moderated, expected.is_none(), "{provider} {word}: {events:?}");
    }
}

// SEC-042
#[tokio::test]
async fn a_flood_is_stopped() {
    let line = "a".repeat(17 * 1024 * 1024);
    let comments = format!(":{}\n", "a".repeat(64 * 1024)).repeat(1100);
    let reply = |raw: String| Reply { raw: Some(raw), ..Reply::default() };
    let script = Script { reply: vec![reply(line), reply(comments)], ..Script::default() };
    let recorder = Recorder::start(script).await.unwrap();
    let model = remote("openai", &recorder.url(), ToolProtocol::Native);
    for limit in ["16 MB", "64 MB"] {
        let error = ask(&model, &call(prompt(&inputs()))).await.1.unwrap();
        assert_eq!(error.class, FailureClass::Garbage);
        assert!(error.to_string().contains(&format!("more than {limit}")), "{error}");
    }
}

// LES-141
#[tokio::test]
async fn a_call_in_a_cut_stream_is_never_reported() {
    let body = Wire::OpenAiChat.body(&Script::parse(WHOLE).unwrap().reply[0], "m");
    let start = body.find("tool_calls").unwrap();
    let end = body.find("\"finish_reason\":\"tool_calls\"").unwrap();
    for cut in (start..end).step_by(41) {
        let script = WHOLE.replace("comments = true", &format!("cut = {cut}"));
        let (events, error) = failure(&script).await;
        assert_eq!(error.class, FailureClass::Transport, "{cut}");
        assert!(!events.iter().any(|event| matches!(event, ModelEvent::Call(_))), "{cut}: {events:?}");
    }
}

#[tokio::test]
async fn a_cancel_ends_the_reply_at_once() {
    for script in ["[[reply]]\nhang = \"start\"", "[[reply]]\ntext = \"so\"\nhang = \"end\""] {
        let recorder = record(script).await;
        let model = remote("openai", &recorder.url(), ToolProtocol::Native);
        let cancel = CancellationToken::new();
        let prepared = model.prepare(&call(prompt(&inputs()))).unwrap();
        let mut stream = model.send(prepared, cancel.clone());
        let started = Instant::now();
        let stop = async {
            recorder.wait_for(1).await;
            cancel.cancel();
        };
        let read = async { while let Some(Ok(_)) = stream.next().await {} };
        // Whatever came before, the stream ends long before the server does.
        tokio::join!(stop, read);
        assert!(stream.next().await.is_none());
        assert!(started.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_model_without_native_calls_calls_all_the_same() {
    let script = r#"
[[reply]]
text = ['{"calls":[{"na', 'me":"look_up","arguments":{"query":"tea"}}]}']
[[reply]]
text = ['{"answer":"Gre', 'en."}']
[[reply]]
text = "Plain prose."
"#;
    let recorder = record(script).await;
    let model = remote("llamacpp", &recorder.url(), ToolProtocol::Json);
    let call = call(prompt(&with_protocol(inputs(), ToolProtocol::Json)));
    let (events, _) = ask(&model, &call).await;
    let [ModelEvent::Call(tool), ModelEvent::End(FinishReason::Calls)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((tool.name.as_str(), tool.arguments.as_str()), ("look_up", r#"{"query":"tea"}"#));
    assert_eq!(text(&ask(&model, &call).await.0), "Green.");
    assert_eq!(text(&ask(&model, &call).await.0), "Plain prose.");
    let request = recorder.calls()[0].json();
    assert!(request["tools"].is_null() && request["response_format"]["type"] == "json_schema", "{request}");
}

// SUR-002
#[tokio::test]
async fn servers_on_this_machine_are_found_by_what_they_list() {
    let found = record("models = [\"a\", \"b\"]\n[[reply]]\ntext = \"x\"").await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let places = [
        ("ollama".to_owned(), found.url()),
        ("llamacpp".to_owned(), format!("{}/v1", found.url())),
        ("lmstudio".to_owned(), format!("http://{}/v1", silent.local_addr().unwrap())),
        ("vllm".to_owned(), "http://127.0.0.1:1/nothing".to_owned()),
    ];
    let started = Instant::now();
    let servers = find_servers_at(&places).await;
    let models = vec!["a".to_owned(), "b".to_owned()];
    let expected: Vec<LocalServer> = places[..2]
        .iter()
        .map(|(provider, url)| LocalServer {
            provider: provider.clone(),
            base_url: url.clone(),
            models: models.clone(),
        })
        .collect();
    assert_eq!(servers, expected);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn the_stream_can_be_dropped_at_any_point() {
    let recorder = record(WHOLE).await;
    let model = remote("openai", &recorder.url(), ToolProtocol::Native);
    let call = call(prompt(&inputs()));
    for events in 0..6 {
        let stream = model.send(model.prepare(&call).unwrap(), CancellationToken::new());
        let (some, error) = collect(stream.take(events)).await;
        assert_eq!((some.len(), error), (events, None));
    }
}

// MOD-078 MOD-079
#[tokio::test]
async fn a_tool_with_an_odd_name_is_called_and_answered_under_it() {
    let odd = "mcp.files/read it";
    let mut inputs = second_turn();
    inputs.tools = vec![crate::support::tool(odd, "query")];
    inputs.history[1].calls[0].name = odd.to_owned();
    let taken = "mcp_files_read_it_6b2352da";
    for (provider, path, _) in PROVIDERS {
        let recorder = record(&format!("[[reply]]\ncalls = [{{ id = \"c-1\", name = \"{taken}\" }}]\n")).await;
        let model = remote(provider, &format!("{}{path}", recorder.url()), ToolProtocol::Native);
        let (events, error) = ask(&model, &call(prompt(&inputs))).await;
        let body = recorder.calls().pop().unwrap().text();
        assert!(!body.contains(&format!("\"{odd}\"")) && body.matches(&format!("\"{taken}\"")).count() >= 2, "{body}");
        let called = events.iter().find_map(|event| match event {
            ModelEvent::Call(call) => Some(call.name.as_str()),
            _ => None,
        });
        assert_eq!((called, error), (Some(odd), None), "{provider}");
    }
}

// MOD-016
#[tokio::test]
async fn models_whose_template_opens_the_reasoning_are_known_by_name() {
    let recorder = record("[[reply]]\ntext = [\"They want tea.</th\", \"ink>\\n\\nGreen tea.\"]\n").await;
    let profiles = limpid_model::catalogue::ModelProfiles::load(None).unwrap();
    let names = [
        ("vllm", "deepseek-ai/DeepSeek-R1-0528"),
        ("lmstudio", "qwq-32b"),
        ("ollama", "qwen3:4b-thinking-2507-q4_K_M"),
        ("llamacpp", "Qwen3-30B-A3B-Thinking-2507"),
        ("lmstudio", "qwen3-4b-instruct-2507"),
    ];
    let mut answers = Vec::new();
    for (provider, id) in names {
        let card = limpid_model::ModelCard { tools: ToolProtocol::None, ..profiles.get(provider, id).card() };
        let model = RemoteModel::new(card, endpoint(provider, &recorder.url(), 5_000)).unwrap();
        answers.push(text(&ask(&model, &call(prompt(&inputs()))).await.0));
    }
    let whole = "They want tea.</think>\n\nGreen tea.";
    assert_eq!(answers, ["Green tea.", "Green tea.", "Green tea.", "Green tea.", whole]);
}

// MOD-127
#[tokio::test]
async fn openrouter_is_told_who_asks_and_says_what_it_cost() {
    let raw = "data: {\"model\":\"groq/fast-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\ndata: \
        {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":8,\"cost\":0.0004204}}\n\ndata: [DONE]\n\n";
    let reply = Reply { raw: Some(raw.to_owned()), ..Reply::default() };
    let recorder = Recorder::start(Script { reply: vec![reply], ..Script::default() }).await.unwrap();
    let keys = [("openrouter".to_owned(), limpid_model::ApiKey::new("k"))].into();
    let known = limpid_model::Settings { keys, ..limpid_model::Settings::default() };
    let mut here = limpid_model::provider::endpoint("openrouter", "m-1", &known).unwrap();
    here.base_url = format!("{}/v1", recorder.url());
    here.access.extra = serde_json::from_str(r#"{"provider": {"order": ["groq"]}, "service_tier": "flex"}"#).unwrap();
    let model = RemoteModel::new(card("openrouter", ToolProtocol::Native), here).unwrap();
    let (events, _) = ask(&model, &call(prompt(&inputs()))).await;
    assert!(events.contains(&ModelEvent::Charged(limpid_core::Money(420))), "{events:?}");
    assert!(events.contains(&ModelEvent::Model("groq/fast-1".to_owned())), "{events:?}");
    let request = recorder.calls().pop().unwrap();
    assert_eq!(request.header("x-title"), Some("Limpid"));
    assert_eq!(request.header("http-referer"), Some("https://github.com/limpid-agent/limpid"));
    let body = request.json();
    assert_eq!((&body["provider"]["order"][0], &body["service_tier"]), (&"groq".into(), &"flex".into()));
}
