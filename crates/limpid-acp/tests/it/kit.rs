//! A home with a scripted model, and an editor that says what a test wants it to.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use limpid_acp::{Host, NewChat, serve};
use limpid_core::policy::{Destination, Effect};
use limpid_core::{Labelled, RetryPlan, Sentence, ToolClass};
use limpid_runtime::{Agent, AgentOptions, Config, Environment, Home, Parsing, Tool, ToolContext};
use limpid_testkit::{Recorder, Script};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long a test waits for something that has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home, a folder that an editor works in, a model by a script, and tools that a test looks at.
pub(crate) struct Bench {
    pub(crate) home: TempDir,
    pub(crate) work: TempDir,
    pub(crate) server: Recorder,
    pub(crate) config: String,
    pub(crate) new_chat: NewChat,
    pub(crate) slow: Arc<Slow>,
    pub(crate) post: Arc<Post>,
}

impl Bench {
    /// `WORK` in the script is the folder that the editor works in.
    pub(crate) async fn new(script: &str) -> Self {
        let work = tempfile::tempdir().unwrap();
        let script = script.replace("WORK", work.path().canonicalize().unwrap().to_str().unwrap());
        Self {
            home: tempfile::tempdir().unwrap(),
            work,
            server: Recorder::start(Script::parse(&script).unwrap()).await.unwrap(),
            config: "model = \"openai/scripted\"\n[tools]\ndefer = false\n".to_owned(),
            new_chat: NewChat::default(),
            slow: Arc::default(),
            post: Arc::default(),
        }
    }

    /// The folder that the editor works in, without links.
    pub(crate) fn folder(&self) -> String {
        self.work.path().canonicalize().unwrap().display().to_string()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.work.path().canonicalize().unwrap().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work.path().join(name)).unwrap()
    }

    /// The words of a server that the owner has installed, as programs of theirs are.
    pub(crate) fn installed(&self, words: &[String]) -> Vec<String> {
        let folder = self.home.path().join(".local");
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("serve.sh");
        std::fs::write(&program, format!("exec {}", words.join(" "))).unwrap();
        vec!["/bin/sh".to_owned(), program.display().to_string()]
    }

    fn options(&self) -> AgentOptions {
        let url = format!("{}/v1", self.server.url());
        let user = self.home.path().display().to_string();
        let path = std::env::var("PATH").unwrap();
        let variables = [("OPENAI_BASE_URL", url), ("PATH", path), ("HOME", user)];
        AgentOptions {
            config: Config::parse(&self.config, "limpid.toml").unwrap(),
            environment: Environment::new(variables.map(|(name, value)| (name.to_owned(), value))),
            parsing: Parsing::InThisProcess,
            retry: RetryPlan { tries: 1, first_wait: Duration::from_millis(1) },
            tools: vec![Arc::clone(&self.slow) as Arc<dyn Tool>, Arc::clone(&self.post) as Arc<dyn Tool>],
            ..AgentOptions::new(Home::new(self.home.path()))
        }
    }

    /// An agent of this home, as another process would open it.
    pub(crate) fn agent(&self) -> Agent {
        Agent::open(self.options()).unwrap()
    }

    /// An editor with a program of its own, greeted.
    pub(crate) async fn editor(&self) -> Editor {
        self.editor_of(self.agent()).await
    }

    /// The same of an agent that is there.
    pub(crate) async fn editor_of(&self, agent: Agent) -> Editor {
        let mut editor = self.stranger_to(agent);
        let greeted = editor.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} })).await;
        assert_eq!(greeted.unwrap()["protocolVersion"], 1);
        editor
    }

    /// The same, before a word was said.
    fn stranger_to(&self, agent: Agent) -> Editor {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let options = self.options();
        let host = Host { agent, options, program: "test", new_chat: self.new_chat.clone() };
        let serving = tokio::spawn(async move {
            serve(host, input, output, CancellationToken::new()).await.map_err(|error| error.to_string())
        });
        let (from, to) = tokio::io::split(ours);
        Editor {
            to: Some(to),
            from: BufReader::new(from).lines(),
            next: 0,
            early: VecDeque::new(),
            updates: Vec::new(),
            questions: Vec::new(),
            open: Vec::new(),
            answers: VecDeque::new(),
            serving,
        }
    }

    /// A session of an editor in the folder.
    pub(crate) async fn session(&self, editor: &mut Editor) -> String {
        let new = json!({ "cwd": self.folder(), "mcpServers": [] });
        editor.ask("session/new", new).await.unwrap()["sessionId"].as_str().unwrap().to_owned()
    }
}

/// An editor.
pub(crate) struct Editor {
    to: Option<WriteHalf<DuplexStream>>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next: u64,
    /// Answers that came while another was waited for.
    early: VecDeque<Value>,
    pub(crate) updates: Vec<Value>,
    pub(crate) questions: Vec<Value>,
    /// The ids of those that are open.
    open: Vec<Value>,
    /// The options by which questions are answered, in turn; afterwards by none, and they stay open.
    pub(crate) answers: VecDeque<&'static str>,
    serving: JoinHandle<Result<(), String>>,
}

