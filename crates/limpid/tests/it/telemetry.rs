//! Traces and the log for programs, from the real program: a collector on a socket decodes what arrives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use limpid_testkit::{Recorded, Reply};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::kit::{Run, World};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What nobody may find in a span or a line of the log.
const CANARIES: [&str; 5] = ["zorblprompt", "zorblfile", "zorblcontent", "zorblanswer", "zorbl@example.com"];

/// A turn that writes a file.
const SCRIPT: &str = r#"
[[reply]]
calls = [
  { id = "w", name = "write_file", arguments = { path = "zorblfile.md", content = "zorblcontent for zorbl@example.com\n" } },
]
usage = { input = 900, cached = 600, output = 25 }

[[reply]]
text = "zorblanswer"
usage = { input = 950, cached = 900, output = 5 }
"#;

/// A collector: what was sent to it, body by body.
#[derive(Clone, Default)]
struct Collector {
    url: String,
    sent: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
}

impl Collector {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let collector = Self { url: format!("http://{}", listener.local_addr().unwrap()), ..Self::default() };
        let take = async |State(collector): State<Self>, headers: HeaderMap, body: Bytes| {
            collector.sent.lock().unwrap().push((headers, body));
        };
        let router = Router::new().route("/v1/traces", post(take)).with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        collector
    }

    fn spans(&self) -> Vec<Span> {
        let sent = self.sent.lock().unwrap();
        let requests = sent.iter().map(|(_, body)| ExportTraceServiceRequest::decode(body.clone()).unwrap());
        let resources = requests.flat_map(|request| request.resource_spans);
        let mut spans: Vec<Span> =
            resources.flat_map(|spans| spans.scope_spans).flat_map(|scope| scope.spans).collect();
        spans.sort_by_key(|span| (span.name.clone(), span.start_time_unix_nano));
        spans
    }

    /// Everything that was sent, as letters.
    fn letters(&self) -> String {
        self.sent.lock().unwrap().iter().map(|(_, body)| String::from_utf8_lossy(body).into_owned()).collect()
    }
}

fn settings(collector: &str) -> String {
    format!("[tools]\ndefer = false\n[telemetry]\ntraces = \"{collector}\"\n")
}

fn text(value: &Any) -> String {
    match value {
        Any::StringValue(text) => text.clone(),
        Any::IntValue(number) => number.to_string(),
        Any::DoubleValue(number) => number.to_string(),
        Any::ArrayValue(values) => {
            let values = values.values.iter().filter_map(|value| value.value.as_ref()).map(text);
            format!("[{}]", values.collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}"),
    }
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
    found.value.as_ref()?.value.as_ref().map(text)
}

/// A span with its parent by name, and what changes from run to run named by its kind.
fn shown(span: &Span, all: &[Span]) -> String {
    let parent = all.iter().find(|other| other.span_id == span.parent_span_id && other.trace_id == span.trace_id);
    let under = parent.map_or(String::new(), |parent| format!(" under {}", parent.name));
    let mut lines = vec![format!("{}{under}, kind {}", span.name, span.kind)];
    for attribute in &span.attributes {
        let value = attribute.value.as_ref().and_then(|value| value.value.as_ref()).map(text).unwrap_or_default();
        let value = match attribute.key.as_str() {
            "gen_ai.conversation.id" => "CONVERSATION".to_owned(),
            "server.port" => "PORT".to_owned(),
            "gen_ai.response.time_to_first_chunk" => "SECONDS".to_owned(),
            _ => value,
        };
        lines.push(format!("  {} = {value}", attribute.key));
    }
    lines.join("\n")
}

fn assert_is_clean(what: &str) {
    for canary in CANARIES {
        assert!(!what.contains(canary), "{canary} stands in {what}");
    }
}

/// A port that nobody listens on.
async fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

// SUR-036
#[tokio::test]
async fn a_turn_with_a_call_is_a_span_with_its_requests_and_its_call_below_it() {
    let collector = Collector::start().await;
    let mut world = World::new(SCRIPT).await;
    world.set("OTEL_EXPORTER_OTLP_HEADERS", "x-team=home");
    world.write("limpid.toml", &settings(&collector.url));
    let run = world.run(&["chat", "Keep this: zorblprompt"]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "zorblanswer\n"), "{}", run.err);
    let spans = collector.spans();
    let shown: Vec<String> = spans.iter().map(|span| shown(span, &spans)).collect();
    insta::assert_snapshot!(shown.join("\n"));
    let turn = spans.iter().find(|span| span.name == "invoke_agent").unwrap();
    assert!(spans.iter().all(|span| span.trace_id == turn.trace_id));
    assert!(spans.iter().all(|span| span.start_time_unix_nano >= turn.start_time_unix_nano));
    assert!(spans.iter().all(|span| span.end_time_unix_nano <= turn.end_time_unix_nano));
    assert_is_clean(&collector.letters());
    let (headers, _) = collector.sent.lock().unwrap()[0].clone();
    assert_eq!(
        (&headers["x-team"], &headers["content-type"]),
        (&"home".parse().unwrap(), &"application/x-protobuf".parse().unwrap())
    );
}

