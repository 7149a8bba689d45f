//! `/v1`: the agent for programs, at the address of the page. Who may ask shows a token that `limpid api token` made.
//!
//! # Layout
//! - `tokens`: which programs may ask, and as whom; `door`: who is let in; `error`: what went wrong.
//! - `conversations`, `turns`: what was said, and what happens; `live`: who is told it, `live_event`: in which words.
//! - `drafts`, `kept`, `spent`: what waits, what is remembered and planned, what was sent and what it cost;
//!   `metrics`: numbers of it.
//! - `extract`: what an address says; `document`: what there is to ask.
//! - `completions`, `models`: what any client of OpenAI's chat completions asks; `wire`: its words; `bound`: in which conversation
//!   a request is answered; `answering`: the turn that answers it.

mod answering;
mod bound;
mod completions;
mod conversations;
mod document;
mod door;
mod drafts;
mod error;
mod extract;
mod kept;
mod live;
mod live_event;
mod metrics;
mod models;
mod spent;
mod tokens;
mod turns;
mod wire;

use std::sync::Arc;

use axum::routing::any;
use axum::{Router, middleware};
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::bound::{Locks, Threads};
pub use self::document::openapi;
use self::live::Lives;
pub use self::tokens::{ApiRole, ApiToken, ApiTokens};
use crate::door::Door;
use crate::page::Page;

/// Requests that are answered at once.
const AT_ONCE: usize = 64;

/// What requests of programs are answered with.
pub(crate) struct Api {
    page: Arc<Page>,
    tokens: ApiTokens,
    door: Door,
    threads: Threads,
    locks: Locks,
    lives: Lives,
    places: Arc<Semaphore>,
}

/// Its routes.
pub(crate) fn routes(page: &Arc<Page>) -> Router<Arc<Page>> {
    let api = Arc::new(Api {
        page: Arc::clone(page),
        tokens: ApiTokens::new(page.agent.home()),
        door: Door::default(),
        threads: Threads::default(),
        locks: Locks::default(),
        lives: Lives::default(),
        places: Arc::new(Semaphore::new(AT_ONCE)),
    });
    let (inside, _) = documented().split_for_parts();
    inside
        .method_not_allowed_fallback(error::wrong_method)
        .route("/v1", any(error::missing))
        .route("/v1/{*rest}", any(error::missing))
        .route_layer(middleware::from_fn_with_state(Arc::clone(&api), door::admit))
        .with_state(api)
}

/// The routes with what the document says of them.
fn documented() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(completions::complete))
        .routes(routes!(models::list))
        .routes(routes!(models::show))
        .routes(routes!(conversations::list, conversations::create))
        .routes(routes!(conversations::show))
        .routes(routes!(conversations::messages, turns::say))
        .routes(routes!(turns::events))
        .routes(routes!(turns::answer))
        .routes(routes!(turns::stop))
        .routes(routes!(drafts::list))
        .routes(routes!(drafts::show))
        .routes(routes!(drafts::approve))
        .routes(routes!(drafts::refuse))
        .routes(routes!(kept::memories))
        .routes(routes!(kept::tasks))
        .routes(routes!(kept::task))
        .routes(routes!(spent::cost))
        .routes(routes!(spent::requests))
        .routes(routes!(spent::request))
        .routes(routes!(document::show))
        .routes(routes!(metrics::show))
}
