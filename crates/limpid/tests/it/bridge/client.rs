//! A client of the protocol, word by word.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::kit::World;

/// A client that speaks the protocol word by word, in either revision.
pub(super) struct Client {
    pub(super) child: Child,
    pub(super) input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    asked: u64,
    /// What goes with each request, in the revision without a handshake.
    meta: Option<Value>,
}

impl Client {
    /// Starts the program and shakes hands with it.
    pub(super) async fn with_handshake(world: &World) -> Self {
        let mut client = Self::start(world, None);
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        let about = client.ask("initialize", hello).await;
        assert_eq!(about["protocolVersion"], "2025-11-25");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    /// Starts the program; each request says for itself what it is.
    pub(super) fn without_handshake(world: &World) -> Self {
        Self::start(
            world,
            Some(json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            })),
        )
    }

    pub(super) fn start(world: &World, meta: Option<Value>) -> Self {
        let mut child = world.start(&["mcp", "serve"]);
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output).lines(), asked: 0, meta }
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request; returns its number.
    pub(super) async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.asked += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params })).await;
        self.asked
    }

    /// The next answer. Every line of the output is a message of the protocol.
    pub(super) async fn answer(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(60), self.output.next_line()).await.unwrap();
        let message: Value = serde_json::from_str(&line.unwrap().expect("it hung up")).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// Asks for something and waits for its result; an error stands in its place.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer.get("result").or(answer.get("error")).unwrap().clone()
    }

    /// Calls a tool; returns what it says.
    pub(super) async fn call(&mut self, name: &str, arguments: Value) -> String {
        let result = self.ask("tools/call", json!({ "name": name, "arguments": arguments })).await;
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }

    /// Reads a resource.
    pub(super) async fn read(&mut self, uri: &str) -> String {
        let result = self.ask("resources/read", json!({ "uri": uri })).await;
        result["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }

    /// Hangs up, and waits until the program has ended.
    pub(super) async fn hang_up(mut self) {
        drop(self.input);
        let ended = tokio::time::timeout(Duration::from_secs(20), self.child.wait()).await.unwrap();
        assert!(ended.unwrap().success());
    }
}
