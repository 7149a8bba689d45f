//! A server on loopback that records every request and answers by a script.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use limpid_model::ScriptedEmbedder;
use limpid_model::script::{Hang, Player, Reply, Script};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::http::{Connection, Request};
use crate::kept::keep_body;
use crate::wire::{SentText, Wire};

/// A running server; it stops when this is dropped.
pub struct Recorder {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

/// Where replies come from.
enum Answerer {
    Script(Scripted),
    Function(Box<dyn Fn(&Recorded) -> Reply + Send + Sync>),
    /// Answers the addresses of lists as well, and what it does not answer is not found. Requests are recorded.
    Everything(Box<AnswerAll>),
}

/// Answers a request, or says that there is nothing at its address.
type AnswerAll = dyn Fn(&Recorded) -> Option<Reply> + Send + Sync;

/// A script: what its model says, and what its embeddings are.
struct Scripted {
    player: Mutex<Player>,
    embedder: ScriptedEmbedder,
    script: Script,
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub body: Vec<u8>,
    /// When it had arrived, counted from the server's start.
    pub at: Duration,
}

struct Shared {
    answerer: Answerer,
    models: Vec<String>,
    /// Replies at addresses that are no model's.
    others: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<Recorded>>,
    count: watch::Sender<usize>,
    started: Instant,
}

impl Recorder {
    /// Starts a server on a free port of the loopback.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_at(0, script).await
    }

    /// Starts a server on a port of the loopback; 0 is any free one.
    ///
    /// # Errors
    /// When the port cannot be opened.
    pub async fn start_at(port: u16, script: Script) -> io::Result<Self> {
        let models = if script.models.is_empty() { vec!["scripted".to_owned()] } else { script.models.clone() };
        Self::listen(port, models, Answerer::Script(Scripted::new(script))).await
    }

