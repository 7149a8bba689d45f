//! An agent whose model is a script, its page, and a browser that is logged in.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use limpid_model::RealPause;
use limpid_runtime::{Agent, AgentOptions, Clock, Config, Environment, Home};
use limpid_server::PageServer;
use limpid_testkit::{Recorder, Script};
use reqwest::header::{ACCEPT, COOKIE, ORIGIN, SET_COOKIE};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The script of a model that is not asked anything.
pub(crate) const QUIET: &str = "[[reply]]\ntext = \"Hello.\"\n";

pub(crate) struct Noon;

impl Clock for Noon {
    fn now(&self) -> jiff::Timestamp {
        "2026-04-11T12:00:00Z".parse().unwrap()
    }
}

/// A page that is served, and a client that may be logged in.
pub(crate) struct PageBench {
    pub(crate) home: TempDir,
    pub(crate) agent: Agent,
    pub(crate) url: String,
    pub(crate) client: Client,
    pub(crate) link: String,
    cookie: String,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) recorder: Recorder,
}

impl PageBench {
    /// A page whose agent's model answers by a script; `config` is more of limpid.toml. The client is logged in.
    pub(crate) async fn new(script: &str, config: &str) -> Self {
        Self::of(tempfile::tempdir().unwrap(), script, config).await
    }

    /// The same, of a home that is there already.
    pub(crate) async fn of(home: TempDir, script: &str, config: &str) -> Self {
        let mut bench = Self::outside_of(home, script, config, 0).await;
        bench.log_in().await;
        bench
    }

    /// Logs the client in by the link.
    pub(crate) async fn log_in(&mut self) {
        let response = self.client.get(&self.link).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        self.cookie = cookie_of(&response);
    }

    /// The same, with a client that is not logged in.
    pub(crate) async fn outside(script: &str, config: &str) -> Self {
        Self::outside_at(script, config, 0).await
    }

    /// The same, at a port.
    pub(crate) async fn outside_at(script: &str, config: &str, port: u16) -> Self {
        Self::outside_of(tempfile::tempdir().unwrap(), script, config, port).await
    }

    async fn outside_of(home: TempDir, script: &str, config: &str, port: u16) -> Self {
        let recorder = Recorder::start(Script::parse(script).unwrap()).await.unwrap();
        let variables = [
            ("OPENAI_BASE_URL", format!("{}/v1", recorder.url())),
            ("OPENAI_API_KEY", "sk-12345678".to_owned()),
            ("PATH", std::env::var("PATH").unwrap_or_default()),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value));
        let config = format!("[page]\nlisten = \"127.0.0.1:{port}\"\n{config}\n");
        let agent = Agent::open(AgentOptions {
            config: Config::parse(&config, "limpid.toml").unwrap(),
            environment: Environment::new(variables),
            clock: Arc::new(Noon),
            ..AgentOptions::new(Home::new(home.path()))
        })
        .unwrap();
        let server = PageServer::bind(&agent, Arc::new(RealPause)).await.unwrap().unwrap();
        let url = format!("http://{}", server.address());
        let (link, address) = (server.login_link().unwrap(), server.address());
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .no_proxy()
            .resolve(host_of(&link), address)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { home, agent, url, client, link, cookie: String::new(), stop: Some(stop), recorder }
    }

    /// Has an agent of this home look at all tools of its MCP servers and say that they may be used: the next one has them.
    pub(crate) async fn look_at_servers(home: &TempDir, config: &str, name: &str) {
        let path = ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default());
        let agent = Agent::open(AgentOptions {
            config: Config::parse(config, "limpid.toml").unwrap(),
            environment: Environment::new([path]),
            clock: Arc::new(Noon),
            ..AgentOptions::new(Home::new(home.path()))
        })
        .unwrap();
        agent.mcp().probe(name).await.unwrap();
        agent.mcp().enable(name, &agent.mcp().waiting(name, None).unwrap()).unwrap();
        agent.mcp().close().await;
    }

    /// The bodies that the model was sent.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.recorder.calls().iter().map(limpid_testkit::Recorded::text).collect()
    }

    /// A request for a screen.
    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url)).header(COOKIE, &self.cookie).header(ACCEPT, "text/html")
    }

    /// A form that the page itself sends.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        let request = self.client.post(format!("{}{path}", self.url)).header(COOKIE, &self.cookie);
        let request = request.header(ORIGIN, &self.url).header("content-type", "application/x-www-form-urlencoded");
        request.body(body.join("&"))
    }

    /// The HTML of a screen.
    pub(crate) async fn html(&self, path: &str) -> String {
        let response = self.get(path).send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        text
    }

    /// What a form is answered with.
    pub(crate) async fn sent(&self, path: &str, fields: &[(&str, &str)]) -> Value {
        let response = self.post(path, fields).send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Where a form leads that was sent without a script.
    pub(crate) async fn leads(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let response = self.post(path, fields).send().await.unwrap();
        let status = response.status();
        let to = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        let text = response.text().await.unwrap();
        assert_eq!(status, StatusCode::SEE_OTHER, "{path}: {text}");
        to.unwrap()
    }

    /// Pieces of a conversation after the mark of one, or all that stand there, until one is the last.
    pub(crate) async fn pieces(&self, id: &str, after: &str, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let after = if after.is_empty() { String::new() } else { format!("?after={after}") };
        let response = self.get(&format!("/c/{id}/events{after}")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let mut stream = response.bytes_stream();
        let (mut text, mut pieces) = (String::new(), Vec::new());
        let reading = async {
            loop {
                text.push_str(std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap());
                while let Some((event, rest)) = text.split_once("\n\n") {
                    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                    let number = event.lines().find_map(|line| line.strip_prefix("id: "));
                    if let (Some(data), Some(number)) = (data, number) {
                        let mut piece: Value = serde_json::from_str(data).unwrap();
                        piece["mark"] = number.into();
                        pieces.push(piece);
                    }
                    text = rest.to_owned();
                    if pieces.last().is_some_and(&is_last) {
                        return;
                    }
                }
            }
        };
        let read = tokio::time::timeout(PATIENCE, reading).await;
        assert!(read.is_ok(), "the last piece never came: {pieces:?}");
        pieces
    }
}

impl Drop for PageBench {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }
}

/// The cookie that an answer sets, as a browser sends it back.
pub(crate) fn cookie_of(response: &Response) -> String {
    let set = response.headers()[SET_COOKIE].to_str().unwrap();
    assert!(set.contains("HttpOnly; SameSite=Strict; Path=/"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

fn escaped(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The name of a link's server.
pub(crate) fn host_of(link: &str) -> &str {
    link.strip_prefix("http://").and_then(|link| link.split(':').next()).unwrap()
}
