//! The agent against an OpenAI-compatible server that nobody here wrote: llama.cpp's own, out of the Python package
//! xllamacpp, with SmolLM2. `LIMPID_TEST_PYTHON` names a Python that has the package and `LIMPID_TEST_GGUF` the model
//! (`. scripts/parts` sets both); without them the tests say that they did nothing.

#![allow(clippy::print_stderr, reason = "a test, and one that does nothing must be seen")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use crate::kit::{FixedClock, PATIENCE, all, last, text};
use limpid_core::{Category, FailureClass};
use limpid_runtime::{
    Agent, AgentOptions, ChatRequest, Clock, Config, ConversationChoice, Environment, Home, Outcome, PreviewRequest,
    TurnEvent,
};
use limpid_store::{RequestFilter, RequestSummary};
use tempfile::TempDir;

/// A running server; it ends when this is dropped.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    /// Starts one; none when the parts are absent.
    fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same, with more words for `scripts/llama-server.py`.
    fn start_with(words: &[&str]) -> Option<Self> {
        let part = |name: &str| {
            std::env::var_os(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty())
        };
        let (Some(python), Some(model)) = (part("LIMPID_TEST_PYTHON"), part("LIMPID_TEST_GGUF")) else {
            eprintln!("SKIPPED a test of the real llama.cpp server: LIMPID_TEST_PYTHON or LIMPID_TEST_GGUF is not set");
            return None;
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/llama-server.py");
        let mut process = Command::new(python)
            .args([script, &model, "4096", "1"])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://"), "the server says {address:?}");
        Some(Self { process, address: address.trim().to_owned() })
    }

    /// An agent that asks it, with a `models.toml` and short answers.
    fn agent(&self, home: &TempDir, models: &str) -> Agent {
        std::fs::write(home.path().join("models.toml"), models).unwrap();
        let config = "model = \"openai/anything\"\n[memory]\nenabled = false\n[limits]\noutput_tokens = 48\ncalls_with_tools = 1\n";
        let url = ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", self.address));
        Agent::open(AgentOptions {
            config: Config::parse(config, "limpid.toml").unwrap(),
            environment: Environment::new([url]),
            clock: Arc::new(FixedClock::at("2026-03-28T12:00:00Z")) as Arc<dyn Clock>,
            ..AgentOptions::new(Home::new(home.path()))
        })
        .unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn say(agent: &Agent, request: ChatRequest) -> Vec<TurnEvent> {
    tokio::time::timeout(PATIENCE, all(agent.chat(request).await.unwrap())).await.unwrap()
}

/// Whether the server's replies were read to their end. A model of this size at times spends a whole reply on blanks,
/// which ends a turn as garbage; that is the model's doing, and not what these tests are about.
fn answered(events: &[TurnEvent]) -> bool {
    matches!(
        events.last(),
        Some(TurnEvent::Done {
            outcome: Outcome::Answered { .. } | Outcome::Failed { class: FailureClass::Garbage, .. },
            ..
        })
    )
}

async fn requests(agent: &Agent) -> Vec<RequestSummary> {
    agent.store().requests(RequestFilter { limit: 10, ..RequestFilter::default() }).await.unwrap().rows
}

/// Answers of another kind than is looked for before the model is given up on.
const TRIES: usize = 30;

// ARC-003 PRO-041
#[tokio::test]
async fn two_turns_with_a_real_server() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let agent = server.agent(&home, "[[model]]\nnames = [\"openai/anything\"]\ntools = \"none\"\n");

    // A model of this size at times answers with a word, or with none; asked again it writes more.
    let mut first = Vec::new();
    for _ in 0..TRIES {
        first = say(&agent, ChatRequest { text: "Name three colours.".to_owned(), ..ChatRequest::default() }).await;
        assert!(answered(&first), "{first:?}");
        if text(&first).trim().len() > 40 {
            break;
        }
    }
    let pieces = first.iter().filter(|event| matches!(event, TurnEvent::Text(_))).count();
    assert!(pieces > 3, "streamed in {pieces} pieces: {first:?}");
    assert!(!text(&first).trim().is_empty());

    let second = say(&agent, last("And one more?")).await;
    assert!(answered(&second), "{second:?}");
    let requests = requests(&agent).await;
    assert!(requests.len() >= 2, "{requests:?}");
    let usages: Vec<_> = requests.iter().filter_map(|request| request.end.as_ref()?.usage).collect();
    assert!(usages.len() >= 2 && usages.iter().all(|usage| usage.input > 0), "{requests:?}");
    // The server had evaluated the first prompt, and what follows begins with it.
    assert!(usages.iter().any(|usage| usage.cached > 0), "{usages:?}");
}

// ARC-003
#[tokio::test]
async fn a_tool_is_called_through_a_schema() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let agent = server.agent(&home, "[[model]]\nnames = [\"openai/anything\"]\ntools = \"json\"\n");
    // A model of this size calls when it likes; whatever it does has to be one of the two forms.
    let mut called = None;
    for _ in 0..TRIES {
        let ask =
            ChatRequest { text: "Call the tool get_local_time for Europe/Rome.".to_owned(), ..ChatRequest::default() };
        let events = say(&agent, ask).await;
        if let Some(at) = events.iter().position(|event| matches!(event, TurnEvent::ToolStarted { .. })) {
            called = Some(events[at..].to_vec());
            break;
        }
    }
    let events = called.expect("one of the answers calls the tool");
    let TurnEvent::ToolStarted { name, arguments, .. } = &events[0] else { unreachable!() };
    // Which one it takes is the model's business, as long as its prompt names it.
    let prompt = agent.preview(PreviewRequest::default()).await.unwrap().prompt;
    assert!(prompt.messages().iter().any(|message| message.text().contains(name.as_str())), "{name}");
    assert!(serde_json::from_str::<serde_json::Value>(arguments).unwrap().is_object(), "{arguments}");
    assert!(events.iter().any(|event| matches!(event, TurnEvent::ToolDone { .. })), "{events:?}");
}