    /// Starts a server on a free port of the loopback that answers every request by a function. It records none of
    /// them, so that it may run for as long as it likes.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn answering(answer: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> io::Result<Self> {
        Self::listen(0, vec!["scripted".to_owned()], Answerer::Function(Box::new(answer))).await
    }

    /// Starts a server on a free port of the loopback that records every request and answers it by a function, lists of
    /// models included.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn serving(answer: impl Fn(&Recorded) -> Option<Reply> + Send + Sync + 'static) -> io::Result<Self> {
        Self::listen(0, Vec::new(), Answerer::Everything(Box::new(answer))).await
    }

    async fn listen(port: u16, models: Vec<String>, answerer: Answerer) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            answerer,
            models,
            others: Mutex::default(),
            requests: Mutex::default(),
            count: watch::Sender::new(0),
            started: Instant::now(),
        });
        let server = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, server })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL without a path: `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// Every request that asked a model so far (lists of models and probes left out).
    pub fn calls(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.wire().is_some()).collect()
    }

    /// When a request had arrived, on this process's clock.
    pub fn instant(&self, request: &Recorded) -> Instant {
        self.shared.started + request.at
    }

    /// Answers the next request at an address that is no model's with this status and body.
    pub fn will_answer(&self, status: u16, body: &str) {
        let (raw, content_type) = (Some(body.to_owned()), Some("application/json".to_owned()));
        lock(&self.shared.others).push_back(Reply { status: Some(status), raw, content_type, ..Reply::default() });
    }

    /// Waits until there were `count` requests.
    pub async fn wait_for(&self, count: usize) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.shared.count.subscribe().wait_for(|seen| *seen >= count).await;
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Recorded {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The protocol, by the path.
    pub fn wire(&self) -> Option<Wire> {
        Wire::of(&self.path)
    }

    /// The texts of the messages in their order, whatever the protocol.
    pub fn texts(&self) -> Vec<SentText> {
        self.wire().map(|wire| wire.texts(&self.json())).unwrap_or_default()
    }

    /// The system text; several are joined by a blank line.
    pub fn system(&self) -> String {
        let system: Vec<String> =
            self.texts().into_iter().filter(|sent| sent.role == "system").map(|sent| sent.text).collect();
        system.join("\n\n")
    }

    /// The text of the last user message.
    pub fn user(&self) -> String {
        self.texts().into_iter().rfind(|sent| sent.role == "user").map(|sent| sent.text).unwrap_or_default()
    }

    /// The request as one JSON object: what `record` prints a line of.
    pub fn to_json(&self) -> Value {
        json!({
            "at_us": u64::try_from(self.at.as_micros()).unwrap_or(u64::MAX),
            "method": self.method,
            "path": self.path,
            "headers": self.headers,
            "body": self.text(),
            "protocol": self.wire().map(Wire::name),
            "texts": self.texts().iter().map(|sent| json!({"role": sent.role, "text": sent.text})).collect::<Vec<_>>(),
        })
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(attend(stream, Arc::clone(&shared)));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Answers one connection until it ends; whatever goes wrong on it concerns nobody else.
async fn attend(stream: TcpStream, shared: Arc<Shared>) {
    // Pieces are to leave when they are written, not when a packet is full.
    let _ = stream.set_nodelay(true);
    let mut connection = Connection::new(stream);
    while let Ok(Some(request)) = connection.request().await {
        let wire = Wire::of(&request.path);
        let model = model_of(&request);
        if let Some(wire) = wire {
            keep_body(wire, &request.body);
        }
        let reply = shared.reply(request, wire);
        let reply = reply.unwrap_or_else(|| Reply {
            status: Some(404),
            body: r#"{"error":{"message":"the script has no reply for this"}}"#.to_owned(),
            ..Reply::default()
        });
        if !matches!(answer(&mut connection, &reply, wire, &model).await, Ok(true)) {
            return;
        }
    }
}

impl Scripted {
    fn new(script: Script) -> Self {
        let embedder = ScriptedEmbedder::new("scripted", script.clone());
        Self { player: Mutex::new(script.clone().player()), embedder, script }
    }

    fn reply(&self, request: &Recorded, wire: Option<Wire>) -> Option<Reply> {
        if is_embedding(&request.path) {
            return Some(self.embeddings(request));
        }
        wire.and_then(|_| lock(&self.player).next(&request.text()))
    }

    /// The embeddings of the texts that are asked for, or the first error of the script that fits, however often.
    fn embeddings(&self, request: &Recorded) -> Reply {
        let body = request.text();
        let fits = |reply: &&Reply| reply.is_error() && reply.when.as_deref().is_none_or(|when| body.contains(when));
        if let Some(error) = self.script.reply.iter().find(fits) {
            return error.clone();
        }
        let asked = request.json();
        let texts = asked["input"].as_array().into_iter().flatten().map(|text| text.as_str().unwrap_or_default());
        let rows = texts.enumerate().map(|(at, text)| json!({"index": at, "embedding": self.embedder.numbers(text)}));
        let answer = json!({"object": "list", "data": rows.collect::<Vec<_>>()});
        Reply { raw: Some(answer.to_string()), content_type: Some("application/json".to_owned()), ..Reply::default() }
    }
}

impl Shared {
    /// The reply to a request; none when there is none for it.
    fn reply(&self, request: Request, wire: Option<Wire>) -> Option<Reply> {
        let Request { method, path, headers, body } = request;
        let request = Recorded { method, path, headers, body, at: self.started.elapsed() };
        if let Answerer::Everything(answer) = &self.answerer {
            let reply = answer(&request);
            self.record(request);
            return reply;
        }
        let listed = if wire.is_none() { listing(&request.path, &self.models) } else { None };
        let listed = listed.or_else(|| if wire.is_none() { lock(&self.others).pop_front() } else { None });
        match &self.answerer {
            Answerer::Function(answer) => listed.or_else(|| Some(answer(&request))),
            Answerer::Everything(_) => None,
            Answerer::Script(scripted) => {
                let reply = listed.or_else(|| scripted.reply(&request, wire));
                self.record(request);
                reply
            }
        }
    }

    fn record(&self, request: Recorded) {
        let mut requests = lock(&self.requests);
        requests.push(request);
        self.count.send_replace(requests.len());
    }
}

fn model_of(request: &Request) -> String {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    body["model"].as_str().unwrap_or("scripted").to_owned()
}

/// What the usual listing addresses answer.
fn listing(path: &str, models: &[String]) -> Option<Reply> {
    let body = match path.split('?').next()? {
        path if path.ends_with("/models") => {
            json!({"object": "list", "data": models.iter().map(|id| json!({"id": id, "object": "model"})).collect::<Vec<_>>()})
        }
        "/api/tags" => {
            json!({"models": models.iter().map(|name| json!({"name": name, "model": name})).collect::<Vec<_>>()})
        }
        "/health" => json!({"status": "ok"}),
        _ => return None,
    };
    Some(Reply { raw: Some(body.to_string()), content_type: Some("application/json".to_owned()), ..Reply::default() })
}

fn is_embedding(path: &str) -> bool {
    path.split('?').next().is_some_and(|path| path.ends_with("/embeddings"))
}

/// Writes one reply; true when the connection may be used again.
async fn answer(connection: &mut Connection, reply: &Reply, wire: Option<Wire>, model: &str) -> io::Result<bool> {
    if reply.hang == Some(Hang::Start) {
        connection.wait_for_close().await;
        return Ok(false);
    }
    pause(reply.delay_ms).await;
    let status = reply.status.unwrap_or(200);
    let (pieces, end, content_type) = match (&reply.raw, wire) {
        (Some(raw), _) => (vec![raw.clone()], Vec::new(), "text/event-stream"),
        (None, Some(wire)) if !reply.is_error() => {
            let spoken = wire.speak(reply, model);
            (spoken.pieces, spoken.end, wire.content_type())
        }
        _ => (vec![reply.body.clone()], Vec::new(), "application/json"),
    };
    let retry = reply.retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
    let content_type = reply.content_type.as_deref().unwrap_or(content_type);
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\n{retry}transfer-encoding: chunked\r\n\r\n"
    );
    connection.write(head.as_bytes()).await?;

    let mut budget = reply.cut.unwrap_or(usize::MAX);
    let end = if reply.hang == Some(Hang::End) { Vec::new() } else { end };
    for (at, piece) in pieces.iter().chain(&end).enumerate() {
        if at > 0 {
            pause(reply.between_ms).await;
        }
        let comment = if reply.comments { wire.map_or("", Wire::comment) } else { "" };
        let text = format!("{comment}{piece}");
        let left = &text.as_bytes()[..text.len().min(budget)];
        budget -= left.len();
        for chunk in left.chunks(reply.piece.unwrap_or(usize::MAX).max(1)) {
            connection.write(format!("{:x}\r\n", chunk.len()).as_bytes()).await?;
            connection.write(chunk).await?;
            connection.write(b"\r\n").await?;
        }
        if budget == 0 {
            return Ok(false);
        }
    }
    if reply.hang == Some(Hang::End) {
        connection.wait_for_close().await;
        return Ok(false);
    }
    connection.write(b"0\r\n\r\n").await?;
    Ok(true)
}

async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside stays whole when another test's thread panics while it holds the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