impl Editor {
    /// Sends a line as it is.
    pub(crate) async fn line(&mut self, line: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line).await.unwrap();
        to.write_all(b"\n").await.unwrap();
    }

    /// Sends a request, and does not wait.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.line(request.to_string().as_bytes()).await;
        id
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.line(notification.to_string().as_bytes()).await;
    }

    /// The next message. Updates and questions are noted, and questions answered.
    async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.from.next_line()).await.expect("nothing came").unwrap()?;
        let message: Value = serde_json::from_str(&line).expect("every line is a message");
        match message["method"].as_str() {
            Some("session/update") => self.updates.push(message["params"]["update"].clone()),
            Some("session/request_permission") => {
                self.questions.push(message["params"].clone());
                self.open.push(message["id"].clone());
                if let Some(option) = self.answers.pop_front() {
                    self.reply(option).await;
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// Answers the newest question.
    pub(crate) async fn reply(&mut self, option: &str) {
        let id = self.open.pop().expect("a question is open");
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": outcome });
        self.line(answer.to_string().as_bytes()).await;
    }

    /// The answer to a request: its result or its error.
    pub(crate) async fn end(&mut self, id: u64) -> Result<Value, Value> {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        let answer = loop {
            if let Some(at) = self.early.iter().position(is_it) {
                break self.early.remove(at).unwrap();
            }
            let message = self.next().await.expect("the connection stands");
            if message.get("method").is_none() {
                self.early.push_back(message);
            }
        };
        if answer.get("error").is_some() { Err(answer["error"].clone()) } else { Ok(answer["result"].clone()) }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.start(method, params).await;
        self.end(id).await
    }

    /// Begins a prompt.
    pub(crate) async fn say(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.start("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await
    }

    /// Says something and returns why the turn stopped.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> String {
        let id = self.say(session, text).await;
        self.end(id).await.unwrap()["stopReason"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({ "sessionId": session })).await;
    }

    /// Reads until this holds.
    pub(crate) async fn until(&mut self, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            let message = self.next().await.expect("the connection stands");
            if message.get("method").is_none() {
                self.early.push_back(message);
            }
        }
    }

    /// The updates of a kind.
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.updates.iter().filter(|update| update["sessionUpdate"] == kind).collect()
    }

    /// What was said in chunks of a kind.
    pub(crate) fn said(&self, kind: &str) -> String {
        self.of(kind).iter().map(|update| update["content"]["text"].as_str().unwrap()).collect()
    }

    /// Goes away without a word, and waits until the program has ended.
    pub(crate) async fn leave(mut self) -> Result<(), String> {
        drop(self.to.take());
        drop(self.from);
        tokio::time::timeout(PATIENCE, self.serving).await.expect("the program ends").unwrap()
    }
}

/// A tool that runs until a test lets it go on, or it is stopped.
#[derive(Default)]
pub(crate) struct Slow {
    pub(crate) begun: AtomicUsize,
    pub(crate) ended: AtomicUsize,
    pub(crate) go_on: Notify,
}

#[async_trait]
impl Tool for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        Map::new()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.go_on.notified().await;
        self.ended.fetch_add(1, Ordering::SeqCst);
        Ok(Labelled::new("waited".to_owned(), limpid_core::Trust::File))
    }
}

/// A tool by which something leaves, so that each call waits for the owner.
#[derive(Default)]
pub(crate) struct Post {
    pub(crate) sent: AtomicUsize,
}

#[async_trait]
impl Tool for Post {
    fn name(&self) -> &'static str {
        "post"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Send
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Send
    }

    fn schema(&self) -> Map<String, Value> {
        let to = json!({ "type": "string" });
        let schema = json!({ "type": "object", "properties": { "to": to, "text": to } });
        schema.as_object().unwrap().clone()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        Some(Destination::Place(arguments["to"].as_str()?.to_owned()))
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        Ok(Labelled::new("sent".to_owned(), limpid_core::Trust::File))
    }
}

/// How often something was counted.
pub(crate) fn count(of: &AtomicUsize) -> usize {
    of.load(Ordering::SeqCst)
}

/// A reply that calls a tool.
pub(crate) fn call(name: &str, arguments: &Value) -> String {
    let fields = arguments.as_object().unwrap().iter().map(|(name, value)| format!("{name} = {value}"));
    let fields = fields.collect::<Vec<_>>().join(", ");
    format!("[[reply]]\ncalls = [{{ name = \"{name}\", arguments = {{ {fields} }} }}]\n")
}

/// A reply in words.
pub(crate) fn text(words: &str) -> String {
    format!("[[reply]]\ntext = {words:?}\n")
}

/// Waits until a message of a session waits for a turn.
pub(crate) async fn accepted(bench: &Bench, session: &str) {
    let conversation = limpid_core::ConversationId::new(session.to_owned());
    let agent = bench.agent();
    let there = async {
        // Its conversation is told right after it is stored, which the second look leaves time for.
        for _ in 0..2 {
            while agent.store().waiting(&conversation).await.unwrap().rows.is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, there).await.expect("the message is accepted");
}

/// Waits until a request has come to the model.
pub(crate) async fn asked(bench: &Bench, times: usize) {
    tokio::time::timeout(PATIENCE, bench.server.wait_for(times)).await.expect("the model is asked");
}