// KOSHI-029
#[tokio::test]
async fn a_real_server_says_what_texts_mean() {
    let Some(server) = Server::start_with(&["embeddings", "mean"]) else { return };
    let home = tempfile::tempdir().unwrap();
    let url = ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", server.address));
    let agent = Agent::open(AgentOptions {
        config: Config::parse("[memory.semantic]\nmodel = \"openai/anything\"\n", "limpid.toml").unwrap(),
        environment: Environment::new([url]),
        ..AgentOptions::new(Home::new(home.path()))
    })
    .unwrap();
    for (key, content) in [("ana", "My sister moved to Kyoto."), ("tap", "The tap in the kitchen drips.")] {
        agent.memory().remember(key, content, Category::General, "test").await.unwrap();
    }
    let indexed =
        tokio::time::timeout(PATIENCE, agent.memory().index_meanings(false, |_| {})).await.unwrap().unwrap().unwrap();
    assert_eq!((indexed.kept, indexed.refused), (2, 0));
    assert_eq!(agent.memory().semantic_state().await.unwrap().unwrap().covers.memories_seen, 2);
}

// MOD-152 MOD-123
#[tokio::test]
async fn a_real_server_says_how_large_its_window_is_and_whether_it_calls_tools() {
    let Some(server) = Server::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let agent = server.agent(&home, "");
    let events = say(&agent, last("Name a colour.")).await;
    assert!(answered(&events), "{events:?}");
    let report = std::fs::read_to_string(home.path().join("data/providers/openai.json")).unwrap();
    // The server was started with this window; the model itself has a larger one.
    let row = report.lines().find(|line| line.contains("openai/anything")).unwrap();
    assert!(row.contains("\"window\":4096") && row.contains("\"inputs\":[\"text\"]"), "{row}");
    // Its chat template knows no tools.
    assert!(row.contains("\"tools\":\"json\""), "{row}");
    let said: String = events.iter().map(|event| format!("{event:?}")).collect();
    assert!(!said.contains("no window") && said.contains("no price is known for openai/anything"), "{said}");
}

// MOD-152
#[tokio::test]
async fn a_server_whose_template_knows_tools_is_given_them_as_they_are() {
    let Some(server) = Server::start_with(&["tools"]) else { return };
    let home = tempfile::tempdir().unwrap();
    let agent = server.agent(&home, "");
    let request = asked(&agent, last("Name a colour.")).await;
    let report = std::fs::read_to_string(home.path().join("data/providers/openai.json")).unwrap();
    assert!(report.contains("\"tools\":\"native\""), "{report}");
    let sent = agent.store().request(&request.id).await.unwrap().unwrap();
    assert!(sent.tools.len() > 2, "they are declared, not written into the prompt");
}

// MOD-152
#[tokio::test]
async fn two_conversations_in_turn_each_find_what_was_evaluated_for_them() {
    let Some(server) = Server::start_with(&["two-slots"]) else { return };
    let home = tempfile::tempdir().unwrap();
    let agent = server.agent(&home, "[[model]]\nnames = [\"openai/anything\"]\ntools = \"none\"\n");
    // What only these two conversations have is long, so that their common beginning alone would not pass.
    let tales = ["Ana paints boats in Lisbon.", "Kofi grows beans in Accra."].map(|tale| format!("{tale} ").repeat(40));
    let mut firsts = Vec::new();
    for tale in &tales {
        let ask = ChatRequest { text: format!("{tale}Who is it about?"), ..ChatRequest::default() };
        firsts.push(asked(&agent, ask).await);
    }
    for first in firsts {
        let conversation = ConversationChoice::Id(first.conversation.unwrap());
        let ask = ChatRequest { text: "And where?".to_owned(), conversation, ..ChatRequest::default() };
        let second = asked(&agent, ask).await;
        let (first, second) = (first.end.unwrap().usage.unwrap(), second.end.unwrap().usage.unwrap());
        // The last tokens of a prompt are evaluated anew.
        assert!(second.cached + 16 >= first.input, "{second:?} after {first:?}");
    }
}

/// Asks, and returns the request that this made.
async fn asked(agent: &Agent, ask: ChatRequest) -> RequestSummary {
    let before: Vec<_> = requests(agent).await.into_iter().map(|request| request.id).collect();
    let events = say(agent, ask).await;
    assert!(answered(&events), "{events:?}");
    requests(agent).await.into_iter().find(|request| !before.contains(&request.id)).unwrap()
}
