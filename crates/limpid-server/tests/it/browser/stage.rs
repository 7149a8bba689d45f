//! A page that is served, with a model on strings, and what a script may ask for behind the browser's back.

use std::sync::Arc;

use limpid_core::{CallId, FailureClass, ToolCall, Usage};
use limpid_model::{FinishReason, ModelError, ModelEvent, RealPause};
use limpid_runtime::{Agent, AgentOptions, ChatRequest, Config, ConversationChoice, Environment, Home, TurnEvent};
use limpid_server::{PageServer, login_link};
use limpid_testkit::{McpScript, Recorder, Script};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::puppet::Puppet;
use crate::kit::{Noon, PageBench};

/// What a script asks for.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Wish {
    /// The model says some words.
    Say { text: String },
    /// The model thinks some words.
    Think { text: String },
    /// The model calls a tool.
    Call { name: String, arguments: Value },
    /// The answer is over.
    End,
    /// The answer breaks off.
    Fail { message: String },
    /// The text of the last request.
    Asked,
    /// The heartbeat runs, to its end: what the model says then must have been told before.
    Beat,
    /// Somebody who cannot answer asks for something, to the end.
    Chat { text: String },
    /// The same in the newest conversation, to the beginning of the answer.
    Begin { text: String },
    /// A link that logs a browser in.
    Link,
    /// The server goes away.
    Leave,
    /// A new process serves the same home at the same address.
    Return,
    /// What limpid.toml says.
    File,
    /// Whether a file of the workspace is there.
    Exists { path: String },
    /// The server of models that the settings name begins to listen.
    Serve,
    /// The agent gets an MCP server, whose tool `ask` puts this question to the owner.
    Server { question: Value },
}

/// A home, its agent and its page.
pub(super) struct Stage {
    home: TempDir,
    config: String,
    puppet: Arc<Puppet>,
    calls: usize,
    served: Option<Served>,
    /// Lists the models that can be chosen. None: nobody does yet, and whoever the settings name answers in the puppet's place.
    models: Option<Recorder>,
    port: u16,
}

struct Served {
    agent: Agent,
    server: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Stage {
    pub(super) async fn open() -> Self {
        let script = "models = [\"puppet\", \"small\"]\n[[reply]]\ntext = \"unused\"\n";
        let models = Recorder::start(Script::parse(script).unwrap()).await.unwrap();
        let chosen = "model = \"openai/puppet\"\nfallback = [\"openai/small\"]\n";
        Self::with(chosen, Some(models)).await
    }

    /// The same where no model is set, and nobody listens yet where the settings name a server.
    pub(super) async fn without_a_model() -> Self {
        Self::with("", None).await
    }

    async fn with(chosen: &str, models: Option<Recorder>) -> Self {
        let port = limpid_testkit::free_port();
        let house = if models.is_some() {
            String::new()
        } else {
            format!("[provider.house]\nbase_url = \"http://127.0.0.1:{port}/v1\"\n")
        };
        let mut stage = Self {
            home: tempfile::tempdir().unwrap(),
            config: format!(
                "{chosen}[owner]\nname = \"Anna\"\n\
                 [tools]\ndefer = false\n[policy]\nask = [{{ tool = \"write_file\" }}]\n\
                 [page]\nlisten = \"127.0.0.1:{}\"\n{house}",
                limpid_testkit::free_port()
            ),
            puppet: Arc::new(Puppet::new()),
            calls: 0,
            served: None,
            models,
            port,
        };
        std::fs::write(stage.home.path().join("limpid.toml"), format!("# Mine.\n{}", stage.config)).unwrap();
        let outside = stage.home.path().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("letter.txt"), "Write to me.").unwrap();
        stage.come().await;
        stage
    }

    async fn come(&mut self) {
        let mut variables = vec![("PATH", std::env::var("PATH").unwrap_or_default())];
        let puppet = self.models.as_ref().map(|models| {
            variables.push(("OPENAI_BASE_URL", format!("{}/v1", models.url())));
            variables.push(("OPENAI_API_KEY", "sk-12345678".to_owned()));
            Arc::clone(&self.puppet) as Arc<dyn limpid_model::Model>
        });
        let agent = Agent::open(AgentOptions {
            config: Config::parse(&self.config, "limpid.toml").unwrap(),
            environment: Environment::new(variables.into_iter().map(|(name, value)| (name.to_owned(), value))),
            clock: Arc::new(Noon),
            model: puppet,
            ..AgentOptions::new(Home::new(self.home.path()))
        })
        .unwrap();
        let server = PageServer::bind(&agent, Arc::new(RealPause)).await.unwrap().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        self.served = Some(Served { agent, server, stop });
    }

