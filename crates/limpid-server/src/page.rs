//! The page: what the agent knows, sends, plans and costs, in a browser.
//!
//! # Layout
//! - `logins`: who is logged in; `door`: who is let in; `headers`: what a browser may do with what it gets.
//! - `assets`: style sheets and scripts.
//! - `state`: what all are made from; `shell`: what stands on every screen; `markdown`, `parts`: what stands on several.
//! - `forms`: what is sent without a script.
//! - `talks`: what is shown of turns while they run; `follow`, `growing`: who shows it; `events`: how a browser is told; `around`: what every screen is told.
//! - `list`, `chat`, `thread`, `send`, `attached`, `earlier`, `copied`: conversations; `screens`, `press`: forms in answers; `server_form`: forms of MCP servers; `banner`: reports.
//! - `inspector`, `diff`, `prompt_files`: what is read, what changed in it, and the files that it is made from.
//! - `activity`, `tasks`, `inbox`, `agents`, `goals`, `skills`, `memory`, `cost`, `settings`: the other screens, each with its
//!   routes.

mod activity;
mod agents;
mod around;
mod assets;
mod attached;
mod banner;
mod chat;
mod copied;
mod cost;
mod diff;
mod door;
mod earlier;
mod events;
mod exact;
mod follow;
mod forms;
mod goals;
mod growing;
mod headers;
mod inbox;
mod inspector;
mod kept_drafts;
mod list;
mod logins;
mod markdown;
mod memory;
mod meter;
mod parts;
mod press;
mod prompt_files;
mod screens;
mod send;
mod server_form;
mod settings;
mod shell;
mod skills;
mod state;
mod talks;
mod tasks;
mod thread;
mod trouble;

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use futures_util::future::join_all;
use limpid_model::Pause;
use limpid_runtime::{Agent, AgentError};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::logins::Logins;
pub(crate) use self::state::Page;
use self::talks::Talks;
use crate::carried::to_the_end;
use crate::door::{Door, Hosts, literal};
use crate::listener;
use crate::questions::Numbers;
use crate::server::{CLOSE, ServerError, first_free};

/// The page while it is served.
pub struct PageServer {
    listeners: Vec<TcpListener>,
    page: Arc<Page>,
}

impl PageServer {
    /// Listens where the owner's settings say; none where they want no page. Connections and messages are waited for by `pause`.
    ///
    /// # Errors
    /// When the address is public and not meant to be, or it cannot be listened on.
    pub async fn bind(agent: &Agent, pause: Arc<dyn Pause>) -> Result<Option<Self>, ServerError> {
        let config = agent.config().page.clone();
        if !config.on {
            return Ok(None);
        }
        if !config.listen.ip().is_loopback() && !config.public {
            return Err(ServerError::PublicPage(config.listen));
        }
        let unreachable = |error| ServerError::PageAddress { address: config.listen, error };
        let listener = first_free(config.listen, &*pause).await.map_err(unreachable)?;
        let address = listener.local_addr().map_err(unreachable)?;
        let epoch = agent.new_secret().split_off(56);
        let numbers = Numbers::beginning(&epoch);
        let logins = Logins::new(agent.home());
        let mut listeners = vec![listener];
        let is_whole = beside(address, &mut listeners).await;
        // Where it cannot be kept, or another server may hear what is asked of it, the page is asked for by the address.
        let name = match is_whole {
            true => logins.own_name(&agent.new_secret()).ok(),
            false => logins.forget_name().ok().and(None),
        };
        let page = Page {
            agent: agent.clone(),
            talks: Talks::new(&numbers),
            numbers,
            pause,
            epoch,
            address,
            hosts: Hosts::new(address, name.as_deref(), &config.hosts),
            door: Door::default(),
            logins,
            ending: CancellationToken::new(),
        };
        Ok(Some(Self { listeners, page: Arc::new(page) }))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.page.address
    }

