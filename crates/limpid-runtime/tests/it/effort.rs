//! How much models reason: who decides, what leaves, and replies that hold reasoning.

use std::sync::{Arc, Mutex};

use crate::kit::{Bench, Once, all, last, say, text};
use jiff::ToSpan;
use limpid_model::script::{Reply, Script};
use limpid_runtime::{Agent, AgentOptions, Config, ConversationChoice, Environment, Outcome, Tool, TurnEvent};
use limpid_testkit::{Recorded, Recorder};
use serde_json::Value;

const KNOWN: &str = r#"
[[model]]
names = ["openai/scripted"]
window = 100_000
thinking = true
max_output = 40_000
effort = ["low", "medium", "high"]
"#;

const HELLO: &str = "[[reply]]\ntext = \"Hello.\"\n";

fn efforts(bodies: &[Recorded]) -> Vec<Value> {
    bodies.iter().map(|body| body.json()["reasoning_effort"].clone()).collect()
}

fn notices(events: &[TurnEvent]) -> Vec<String> {
    let notice = |event: &TurnEvent| if let TurnEvent::Notice(text) = event { Some(text.clone()) } else { None };
    events.iter().filter_map(notice).filter(|text| text.contains("effort")).collect()
}

async fn command(agent: &Agent, line: &str) {
    agent.command(&ConversationChoice::Last, line).await.unwrap();
}

// MOD-020 MOD-021
#[tokio::test]
async fn the_effort_of_a_chat_is_kept_and_stays_the_same_while_a_turn_runs() {
    let calls = "[[reply]]\ncalls = [{ name = \"once\" }]\n";
    let mut bench = Bench::new(&format!("{HELLO}{HELLO}{calls}{HELLO}{HELLO}{HELLO}")).await;
    bench.write("models.toml", KNOWN);
    bench.config =
        Config::parse("model = \"openai/scripted\"\neffort = \"high\"\n[tools]\ndefer = false\n", "limpid.toml")
            .unwrap();
    let tool = Once::new();
    let options = || AgentOptions { tools: vec![Arc::clone(&tool) as Arc<dyn Tool>], ..bench.options() };
    let agent = Agent::open(options()).unwrap();
    say(&agent, "hi").await;
    command(&agent, "/effort low").await;
    assert_eq!(notices(&say(&agent, "hi").await), Vec::<String>::new());
    let turn = agent.chat(last("once")).await.unwrap();
    tool.running.acquire().await.unwrap().forget();
    command(&agent, "/effort medium").await;
    tool.go_on.add_permits(1);
    all(turn).await;
    let agent = Agent::open(options()).unwrap();
    say(&agent, "hi").await;
    command(&agent, "/effort max").await;
    let told = say(&agent, "hi").await;
    assert_eq!(efforts(&bench.server.calls()), ["high", "low", "low", "low", "medium", "high"]);
    assert_eq!(notices(&told), ["openai/scripted has no effort `max`; `high` is used"]);
    assert_eq!(notices(&say(&agent, "hi").await), Vec::<String>::new(), "it is said once");
}

/// Tokens that a reply to a request may have.
fn limit(request: &Recorded) -> u64 {
    let body = request.json();
    let limit = body["max_tokens"].as_u64().or_else(|| body["max_completion_tokens"].as_u64());
    limit.unwrap_or_default()
}

/// What a model says that spends so many tokens on reasoning before its first word.
fn reasoner(spends: u64, limits: Limits) -> impl Fn(&Recorded) -> Reply {
    move |request| {
        let most = limit(request);
        limits.lock().unwrap().push(most);
        let reply = if most <= spends {
            format!("[[reply]]\nfinish = \"length\"\nusage = {{ input = 10, output = {most}, reasoning = {most} }}\n")
        } else if request.text().contains("\"name\":\"heartbeat_decision\"") {
            "[[reply]]\ncalls = [{ name = \"heartbeat_decision\", arguments = { action = \"quiet\" } }]\n".to_owned()
        } else {
            let output = spends + 5;
            format!(
                "[[reply]]\ntext = \"It is noon.\"\nusage = {{ input = 10, output = {output}, reasoning = {spends} }}\n"
            )
        };
        Script::parse(&reply).unwrap().player().next("").unwrap()
    }
}

