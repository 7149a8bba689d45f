//! A server on loopback that answers by path, and what tools are called with.

#![allow(unreachable_pub, reason = "a module of a test program has no outside")]

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::{CallId, ConversationId, Labelled, Sentence, Tier, Trust, TurnId};
use limpid_tools::{ShownItems, ToolContext, Written};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that gives the same bytes for the same path. It reads one request of a connection, and leaves it open when
/// the answer does not say that it closes.
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

const CLOSES: &[u8] = b"Connection: close\r\n";

impl Server {
    /// On an address of loopback, at any port or the one given. `answer` gets the path with its query.
    pub async fn start(address: &str, port: u16, answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((address.parse::<IpAddr>().unwrap(), port)).await.unwrap();
        let server =
            Self { address: listener.local_addr().unwrap(), connections: Arc::default(), requests: Arc::default() };
        let (connections, requests) = (Arc::clone(&server.connections), Arc::clone(&server.requests));
        tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let mut head = Vec::new();
                let mut buffer = [0u8; 4096];
                while !head.windows(4).any(|window| window == b"\r\n\r\n") {
                    match stream.read(&mut buffer).await {
                        Ok(read) if read > 0 => head.extend_from_slice(&buffer[..read]),
                        _ => break,
                    }
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                requests.lock().unwrap().push(head);
                let answer = answer(&path);
                let _ = stream.write_all(&answer).await;
                if !answer.windows(CLOSES.len()).any(|window| window == CLOSES) {
                    open.push(stream);
                }
            }
        });
        server
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The heads of the requests.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The same by a name, which only a test's own lookup knows.
    pub fn named(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }
}

/// An answer with a type and a body.
pub fn page(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// The same answer on a connection that would take another request.
pub fn kept(answer: &[u8]) -> Vec<u8> {
    let at = answer.windows(CLOSES.len()).position(|window| window == CLOSES).unwrap();
    [&answer[..at], &answer[at + CLOSES.len()..]].concat()
}

/// An answer that leads elsewhere.
pub fn to(place: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
}

pub fn context(trust: Trust) -> ToolContext {
    ToolContext {
        now: Timestamp::UNIX_EPOCH,
        zone: TimeZone::UTC,
        conversation: ConversationId::new("c1"),
        turn: TurnId::new("t1"),
        call: CallId::new("call"),
        trust,
        tier: Tier::ALL[2],
        read_only: false,
        approved: false,
        snapshot: None,
        bans: limpid_core::policy::Bans::default(),
        unused_skills: Vec::new(),
        private_place: None,
        may_lead_to_key: true,
        drawn: false,
        program: None,
        send_state: None,
        tools_of_agents: None,
        shown: ShownItems::default(),
        written: Written::default(),
        owner: None,
    }
}

/// What a tool said, for assertions.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    pub text: String,
    pub trust: Trust,
}

/// What a tool returned, in plain parts.
pub fn told(returned: Result<Labelled<String>, Sentence>) -> Result<Told, String> {
    match returned {
        Ok(said) => {
            let (text, trust) = said.into_parts();
            Ok(Told { text, trust })
        }
        Err(why) => Err(why.text().to_owned()),
    }
}
