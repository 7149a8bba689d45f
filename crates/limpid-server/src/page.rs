//! The page: what the agent knows, sends, plans and costs, in a browser.
//!
//! # Layout
//! - `logins`: who is logged in; `door`: who is let in; `headers`: what a browser may do with what it gets.
//! - `assets`: style sheets and scripts.
//! - `state`: what all are made from; `shell`: what stands on every screen; `markdown`, `parts`: what stands on several.
//! - `forms`: what is sent without a script.
//! - `talks`: what is shown of turns while they run; `follow`, `growing`: who shows it; `events`: how a browser is told.
//! - `chat`, `thread`, `send`, `attached`, `earlier`: conversations; `screens`, `press`: forms in answers; `banner`: what the heartbeat has reported.
//! - `inspector`, `diff`, `prompt_files`: what is read, what changed in it, and the files that it is made from.
//! - `activity`, `tasks`, `inbox`, `agents`, `goals`, `skills`, `memory`, `cost`, `settings`: the other screens, each with its
//!   routes.

mod activity;
mod agents;
mod assets;
mod attached;
mod banner;
mod chat;
mod cost;
mod diff;
mod door;
mod earlier;
mod events;
mod follow;
mod forms;
mod goals;
mod growing;
mod headers;
mod inbox;
mod inspector;
mod logins;
mod markdown;
mod memory;
mod meter;
mod parts;
mod press;
mod prompt_files;
mod screens;
mod send;
mod settings;
mod shell;
mod skills;
mod state;
mod talks;
mod tasks;
mod thread;
mod trouble;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use limpid_model::Pause;
use limpid_runtime::{Agent, AgentError};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::logins::Logins;
pub(crate) use self::state::Page;
use self::talks::Talks;
use crate::door::{Door, Hosts, OWN_NAME, literal};
use crate::listener;
use crate::server::{CLOSE, ServerError, first_free};

/// The page while it is served.
pub struct PageServer {
    listener: TcpListener,
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
        let page = Page {
            agent: agent.clone(),
            talks: Talks::default(),
            pause,
            epoch: agent.new_secret().split_off(56),
            address,
            hosts: Hosts::new(address, &config.hosts),
            door: Door::default(),
            logins: Logins::new(agent.home()),
            ending: CancellationToken::new(),
        };
        Ok(Some(Self { listener, page: Arc::new(page) }))
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
        let Self { listener, page } = self;
        let (ending, pause) = (page.ending.clone(), Arc::clone(&page.pause));
        let stopped = CancellationToken::new();
        let tell = stopped.clone();
        // On this machine everybody has one address: browsers and programs of the owner's alike.
        let of_one = if page.address.ip().is_loopback() { listener::UNPROVED } else { listener::OF_ONE };
        let serving = listener::serve(listener, router(&page), Arc::clone(&pause), of_one, async move {
            stop.await;
            ending.cancel();
            tell.cancel();
        });
        let late = async {
            stopped.cancelled().await;
            pause.pause(CLOSE).await;
        };
        tokio::select! {
            () = serving => {}
            () = late => {}
        }
    }
}

/// An address that logs a browser in, once, at the page of whichever process serves this home there.
///
/// # Errors
/// When it cannot be written down.
pub fn login_link(agent: &Agent, address: SocketAddr) -> Result<String, AgentError> {
    let code = agent.new_secret();
    Logins::new(agent.home()).keep_code(&code, agent.now_ms())?;
    let name = if address.ip().is_loopback() { OWN_NAME.to_owned() } else { literal(address.ip()) };
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
        .route("/c/{id}/answer", post(send::answer))
        .route("/c/{id}/stop", post(send::stop))
        .route("/c/{id}/choose", post(send::choose))
        .route("/c/{id}/complete", get(send::complete))
        .route("/banner/dismiss", post(banner::dismiss))
        .route("/theme", post(door::theme))
        .route("/logout", post(door::log_out))
        .merge(press::routes())
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
