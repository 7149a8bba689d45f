//! An agent whose clock, names and model are the test's.

#![allow(unreachable_pub, reason = "a module of a test program has no outside")]

pub mod agents;
pub mod effects;
pub mod mailbox;
pub mod post;
pub mod program;
pub mod skills;
pub mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use limpid_core::inbox::Source;
use limpid_core::{Category, Labelled, RetryPlan, Sentence, Trust};
use limpid_model::protocol::Protocol;
use limpid_model::{Endpoint, Model, ModelCard, RemoteModel, Timeouts};
use limpid_runtime::{
    Agent, AgentOptions, ChatRequest, Clock, Config, ConversationChoice, Environment, Home, Ids, Parsing, TurnEvent,
    TurnHandle,
};
use limpid_store::{Audience, Author, ConversationKind, NewInbound, NewItem, NewMemory};
use limpid_testkit::{Recorded, Recorder, Script};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    pub fn at(instant: &str) -> Self {
        Self(AtomicI64::new(instant.parse::<Timestamp>().unwrap().as_millisecond()))
    }

    pub fn forward(&self, span: jiff::Span) {
        let later = self.now().checked_add(span).unwrap();
        self.0.store(later.as_millisecond(), Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// Names that count upwards.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn draw(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// A home folder, a server that records, and what an agent over both is made of.
pub struct Bench {
    pub home: TempDir,
    pub server: Recorder,
    pub clock: Arc<FixedClock>,
    pub ids: Arc<CountingIds>,
    pub config: Config,
}

impl Bench {
    /// A bench whose model says what the script says.
    pub async fn new(script: &str) -> Self {
        // Every tool travels, so that a script may call any; what waits to be found has tests of its own.
        let config = "model = \"openai/scripted\"\n[owner]\nzone = \"Europe/Berlin\"\n[tools]\ndefer = false\n";
        Self {
            home: tempfile::tempdir().unwrap(),
            server: Recorder::start(Script::parse(script).unwrap()).await.unwrap(),
            clock: Arc::new(FixedClock::at("2026-03-28T12:00:00Z")),
            ids: Arc::default(),
            config: Config::parse(config, "limpid.toml").unwrap(),
        }
    }

    /// An agent on it; a second one is a second start of the program.
    pub fn agent(&self) -> Agent {
        Agent::open(self.options()).unwrap()
    }

    pub fn options(&self) -> AgentOptions {
        let url = format!("{}/v1", self.server.url());
        AgentOptions {
            config: self.config.clone(),
            environment: Environment::new([("OPENAI_BASE_URL".to_owned(), url)]),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            ids: Arc::clone(&self.ids) as Arc<dyn Ids>,
            parsing: Parsing::InThisProcess,
            retry: RetryPlan { first_wait: Duration::from_millis(1), ..RetryPlan::default() },
            ..AgentOptions::new(Home::new(self.home.path()))
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// The address of a server on this machine that answers every request with this status and nothing else.
pub async fn answering(status: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = client.read(&mut request).await;
            let answer = format!("HTTP/1.1 {status} As asked\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = client.write_all(answer.as_bytes()).await;
        }
    });
    url
}

/// Says something in the last conversation and returns every event.
pub async fn say(agent: &Agent, text: &str) -> Vec<TurnEvent> {
    all(agent.chat(to_newest(agent, text).await).await.unwrap()).await
}

/// The chat that was written to last, whoever reads it besides the owner.
pub async fn newest_chat(agent: &Agent) -> ConversationChoice {
    let chats = agent.store().conversations(50).await.unwrap().rows.into_iter();
    let mut chats = chats.filter(|chat| chat.kind == ConversationKind::Chat && chat.audience != Audience::Strangers);
    chats.next().map_or(ConversationChoice::Last, |chat| ConversationChoice::Id(chat.id))
}

/// A message of the owner's to that chat.
pub async fn to_newest(agent: &Agent, text: &str) -> ChatRequest {
    ChatRequest { conversation: newest_chat(agent).await, ..last(text) }
}

/// The owner begins a chat or goes on with it; then a message of somebody else's arrives in it. Returns the request that
/// it led to.
pub async fn say_as_guest(bench: &Bench, agent: &Agent, text: &str) -> Recorded {
    let handle = agent.chat(last("hello")).await.unwrap();
    let conversation = handle.conversation().clone();
    all(handle).await;
    let before = bench.server.calls().len();
    let text = text.to_owned();
    let guest = NewInbound {
        conversation,
        key: None,
        text,
        trust: Trust::Guest,
        typed: false,
        base: limpid_store::Base::Workspace,
        now_ms: agent.now_ms(),
    };
    agent.store().accept(guest).await.unwrap();
    agent.conversations().resume().await.unwrap();
    let asked = async {
        while bench.server.calls().len() == before {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap();
    bench.server.calls()[before].clone()
}

pub fn last(text: &str) -> ChatRequest {
    ChatRequest { conversation: ConversationChoice::Last, text: text.to_owned(), ..ChatRequest::default() }
}

/// The same in a conversation of its own.
pub fn new_chat(text: &str) -> ChatRequest {
    ChatRequest { conversation: ConversationChoice::New, ..last(text) }
}

/// The name of a process of this machine that is gone, as it holds things; empty where that cannot be told.
pub fn dead_holder() -> String {
    let place = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let names = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if place.is_empty() { place } else { format!("{}/{}/999999999/1", place.trim(), names.display()) }
}

/// How long a test waits for what must come: so long that a machine with other work fails none, and a hang still ends.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Every event of a message, up to the last one.
pub async fn all(mut handle: TurnHandle) -> Vec<TurnEvent> {
    let mut events = Vec::new();
    while let Some(event) = tokio::time::timeout(PATIENCE, handle.next()).await.unwrap() {
        let is_last = event.is_last();
        events.push(event);
        if is_last {
            break;
        }
    }
    events
}

/// Keeps what a stranger wrote, under the key `mail`.
pub async fn keep_mail(agent: &Agent, content: &str) {
    let mail = NewMemory {
        key: Some("mail".to_owned()),
        content: content.to_owned(),
        category: Category::General,
        trust: Trust::Outside,
        author: Author::Inferred,
        source: None,
        now_ms: 0,
    };
    agent.store().store_memory(mail).await.unwrap();
}

/// The text that was streamed.
pub fn text(events: &[TurnEvent]) -> String {
    events
        .iter()
        .filter_map(|event| if let TurnEvent::Text(text) = event { Some(text.as_str()) } else { None })
        .collect()
}

/// A tool that never comes back.
pub struct Slow;

/// The same, for so long that something else can be said meanwhile.
pub struct Hangs;

/// A tool that is wrong.
pub struct Panics;

/// A tool with a consequence that must not happen twice; it tells when it runs and waits to be let go on.
pub struct Once {
    pub running: tokio::sync::Semaphore,
    pub go_on: tokio::sync::Semaphore,
    pub runs: AtomicU64,
}

impl Once {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            running: tokio::sync::Semaphore::new(0),
            go_on: tokio::sync::Semaphore::new(0),
            runs: AtomicU64::new(0),
        })
    }
}

macro_rules! tool {
    ($type:ty, $name:literal, $repeatable:literal, $timeout:expr, |$self:ident| $run:expr) => {
        #[async_trait::async_trait]
        impl limpid_runtime::Tool for $type {
            fn name(&self) -> &'static str {
                $name
            }

            fn group(&self) -> &'static str {
                "test"
            }

            fn class(&self) -> limpid_core::ToolClass {
                limpid_core::ToolClass::Read
            }

            fn effect(&self, _: &serde_json::Value) -> limpid_core::policy::Effect {
                self.class().into()
            }

            fn schema(&self) -> serde_json::Map<String, serde_json::Value> {
                serde_json::Map::from_iter([("type".to_owned(), "object".into())])
            }

            fn is_repeatable(&self) -> bool {
                $repeatable
            }

            fn timeout(&self) -> Option<Duration> {
                $timeout
            }

            async fn run(
                &$self,
                _: &limpid_runtime::ToolContext,
                _: serde_json::Value,
            ) -> Result<Labelled<String>, Sentence> {
                $run
            }
        }
    };
}

