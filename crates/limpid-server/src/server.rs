//! Where the server listens, and its life.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use limpid_runtime::{Agent, AgentError};
use tokio::net::TcpListener;

use crate::door::{Door, Hosts};
use crate::ingest;

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    router: Router,
    address: SocketAddr,
}

/// Why a server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// There is no token.
    #[error("nobody could hand anything in: there is no token; `limpid inbox token` makes one")]
    NoToken,
    /// Other machines would reach it unencrypted, and nobody said that they may.
    #[error(
        "{0} can be reached by other machines, and what they hand in would not be encrypted; put a server with TLS \
         before a loopback address, or set `public = true` under [inbox] in limpid.toml"
    )]
    Public(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}; set another address as `listen` under [inbox] in limpid.toml")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The agent cannot say what it needs to know.
    #[error(transparent)]
    Agent(#[from] AgentError),
}

impl Server {
    /// Listens, when the owner has opened any source; else there is nothing to listen for.
    ///
    /// # Errors
    /// When there is no token, the address is public and not meant to be, or it cannot be listened on.
    pub async fn bind(agent: &Agent) -> Result<Option<Self>, ServerError> {
        let config = &agent.config().inbox;
        if !config.is_open() {
            return Ok(None);
        }
        if !config.listen.ip().is_loopback() && !config.public {
            return Err(ServerError::Public(config.listen));
        }
        let token = agent.ingest_token()?.ok_or(ServerError::NoToken)?;
        let unreachable = |error| ServerError::Address { address: config.listen, error };
        let listener = TcpListener::bind(config.listen).await.map_err(unreachable)?;
        let address = listener.local_addr().map_err(unreachable)?;
        let door = Door::new(token, Hosts::new(address, &config.hosts));
        Ok(Some(Self { listener, router: router(agent.clone(), door), address }))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` comes; requests that came before are answered whole.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let service = self.router.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(self.listener, service).with_graceful_shutdown(stop).await
    }
}

fn router(agent: Agent, door: Door) -> Router {
    Router::new()
        .route("/health", get(|| async { "ok\n" }))
        .route("/v1/inbox/{kind}", post(ingest::hand_in))
        .with_state(Arc::new(ingest::Entry { agent, door }))
}