    /// An address that logs a browser in, once.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn login_link(&self) -> Result<String, AgentError> {
        login_link(&self.page.agent, self.page.address)
    }

    /// Answers until `stop` comes; requests that came before get a moment to be answered.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listeners, page } = self;
        let (ending, pause) = (page.ending.clone(), Arc::clone(&page.pause));
        let stopped = CancellationToken::new();
        let tell = stopped.clone();
        // On this machine everybody has one address: browsers and programs of the owner's alike.
        let of_one = if page.address.ip().is_loopback() { listener::UNPROVED } else { listener::OF_ONE };
        let serve = |listener| {
            let stopped = stopped.clone();
            listener::serve(listener, router(&page), Arc::clone(&pause), of_one, async move {
                stopped.cancelled().await;
            })
        };
        let serving = async {
            join_all(listeners.into_iter().map(serve)).await;
        };
        let stopping = async move {
            stop.await;
            ending.cancel();
            tell.cancel();
            std::future::pending::<()>().await;
        };
        let late = async {
            stopped.cancelled().await;
            pause.pause(CLOSE).await;
        };
        tokio::select! {
            () = serving => {}
            () = stopping => {}
            () = late => {}
        }
    }
}

/// Listens at the other loopback address, too: browsers ask for a name under `localhost` at either. Says whether no other server can
/// be asked by that name.
async fn beside(address: SocketAddr, listeners: &mut Vec<TcpListener>) -> bool {
    let other = match address.ip() {
        IpAddr::V4(Ipv4Addr::LOCALHOST) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => return false,
    };
    match TcpListener::bind((other, address.port())).await {
        Ok(listener) => {
            listeners.push(listener);
            true
        }
        // This machine has no such address, so nobody listens there.
        Err(error) => matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported),
    }
}

/// An address that logs a browser in, once, at the page of whichever process serves this home there.
///
/// # Errors
/// When it cannot be written down.
pub fn login_link(agent: &Agent, address: SocketAddr) -> Result<String, AgentError> {
    let code = agent.new_secret();
    let logins = Logins::new(agent.home());
    logins.keep_code(&code, agent.now_ms())?;
    let name = match address.ip().is_loopback() {
        true => logins.known_name()?.unwrap_or_else(|| literal(address.ip())),
        false => literal(address.ip()),
    };
    Ok(format!("http://{name}:{}/login?code={code}", address.port()))
}

/// Logs every browser out at the page of this home, also where another process serves it.
///
/// # Errors
/// When that cannot be written down.
pub fn log_out_all(agent: &Agent) -> Result<(), AgentError> {
    Ok(Logins::new(agent.home()).log_out_all()?)
}

fn router(page: &Arc<Page>) -> Router {
    let inside = Router::new()
        .route("/", get(chat::first))
        .route("/c/new", get(chat::new))
        .route("/c/{id}", get(chat::show))
        .route("/c/{id}/thread", get(chat::thread))
        .route("/c/{id}/events", get(events::stream))
        .route("/c/{id}/send", post(send::send).layer(DefaultBodyLimit::max(send::MOST_BYTES)))
        .route("/c/{id}/said/{message}", get(earlier::show))
        .route("/c/{id}/words/{message}", get(copied::show))
        .route("/c/{id}/answer", post(send::answer))
        .route("/c/{id}/stop", post(send::stop))
        .route("/c/{id}/choose", post(send::choose))
        .route("/c/{id}/title", post(send::rename))
        .route("/c/{id}/complete", get(send::complete))
        .route("/theme", post(door::theme))
        .route("/logout", post(door::log_out))
        .merge(list::routes())
        .merge(around::routes())
        .merge(press::routes())
        .merge(server_form::routes())
        .merge(inspector::routes())
        .merge(diff::routes())
        .merge(prompt_files::routes())
        .merge(activity::routes())
        .merge(cost::routes())
        .merge(settings::routes())
        .merge(tasks::routes())
        .merge(memory::routes())
        .merge(agents::routes())
        .merge(inbox::routes())
        .merge(goals::routes())
        .merge(skills::routes())
        .fallback(trouble::missing)
        .layer(middleware::from_fn(to_the_end))
        .layer(middleware::from_fn_with_state(Arc::clone(page), door::admit));
    Router::new()
        .route("/health", get(|| async { "ok\n" }))
        .route("/assets/{version}/{name}", get(assets::file))
        .route("/login", get(door::log_in))
        .merge(inside)
        .merge(crate::api::routes(page))
        .layer(middleware::from_fn_with_state(Arc::clone(page), headers::add))
        .with_state(Arc::clone(page))
}
