//! Where the server listens, and its life.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use limpid_model::{Pause, RealPause};
use limpid_runtime::{Agent, AgentError};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::door::Door;
use crate::{ingest, listener};

/// How long requests that came before the end may take.
pub(crate) const CLOSE: Duration = Duration::from_secs(10);

/// How long to wait before an address that could not be had is asked for again.
const AGAIN: Duration = Duration::from_secs(30);

/// How often an address that is taken is asked for at once, and how long to wait in between. A server that was killed leaves
/// its address to a program that it was starting, until that program has begun.
const TRIES: u32 = 20;
const SOON: Duration = Duration::from_millis(50);

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    router: Router,
    address: SocketAddr,
    pause: Arc<dyn Pause>,
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
    /// Other machines would reach what is lent unencrypted, and nobody said that they may.
    #[error(
        "{0} can be reached by other machines, and what is asked and answered would not be encrypted; put a server with \
         TLS before a loopback address, or start it with --public"
    )]
    PublicMcp(SocketAddr),
    /// The address for clients cannot be listened on.
    #[error("cannot listen on {address}: {error}; choose another one: limpid mcp serve --http ADDRESS")]
    McpAddress {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// Other machines would reach the page unencrypted, and nobody said that they may.
    #[error(
        "{0} can be reached by other machines, and what is read and typed would not be encrypted; put a server with TLS \
         before a loopback address, or set `public = true` under [page] in limpid.toml"
    )]
    PublicPage(SocketAddr),
    /// The address of the page cannot be listened on.
    #[error("cannot listen on {address}: {error}; set another address as `listen` under [page] in limpid.toml")]
    PageAddress {
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
    /// Listens, when the owner has opened any source; else there is nothing to listen for. Connections and bodies are waited for
    /// by `pause`.
    ///
    /// # Errors
    /// When there is no token, the address is public and not meant to be, or it cannot be listened on.
    pub async fn bind(agent: &Agent, pause: Arc<dyn Pause>) -> Result<Option<Self>, ServerError> {
        match wanted(agent)? {
            Some(address) => Self::listen(agent, address, pause).await.map(Some),
            None => Ok(None),
        }
    }

    async fn listen(agent: &Agent, wanted: SocketAddr, pause: Arc<dyn Pause>) -> Result<Self, ServerError> {
        let unreachable = |error| ServerError::Address { address: wanted, error };
        let listener = first_free(wanted, &*pause).await.map_err(unreachable)?;
        let address = listener.local_addr().map_err(unreachable)?;
        Ok(Self { listener, router: router(agent.clone(), address, Arc::clone(&pause)), address, pause })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` comes; requests that came before are answered whole.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) {
        listener::serve(self.listener, self.router, self.pause, listener::OF_ONE, stop).await;
    }
}

/// Listens on an address, also when whoever had it ended a moment ago.
pub(crate) async fn first_free(wanted: SocketAddr, pause: &dyn Pause) -> io::Result<TcpListener> {
    for _ in 0..TRIES {
        match TcpListener::bind(wanted).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => pause.pause(SOON).await,
            bound => return bound,
        }
    }
    TcpListener::bind(wanted).await
}

/// What changes about where incoming items are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoorNews {
    /// They are taken here.
    Opened(SocketAddr),
    /// They are not taken here any more.
    Closed(SocketAddr),
    /// They cannot be taken, and why.
    Stuck(String),
}

/// Listens where the owner's settings and the token say, and follows them until `stop` comes. `tell` hears what changes.
pub async fn keep_open(agent: &Agent, tell: impl Fn(DoorNews) + Send + 'static, stop: impl Future<Output = ()>) {
    let mut changes = agent.settings_changes();
    let mut open: Option<Open> = None;
    let mut told = None;
    tokio::pin!(stop);
    loop {
        changes.mark_unchanged();
        let (address, problem) = match wanted(agent) {
            Ok(address) => (address, None),
            Err(problem) => (None, Some(problem)),
        };
        if open.as_ref().map(|open| open.wanted) != address
            && let Some(old) = open.take()
        {
            let was = old.address;
            old.close().await;
            tell(DoorNews::Closed(was));
        }
        let problem = match address.filter(|_| open.is_none()) {
            None => problem,
            Some(wanted) => match Server::listen(agent, wanted, Arc::new(RealPause)).await {
                Ok(server) => {
                    tell(DoorNews::Opened(server.address));
                    open = Some(Open::start(server, wanted));
                    None
                }
                Err(problem) => Some(problem),
            },
        };
        let problem = problem.map(|problem| problem.to_string());
        if problem != told {
            problem.iter().cloned().map(DoorNews::Stuck).for_each(&tell);
            told = problem;
        }
        let again = async {
            match told.is_some() && address.is_some() {
                // Whatever holds the port may let go of it.
                true => tokio::time::sleep(AGAIN).await,
                false => std::future::pending().await,
            }
        };
        let ended = async {
            match &mut open {
                Some(open) => drop((&mut open.running).await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = &mut stop => break,
            // The agent lives as long as it is borrowed here.
            _ = changes.changed() => {}
            () = again => {}
            () = ended => {
                open = None;
                // What ended it would end the next one at once, too.
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
    if let Some(open) = open {
        open.close().await;
    }
}

/// A server that answers.
struct Open {
    /// The address of the settings; its port may be 0.
    wanted: SocketAddr,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Open {
    fn start(server: Server, wanted: SocketAddr) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let address = server.address;
        let running = tokio::spawn(server.run(async { drop(stopped.await) }));
        Self { wanted, address, stop, running }
    }

    /// Takes no new requests; those that came before are answered.
    async fn close(mut self) {
        let _ = self.stop.send(());
        // Whoever sends half a request and waits must not keep the door open.
        if tokio::time::timeout(CLOSE, &mut self.running).await.is_err() {
            self.running.abort();
        }
    }
}

/// Where the owner wants the server to listen: nowhere while every source is closed.
fn wanted(agent: &Agent) -> Result<Option<SocketAddr>, ServerError> {
    let config = &agent.config().inbox;
    if !config.is_open() {
        return Ok(None);
    }
    if !config.listen.ip().is_loopback() && !config.public {
        return Err(ServerError::Public(config.listen));
    }
    agent.inbox().token()?.ok_or(ServerError::NoToken)?;
    Ok(Some(config.listen))
}

fn router(agent: Agent, address: SocketAddr, pause: Arc<dyn Pause>) -> Router {
    let entry = ingest::Entry { agent, address, door: Door::default(), pause };
    Router::new()
        .route("/health", get(|| async { "ok\n" }))
        .route("/v1/inbox/{kind}", post(ingest::hand_in))
        .with_state(Arc::new(entry))
}
