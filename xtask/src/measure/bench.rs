//! An agent in this process whose clock and names are the measure's, against a recording server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::Timestamp;
use limpid_runtime::{
    Agent, AgentOptions, ChatRequest, Clock, Config, ConversationChoice, Environment, Home, Ids, Outcome, TurnEvent,
};
use limpid_testkit::{Recorder, Script};

/// What agents are made of: a home folder, a server that records, a clock that stands still until it is moved.
pub(crate) struct Bench {
    home: Home,
    clock: Arc<StillClock>,
    ids: Arc<CountingIds>,
    /// The server that answers.
    pub server: Recorder,
}

impl Bench {
    /// A bench whose model says what the script says.
    pub(crate) async fn new(home: &Path, script: &str) -> Result<Self, String> {
        let script = Script::parse(script).map_err(|error| error.to_string())?;
        let start: Timestamp = "2026-03-28T06:00:00Z".parse().map_err(|error| format!("{error}"))?;
        Ok(Self {
            home: Home::new(home),
            clock: Arc::new(StillClock(AtomicI64::new(start.as_millisecond()))),
            ids: Arc::default(),
            server: Recorder::start(script).await.map_err(|error| format!("recording server: {error}"))?,
        })
    }

    /// An agent on it; another one is another start of the program.
    pub(crate) fn agent(&self) -> Result<Agent, String> {
        self.agent_of("limpid")
    }

    /// An agent with a profile.
    pub(crate) fn agent_of(&self, profile: &str) -> Result<Agent, String> {
        let config = format!(
            "model = \"openai/scripted\"\n[agent]\nprofile = \"{profile}\"\n[owner]\nzone = \"Europe/Berlin\"\n"
        );
        let url = format!("{}/v1", self.server.url());
        Agent::open(AgentOptions {
            config: Config::parse(&config, "limpid.toml").map_err(|error| error.to_string())?,
            environment: Environment::new([("OPENAI_BASE_URL".to_owned(), url)]),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            ids: Arc::clone(&self.ids) as Arc<dyn Ids>,
            ..AgentOptions::new(self.home.clone())
        })
        .map_err(|error| error.to_string())
    }

    /// Moves the clock.
    pub(crate) fn forward_minutes(&self, minutes: i64) {
        self.clock.0.fetch_add(minutes * 60_000, Ordering::SeqCst);
    }
}

/// Says something and waits for the end of the turn.
pub(crate) async fn say(agent: &Agent, conversation: ConversationChoice, text: &str) -> Result<(), String> {
    let request = ChatRequest { conversation, text: text.to_owned(), ..ChatRequest::default() };
    let mut handle = agent.chat(request).await.map_err(|error| error.to_string())?;
    while let Some(event) = handle.next().await {
        match event {
            TurnEvent::Done { outcome: Outcome::Answered { .. }, .. } => return Ok(()),
            TurnEvent::Done { .. } | TurnEvent::Interrupted(_) => return Err(format!("the turn ended with {event:?}")),
            _ => {}
        }
    }
    Err("the turn has no end".to_owned())
}

struct StillClock(AtomicI64);

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}

#[derive(Default)]
struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn draw(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}
