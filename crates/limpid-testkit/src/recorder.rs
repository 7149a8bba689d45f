//! A server on loopback that records every request and answers by a script.

mod recorded;
mod scripted;
mod written;

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use limpid_model::script::{Reply, Script};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::http::{Connection, Request};
use crate::kept::keep_body;
use crate::lock::lock;
use crate::wire::Wire;

pub use recorded::Recorded;

use scripted::Scripted;
use written::answer;

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