tool!(Slow, "slow", true, Some(Duration::from_millis(20)), |self| std::future::pending().await);
tool!(Hangs, "hangs", true, Some(Duration::from_secs(1)), |self| std::future::pending().await);
tool!(Panics, "panics", true, None, |self| panic!("as a tool may"));
tool!(Once, "once", false, None, |self| {
    self.runs.fetch_add(1, Ordering::SeqCst);
    self.running.add_permits(1);
    self.go_on.acquire().await.unwrap().forget();
    Ok(Sentence::from("done").into())
});

/// A text message that the phone has handed in.
pub fn sms(text: &str, clock: &FixedClock) -> NewItem {
    NewItem {
        source: Source::Sms,
        account: String::new(),
        key: None,
        uid: None,
        message_id: None,
        sender: "+491701234".to_owned(),
        title: String::new(),
        text: text.to_owned(),
        posted_ms: clock.now().as_millisecond(),
        now_ms: clock.now().as_millisecond(),
    }
}

/// The protocols that providers speak.
pub(crate) const PROTOCOLS: [Protocol; 5] =
    [Protocol::OpenaiChat, Protocol::OpenaiResponses, Protocol::Anthropic, Protocol::Gemini, Protocol::Ollama];

/// A model behind a server that speaks a protocol.
pub(crate) fn remote(protocol: Protocol, base_url: String) -> Arc<dyn Model> {
    let card = ModelCard { provider: protocol.as_str().to_owned(), id: "m".to_owned(), ..ModelCard::default() };
    let endpoint = Endpoint {
        protocol,
        dialect: limpid_model::protocol::Dialect::default(),
        base_url,
        key: None,
        key_variable: None,
        access: limpid_model::Access::default(),
        timeouts: Timeouts::default(),
        key_command: None,
        listed: Vec::new(),
    };
    Arc::new(RemoteModel::new(card, endpoint).unwrap())
}