/// The limits of the requests so far.
type Limits = Arc<Mutex<Vec<u64>>>;

async fn reasoning(bench: &mut Bench, spends: u64, config: &str) -> (Recorder, Limits, Agent) {
    let limits = Limits::default();
    let server = Recorder::answering(reasoner(spends, Arc::clone(&limits))).await.unwrap();
    bench.write("models.toml", KNOWN);
    bench.config = Config::parse(&format!("model = \"openai/scripted\"\n{config}"), "limpid.toml").unwrap();
    let url = ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", server.url()));
    let agent = Agent::open(AgentOptions { environment: Environment::new([url]), ..bench.options() }).unwrap();
    (server, limits, agent)
}

// MOD-024
#[tokio::test]
async fn chat_summary_and_heartbeat_answer_though_reasoning_comes_first() {
    let mut bench = Bench::new("[[reply]]\nstatus = 500\n").await;
    bench.write("workspace/HEARTBEAT.md", "# List\n\n- Tell me when the disk is full\n");
    let (_server, limits, agent) = reasoning(&mut bench, 5000, "[limits]\noutput_tokens = 300\n").await;
    for _ in 0..3 {
        assert_eq!(text(&say(&agent, "what time is it?").await), "It is noon.");
    }
    assert_eq!(agent.conversations().compact(&ConversationChoice::Last).await.unwrap().failure, None);
    agent.jobs().run_due().await.unwrap();
    bench.clock.forward(2.hours());
    agent.jobs().run_due().await.unwrap();
    let requests = agent.store().requests(limpid_store::RequestFilter::default()).await.unwrap().rows;
    let asked = |path: &str| requests.iter().any(|request| request.path == path);
    assert!(asked("chat-remote") && asked("summarize") && asked("heartbeat"));
    let failed: Vec<_> = requests.iter().filter_map(|request| request.end.as_ref()?.failure.clone()).collect();
    assert_eq!(failed, []);
    assert!(limits.lock().unwrap().iter().all(|limit| *limit > 5000));
    let counted = requests.iter().find(|request| request.path == "chat-remote").unwrap();
    assert_eq!(counted.end.as_ref().unwrap().usage.unwrap().reasoning, 5000);
}

// MOD-025
#[tokio::test]
async fn a_reply_that_ends_at_its_limit_without_a_word_is_asked_for_once_more() {
    let mut bench = Bench::new("[[reply]]\nstatus = 500\n").await;
    let (_server, limits, agent) = reasoning(&mut bench, 20_000, "[limits]\noutput_tokens = 100\n").await;
    let events = say(&agent, "what time is it?").await;
    assert_eq!(text(&events), "It is noon.");
    let why = events.iter().find_map(|event| match event {
        TurnEvent::Retrying { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    let told = "all 16,484 tokens went into reasoning; raise `limits.output_tokens` or lower `effort`";
    assert_eq!(why, Some(told));
    assert_eq!(*limits.lock().unwrap(), [16_484, 40_000]);

    let (_server, limits, agent) = reasoning(&mut bench, 100_000, "").await;
    let events = say(&agent, "what time is it?").await;
    let told = "all 40,000 tokens went into reasoning; raise `limits.output_tokens` or lower `effort`";
    let end = events.last();
    assert!(
        matches!(end, Some(TurnEvent::Done { outcome: Outcome::Failed { message, .. }, .. }) if message == told),
        "{end:?}"
    );
    assert_eq!(*limits.lock().unwrap(), [32_768, 40_000], "once, and no more");
}