// SUR-036
#[tokio::test]
async fn without_the_setting_nothing_is_sent_whatever_the_environment_says() {
    let collector = Collector::start().await;
    let mut world = World::new(SCRIPT).await;
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
    world.write("limpid.toml", "[tools]\ndefer = false\n");
    assert_eq!(world.done(&["chat", "Keep this: zorblprompt"]).await, "zorblanswer\n");
    assert!(collector.sent.lock().unwrap().is_empty());
}

/// What a chat says with such a collector.
async fn chat_with(collector: &str) -> Run {
    let world = World::new(SCRIPT).await;
    world.write("limpid.toml", &settings(collector));
    tokio::time::timeout(PATIENCE, world.run(&["chat", "Keep this: zorblprompt"])).await.unwrap()
}

// SUR-036
#[tokio::test]
async fn a_collector_that_is_not_there_changes_no_turn_and_is_told_of_once() {
    let run = chat_with(&closed_port().await).await;
    assert_eq!((run.code, run.out.as_str()), (0, "zorblanswer\n"), "{}", run.err);
    assert_eq!(run.err.matches("traces are not sent").count(), 1, "{}", run.err);
    assert!(run.err.contains("connection refused"), "{}", run.err);
}

// SUR-036
#[tokio::test]
async fn a_collector_that_never_answers_keeps_the_program_for_seconds_only() {
    // Connections are taken by the system; nobody reads from them.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let run = chat_with(&format!("http://{}", listener.local_addr().unwrap())).await;
    assert_eq!((run.code, run.out.as_str()), (0, "zorblanswer\n"), "{}", run.err);
    assert_eq!(run.err.matches("traces are not sent").count(), 1, "{}", run.err);
}

// SUR-036
#[tokio::test]
async fn an_agents_turn_is_a_trace_of_its_own_that_names_the_call_which_started_it() {
    let collector = Collector::start().await;
    let world = World::answering(|request: &Recorded| -> Reply {
        let texts = request.text();
        let reply = if request.system().starts_with("You are a worker agent") {
            json!({ "text": "zorblanswer" })
        } else if texts.contains("[agent_result:1] done") {
            json!({ "text": "It is green tea." })
        } else if texts.contains("works in the background") {
            json!({ "text": "I had it looked at." })
        } else {
            json!({ "calls": [{ "name": "spawn_agent", "arguments": { "task": "zorblcontent" } }] })
        };
        serde_json::from_value(reply).unwrap()
    })
    .await;
    world.write("limpid.toml", &settings(&collector.url));
    let run = world.run(&["chat", "--profile", "koshi", "Which tea is it? zorblprompt"]).await;
    assert_eq!(run.code, 0, "{}", run.err);
    let spans = collector.spans();
    let turns: Vec<&Span> = spans.iter().filter(|span| span.name == "invoke_agent").collect();
    let spawn = spans.iter().find(|span| span.name == "execute_tool spawn_agent").unwrap();
    let worker = turns.iter().find(|span| !span.links.is_empty()).unwrap();
    assert_eq!((&worker.links[0].trace_id, &worker.links[0].span_id), (&spawn.trace_id, &spawn.span_id));
    assert_eq!((turns.len(), attribute(worker, "limpid.outcome").as_deref()), (3, Some("answered")));
    assert!(spans.iter().any(|span| span.trace_id == worker.trace_id && span.parent_span_id == worker.span_id));
    assert_is_clean(&collector.letters());
}