    async fn leave(&mut self) {
        if let Some(Served { server, stop, .. }) = self.served.take() {
            let _ = stop.send(());
            server.await.unwrap();
        }
    }

    async fn connect(&mut self, question: &Value) {
        let tool = json!({ "name": "ask", "description": "Asks.", "inputSchema": { "type": "object" } });
        let offers = json!({ "tools": [tool], "questions": { "ask": question } });
        let words = McpScript::write(self.home.path(), &offers).unwrap().words("");
        let arguments = serde_json::to_string(&words[1..]).unwrap();
        let server = format!(
            "[mcp.servers.desk]\ncommand = {:?}\nargs = {arguments}\ntools = {{ ask = {{ effect = \"look\" }} }}\n",
            words[0]
        );
        self.config.push_str(&server);
        self.leave().await;
        PageBench::look_at_servers(&self.home, &self.config, "desk").await;
        self.come().await;
    }

    fn agent(&self) -> &Agent {
        &self.served.as_ref().expect("the page is served").agent
    }

    /// Where the page is, as its links say it.
    pub(super) fn url(&self) -> String {
        self.link().split("/login").next().unwrap().to_owned()
    }

    fn link(&self) -> String {
        login_link(self.agent(), self.agent().config().page.listen).unwrap()
    }

    /// Does what a script asks for.
    pub(super) async fn grant(&mut self, wish: Wish) -> Value {
        match wish {
            Wish::Say { text } => self.puppet.tell(Ok(ModelEvent::Text(text))),
            Wish::Think { text } => self.puppet.tell(Ok(ModelEvent::Reasoning(text))),
            Wish::Call { name, arguments } => {
                self.calls += 1;
                let id = CallId::new(format!("call_{}", self.calls));
                self.puppet.tell(Ok(ModelEvent::Call(ToolCall { id, name, arguments: arguments.to_string() })));
            }
            Wish::End => {
                let usage = Usage { input: 1200, cached: 1000, output: 20, ..Usage::default() };
                self.puppet.tell(Ok(ModelEvent::Usage(usage)));
                self.puppet.tell(Ok(ModelEvent::End(FinishReason::Stop)));
            }
            Wish::Fail { message } => self.puppet.tell(Err(ModelError::new(FailureClass::Malformed, message))),
            Wish::Asked => {
                let calls = self.models.as_ref().map(Recorder::calls).unwrap_or_default();
                return calls.last().map_or_else(|| self.puppet.asked(), limpid_testkit::Recorded::text).into();
            }
            Wish::Beat => {
                let result = self.agent().jobs().run_heartbeat().await.unwrap();
                self.agent().conversations().deliver_waiting().await.unwrap();
                return format!("{result:?}").into();
            }
            Wish::Chat { text } => {
                let mut turn = self.agent().chat(ChatRequest { text, ..ChatRequest::default() }).await.unwrap();
                while turn.next().await.is_some() {}
            }
            Wish::Begin { text } => {
                let request = ChatRequest { conversation: ConversationChoice::Last, text, ..ChatRequest::default() };
                let mut turn = self.agent().chat(request).await.unwrap();
                let is_begun = |event: &TurnEvent| matches!(event, TurnEvent::Started { .. });
                while turn.next().await.is_some_and(|event| !is_begun(&event)) {}
                tokio::spawn(async move { while turn.next().await.is_some() {} });
            }
            Wish::Link => return self.link().into(),
            Wish::Leave => self.leave().await,
            Wish::Return => self.come().await,
            Wish::File => return std::fs::read_to_string(self.home.path().join("limpid.toml")).unwrap().into(),
            Wish::Serve => {
                let script = "models = [\"large\", \"small\"]\n[[reply]]\ntext = \"Good morning.\"\n";
                self.models = Some(Recorder::start_at(self.port, Script::parse(script).unwrap()).await.unwrap());
            }
            Wish::Server { question } => self.connect(&question).await,
            Wish::Exists { path } => return self.home.path().join("workspace").join(path).exists().into(),
        }
        json!({})
    }
}
