//! The agent that is killed: its model, its tools, its clock, and the names of what it works on.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::{BoxFuture, FutureExt};
use jiff::Timestamp;
use limpid_core::{ConversationId, Role, ToolClass, ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{Model, ModelCall, ModelCard, Pause};
use limpid_runtime::{Agent, AgentOptions, Clock, Config, Home, Tool, ToolContext, ToolText};
use limpid_store::{ConversationKind, NewConversation, SqliteOptions, SqliteStore, Store};
use limpid_testkit::{Said, Talker};
use serde_json::{Map, Value, json};

/// The chats.
pub(super) const CHATS: [&str; 3] = ["chat-0", "chat-1", "chat-2"];

/// Numbers that one process may give to what it makes.
pub(super) const NUMBERS_OF_A_PROCESS: u64 = 1_000_000;

/// How much faster the agent's clock runs, so that what is due in minutes comes within a second.
const SPEED: i64 = 600;

/// Sends nothing without the owner; every tool travels.
const CONFIG: &str = "
[tools]
defer = false
[memory]
enabled = false
[limits]
background_tokens_per_day = 1000000000
[policy]
ask = [{ tool = \"send_letter\" }]
";

/// Makes the home and its chats.
pub(super) async fn prepare(home: &Path) -> Result<(), String> {
    fs::write(home.join("origin"), Timestamp::now().as_millisecond().to_string()).map_err(|error| error.to_string())?;
    let store = open_store(home)?;
    for id in CHATS {
        let new = NewConversation {
            id: ConversationId::new(id),
            kind: ConversationKind::Chat,
            title: id.to_owned(),
            profile: "limpid".to_owned(),
            mode: None,
            model: None,
            now_ms: 0,
        };
        store.create_conversation(new).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The agent's store.
pub(super) fn open_store(home: &Path) -> Result<Arc<dyn Store>, String> {
    let opened = SqliteStore::open(Home::new(home).database(), SqliteOptions::default());
    Ok(Arc::new(opened.map_err(|error| error.to_string())?))
}

/// The agent.
pub(super) fn open_agent(home: &Path) -> Result<Agent, String> {
    let origin = fs::read_to_string(home.join("origin")).map_err(|error| error.to_string())?;
    let origin_ms = origin.parse().map_err(|_| "the origin of time is no number".to_owned())?;
    let effect = |name, class| Arc::new(Effect { name, class, file: effects_file(home) }) as Arc<dyn Tool>;
    Agent::open(AgentOptions {
        config: Config::parse(CONFIG, "limpid.toml").map_err(|error| error.to_string())?,
        clock: Arc::new(Fast { origin_ms }),
        pause: Arc::new(FastPause),
        model: Some(Arc::new(Talker::new(card(), answer)) as Arc<dyn Model>),
        tools: vec![effect("note", ToolClass::Read), effect("send_letter", ToolClass::Send)],
        ..AgentOptions::new(Home::new(home))
    })
    .map_err(|error| error.to_string())
}

/// Every effect that a tool had, by its key.
pub(super) fn effects(home: &Path) -> Result<Vec<String>, String> {
    match fs::read_to_string(effects_file(home)) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

fn effects_file(home: &Path) -> PathBuf {
    home.join("effects")
}

fn card() -> ModelCard {
    let window = WindowSize(131_072);
    ModelCard {
        provider: "test".to_owned(),
        id: "talker".to_owned(),
        local: false,
        window: Some(window),
        usable_window: Some(UsableWindow::default_for(window)),
        tools: ToolProtocol::Native,
        thinking: false,
        vision: false,
        price: None,
    }
}

/// `note KEY` and `letter KEY` are done by their tools, every one that was said since the model spoke last.
fn answer(call: &ModelCall) -> Said {
    let newest = call.prompt.messages().iter().rev().take_while(|message| message.role() == Role::User);
    let calls: Vec<_> = newest.filter_map(|message| asked(message.text())).collect();
    if calls.is_empty() { Said::Text("Done.".to_owned()) } else { Said::Calls(calls) }
}

/// The call that a message asks for.
fn asked(text: &str) -> Option<(String, String)> {
    let mut words = text.split_whitespace();
    let tool = match words.next()? {
        "note" => "note",
        "letter" => "send_letter",
        _ => return None,
    };
    Some((tool.to_owned(), json!({ "to": words.next()? }).to_string()))
}

/// A clock that runs fast and goes on over restarts.
struct Fast {
    origin_ms: i64,
}

impl Clock for Fast {
    fn now(&self) -> Timestamp {
        let real_ms = Timestamp::now().as_millisecond();
        let fast_ms = self.origin_ms + real_ms.saturating_sub(self.origin_ms).saturating_mul(SPEED);
        Timestamp::from_millisecond(fast_ms).unwrap_or_default()
    }
}

/// Waits as long as the fast clock takes.
struct FastPause;

impl Pause for FastPause {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(time / SPEED as u32).boxed()
    }
}

/// A tool that writes a line and must not do so twice.
struct Effect {
    name: &'static str,
    class: ToolClass,
    file: PathBuf,
}

#[async_trait]
impl Tool for Effect {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        self.class
    }

    fn schema(&self) -> Map<String, Value> {
        let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}});
        schema.as_object().cloned().unwrap_or_default()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn destination(&self, arguments: &Value) -> Option<String> {
        (self.class == ToolClass::Send).then(|| arguments["to"].as_str().map(str::to_owned)).flatten()
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let line = format!("{}\n", arguments["to"].as_str().unwrap_or_default());
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file).map_err(|e| e.to_string())?;
        // One write, so that a line is whole or not there.
        file.write_all(line.as_bytes()).map_err(|error| error.to_string())?;
        Ok(ToolText::own("noted"))
    }
}
