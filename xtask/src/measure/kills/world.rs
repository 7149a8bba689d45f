//! The home of the agent that is killed, and how the agent is opened there: its clock, its one tool besides its own, and
//! the names of what it works on.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::{BoxFuture, FutureExt};
use jiff::Timestamp;
use limpid_channels::mail::{MailServers, Mailbox};
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass};
use limpid_formats::{Parser, Parsing};
use limpid_model::Pause;
use limpid_runtime::{Agent, AgentOptions, Clock, Config, Environment, Home, Tool, ToolContext};
use serde_json::{Map, Value, json};

/// The chats that are talked in at one time.
pub(super) const CHATS: u64 = 3;

/// Numbers that one process may give to what it makes.
pub(super) const NUMBERS_OF_A_PROCESS: u64 = 1_000_000;

/// Processes after which new chats are begun, so that no prompt grows without end.
const PROCESSES_OF_A_CHAT: u64 = 16;

/// The owner's mail address.
pub(super) const ADDRESS: &str = "me@example.com";

/// How much faster the agent's clock runs, so that what is due in minutes comes within a second.
const SPEED: i64 = 600;

/// The chat of this number that a process talks in.
pub(super) fn chat(first: u64, number: u64) -> String {
    format!("chat-{}-{number}", first / NUMBERS_OF_A_PROCESS / PROCESSES_OF_A_CHAT)
}

/// Writes when time begins.
pub(super) fn begin_time(home: &Path) -> Result<(), String> {
    fs::write(home.join("origin"), Timestamp::now().as_millisecond().to_string()).map_err(|error| error.to_string())
}

/// The servers of mail accounts, whose messages processes of this program parse.
pub(super) fn mail_servers() -> Result<MailServers, String> {
    let helper = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(MailServers::new(Parser::new(Parsing::ByHelper, Some(helper))))
}

/// The agent of a home, with servers of mail accounts.
pub(super) fn open_agent(home: &Path, mailbox: impl Mailbox + 'static) -> Result<Agent, String> {
    let read = |name: &str| fs::read_to_string(home.join(name)).map_err(|error| format!("{name}: {error}"));
    let origin_ms = read("origin")?.parse().map_err(|_| "the origin of time is no number".to_owned())?;
    let environment = [("OPENAI_API_KEY".to_owned(), "test".to_owned())];
    Agent::open(AgentOptions {
        config: Config::parse(&read("limpid.toml")?, "limpid.toml").map_err(|error| error.to_string())?,
        environment: Environment::new(environment),
        clock: Arc::new(Fast { origin_ms }),
        pause: Arc::new(FastPause),
        helper: Some(std::env::current_exe().map_err(|error| error.to_string())?),
        tools: vec![Arc::new(Note { file: effects_file(home) })],
        mailbox: Some(Arc::new(mailbox)),
        ..AgentOptions::new(Home::new(home))
    })
    .map_err(|error| error.to_string())
}

/// Where tools and commands leave a line for each thing that they did: a program writes in the workspace only.
pub(super) fn effects_file(home: &Path) -> PathBuf {
    home.join("workspace").join("effects")
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
struct Note {
    file: PathBuf,
}

#[async_trait]
impl Tool for Note {
    fn name(&self) -> &'static str {
        "note"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        self.class().into()
    }

    fn schema(&self) -> Map<String, Value> {
        let schema = json!({"type": "object", "properties": {"key": {"type": "string"}}});
        schema.as_object().cloned().unwrap_or_default()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let line = format!("{}\n", arguments["key"].as_str().unwrap_or_default());
        let mut file =
            OpenOptions::new().create(true).append(true).open(&self.file).map_err(|_| "the file cannot be opened")?;
        // One write, so that a line is whole or not there.
        file.write_all(line.as_bytes()).map_err(|_| "the file cannot be written")?;
        Ok(Sentence::from("noted").into())
    }
}