/// The lines of a log, each of which is an object.
fn lines(log: &str) -> Vec<Value> {
    let object = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    log.lines().map(object).collect()
}

// SUR-036
#[tokio::test]
async fn the_log_for_programs_is_one_object_a_line_and_tells_nothing_of_what_anybody_wrote() {
    let collector = Collector::start().await;
    let world = World::new("[[reply]]\ntext = \"zorblanswer\"\nusage = { input = 9, output = 1 }\n").await;
    world.done(&["task", "add", "zorblprompt", "--kind", "agent", "--after", "1s"]).await;
    world.write("limpid.toml", &format!("{}logs = \"json\"\n", settings(&collector.url)));
    // The time comes while nobody serves, at the latest while this one starts.
    let ran = async {
        loop {
            let run = world.run(&["serve", "--once"]).await;
            assert_eq!(run.code, 0, "{}", run.err);
            if lines(&run.err).iter().any(|line| line["fields"]["event"] == "task-ran") {
                break run;
            }
        }
    };
    let run = tokio::time::timeout(PATIENCE, ran).await.unwrap();
    let log = lines(&run.err);
    let events: Vec<&str> = log.iter().filter_map(|line| line["fields"]["event"].as_str()).collect();
    for wanted in ["began", "done", "task-ran", "delivered", "once"] {
        assert!(events.contains(&wanted), "{wanted} is not among {events:?}");
    }
    assert_is_clean(&run.err);
    let spans = collector.spans();
    assert!(
        spans
            .iter()
            .any(|span| span.name == "invoke_agent" && attribute(span, "limpid.path").as_deref() == Some("task"))
    );
    assert_is_clean(&collector.letters());
}

// SUR-036
#[cfg(unix)]
#[tokio::test]
async fn a_daemon_tells_programs_of_its_end_and_of_a_collector_that_is_not_there() {
    let world = World::new("[[reply]]\ntext = \"zorblanswer\"\n").await;
    world.write(
        "limpid.toml",
        &format!("{}logs = \"json\"\n[page]\nlisten = \"127.0.0.1:0\"\n", settings(&closed_port().await)),
    );
    let mut serving = world.start(&["serve"]);
    let mut log = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(serving.stderr.take().unwrap()));
    let mut seen = String::new();
    let mut until = async |wanted: &str| loop {
        let line = tokio::time::timeout(PATIENCE, log.next_line()).await.unwrap().unwrap();
        let Some(line) = line else { panic!("the log ended without {wanted}: {seen}") };
        seen.push_str(&format!("{line}\n"));
        if lines(&line)[0]["fields"]["event"] == wanted {
            break;
        }
    };
    until("ready").await;
    world.done(&["task", "add", "zorblprompt", "--kind", "agent", "--after", "1s"]).await;
    until("task-ran").await;
    let id = serving.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    until("stopping").await;
    assert!(tokio::time::timeout(PATIENCE, serving.wait()).await.unwrap().unwrap().success());
    while let Some(line) = log.next_line().await.unwrap() {
        seen.push_str(&format!("{line}\n"));
    }
    let events: Vec<Value> = lines(&seen).into_iter().map(|line| line["fields"]["event"].clone()).collect();
    assert_eq!(events.iter().filter(|event| *event == "traces").count(), 1, "{seen}");
    assert_is_clean(&seen);
    // Whoever looks at the page gets in by a link; no log holds one.
    assert!(!seen.contains("/login"), "{seen}");
}

// SUR-036
#[tokio::test]
async fn a_daemon_that_cannot_begin_says_so_in_its_log() {
    let world = World::new("[[reply]]\ntext = \"ok\"\n").await;
    world.write("limpid.toml", "[telemetry]\nlogs = \"json\"\n");
    world.write("data/limpid.db", "zorblcontent: no database");
    let run = world.run(&["serve"]).await;
    assert_ne!(run.code, 0);
    let log = lines(&run.err);
    assert_eq!((log.len(), &log[0]["level"], &log[0]["fields"]["exit_code"]), (1, &json!("error"), &json!(run.code)));
    assert_is_clean(&run.err);
}
