//! `/v1`: the agent for programs, at the address of the page. Who may ask shows a token that `limpid api token` made.
//!
//! # Layout
//! - `tokens`: which programs may ask, and as whom; `door`: who is let in; `error`: what went wrong.
//! - `conversations`, `changed`, `turns`: what was said, and what happens; `live`: who is told it, `live_event`: in which words.
//! - `drafts`, `kept`, `spent`: what waits, what is remembered and planned, what was sent and what it cost;
//!   `metrics`: numbers of it.
//! - `state`: what all are made from; `extract`: what an address says; `document`: what there is to ask.
//! - `completions`, `models`: what any client of OpenAI's chat completions asks; `wire`: its words; `bound`: in which conversation
//!   a request is answered; `answering`: the turn that answers it.

mod answering;
mod bound;
mod changed;
mod command;
mod completion;
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
mod quota;
mod spent;
mod state;
mod tokens;
mod turns;
mod typed;
mod wire;

use std::sync::Arc;

use axum::routing::any;
use axum::{Router, middleware};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::document::openapi;
use self::state::Api;
pub use self::tokens::{ApiRole, ApiToken, ApiTokens};
use crate::carried::to_the_end;
use crate::page::Page;

/// Its routes.
pub(crate) fn routes(page: &Arc<Page>) -> Router<Arc<Page>> {
    let api = Arc::new(Api::new(page));
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
        .routes(routes!(models::list))
        .routes(routes!(models::show))
        .routes(routes!(conversations::list, conversations::create))
        .routes(routes!(conversations::show, changed::change, changed::delete))
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
        .layer(middleware::from_fn(to_the_end))
        // A turn that answers whoever asks ends when they hang up.
        .routes(routes!(completions::complete))
}
