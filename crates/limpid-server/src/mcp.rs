//! `/mcp`: what is lent to clients of the Model Context Protocol, over streamable HTTP.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, WWW_AUTHENTICATE};
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use limpid_mcp::serving::{Endpoint, HttpOptions};
use limpid_model::Pause;
use limpid_runtime::Bridge;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::door::{Door, Hosts, Refused};
use crate::ingest::{error, refuse};
use crate::listener::{self, Proof};
use crate::server::{CLOSE, ServerError, first_free};

/// How long somebody may take to send their message.
const BODY: Duration = Duration::from_secs(30);

/// Bytes of a message.
const MOST: usize = 4 * 1024 * 1024;

/// Requests that are answered at once.
const AT_ONCE: usize = 32;

/// How the server gets another name.
const HOSTS: &str = "start it with `limpid mcp serve --http --host NAME`";

/// Where to listen.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// The address.
    pub address: SocketAddr,
    /// Names under which other machines reach it, besides its address.
    pub hosts: Vec<String>,
    /// Whether it may be an address that other machines reach, without encryption of its own.
    pub public: bool,
}

/// A server that listens for clients.
pub struct McpServer {
    listener: TcpListener,
    router: Router,
    address: SocketAddr,
    pause: Arc<dyn Pause>,
    ending: CancellationToken,
}

struct Entry {
    bridge: Arc<Bridge>,
    hosts: Hosts,
    door: Door,
    pause: Arc<dyn Pause>,
    endpoint: Endpoint,
    answering: Semaphore,
}

impl McpServer {
    /// Listens. Connections and messages are waited for by `pause`.
    ///
    /// # Errors
    /// When the address is public and not meant to be, or it cannot be listened on.
    pub async fn bind(bridge: Arc<Bridge>, options: McpOptions, pause: Arc<dyn Pause>) -> Result<Self, ServerError> {
        let McpOptions { address, hosts, public } = options;
        if !address.ip().is_loopback() && !public {
            return Err(ServerError::PublicMcp(address));
        }
        let unreachable = |error| ServerError::McpAddress { address, error };
        let listener = first_free(address, &*pause).await.map_err(unreachable)?;
        let address = listener.local_addr().map_err(unreachable)?;
        let ending = CancellationToken::new();
        let http = HttpOptions { address, names: hosts.clone(), stop: ending.clone() };
        let entry = Entry {
            endpoint: bridge.endpoint(http),
            bridge,
            hosts: Hosts::new(address, None, &hosts),
            door: Door::default(),
            pause: Arc::clone(&pause),
            answering: Semaphore::new(AT_ONCE),
        };
        let router = Router::new().route("/mcp", any(answer)).with_state(Arc::new(entry));
        Ok(Self { listener, router, address, pause, ending })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` comes; requests that came before get a moment to be answered.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (ending, pause) = (self.ending.clone(), Arc::clone(&self.pause));
        let stopped = CancellationToken::new();
        let tell = stopped.clone();
        let serving = listener::serve(self.listener, self.router, self.pause, listener::OF_ONE, async move {
            stop.await;
            tell.cancel();
        });
        let late = async {
            stopped.cancelled().await;
            pause.pause(CLOSE).await;
            ending.cancel();
            // What does not end now has nobody who waits for it.
            pause.pause(CLOSE / 10).await;
        };
        tokio::select! {
            () = serving => {}
            () = late => {}
        }
    }
}

async fn answer(
    State(entry): State<Arc<Entry>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Extension(proof): Extension<Proof>,
    request: Request,
) -> Response {
    // A token that cannot be read opens nothing.
    let token = || entry.bridge.token().ok().flatten();
    if let Err(refused) = entry.door.admit(&entry.hosts, token, (from.ip(), Instant::now()), request.headers()) {
        let mut response = refuse(refused, HOSTS);
        if refused == Refused::Token {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        return response;
    }
    proof.give();
    let (parts, body) = request.into_parts();
    let body = tokio::select! {
        body = to_bytes(body, MOST) => body,
        () = entry.pause.pause(BODY) => {
            return error(StatusCode::REQUEST_TIMEOUT, "the message did not come within 30 seconds");
        }
    };
    let Ok(body) = body else {
        return error(StatusCode::PAYLOAD_TOO_LARGE, "a message has at most 4 MiB");
    };
    // A client that sends slowly takes nobody's place.
    let Ok(_place) = entry.answering.try_acquire() else {
        return error(StatusCode::SERVICE_UNAVAILABLE, "too many requests are being answered; ask again");
    };
    entry.endpoint.handle(Request::from_parts(parts, Body::from(body))).await.map(Body::new)
}
