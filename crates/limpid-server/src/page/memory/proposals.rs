//! Memories that want to become part of the soul, and those that did.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use axum::{Form, Router};
use limpid_prompt::shown::{shown, shown_line};
use limpid_prompt::{Estimate, TokenCounter as _};
use limpid_runtime::soul::Soul;
use limpid_store::{Promotion, PromotionId, PromotionState};
use serde::Deserialize;

use super::shown::hits;
use crate::page::forms::{SOURCE, back, typed};
use crate::page::meter::thousands;
use crate::page::state::Page;
use crate::page::trouble::Trouble;

/// A memory that wants to become part of the soul.
struct Proposal {
    id: i64,
    key: String,
    hits: String,
    since: String,
    /// What the memory says, which goes.
    goes: String,
    /// Whether a stranger wrote the memory.
    goes_foreign: bool,
    /// The hash of all that is shown.
    hash: String,
    /// What would be added, as the agent words it.
    words: String,
    /// The line that it would be.
    line: String,
    is_foreign: bool,
    bytes: String,
    tokens: usize,
}

/// A memory that is part of the soul.
struct Standing {
    id: i64,
    key: String,
    line: String,
    is_foreign: bool,
    since: String,
}

#[derive(Template)]
#[template(path = "parts/proposals.html")]
struct Proposals {
    /// The soul as it is; none where the profile shows none.
    soul: Vec<String>,
    bytes: String,
    waiting: Vec<Proposal>,
    standing: Vec<Standing>,
}

/// What was shown to whoever says yes.
#[derive(Deserialize)]
struct Seen {
    hash: Option<String>,
}

/// The words that are to be added in place of those that were shown.
#[derive(Deserialize)]
struct Words {
    addition: String,
    hash: Option<String>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/memory/promotions/{id}/approve", post(approve))
        .route("/memory/promotions/{id}/reword", post(reword))
        .route("/memory/promotions/{id}/refuse", post(refuse))
        .route("/memory/promotions/{id}/undo", post(undo))
}

/// The part of the screen of memories that tells of them; empty when there are none.
pub(super) async fn part(page: &Page) -> Result<String, Trouble> {
    let promotions = page.agent.memory().promotions().await?.rows;
    let of = |state| promotions.iter().filter(move |promotion| promotion.state == state);
    let has_proposals = of(PromotionState::Pending).next().is_some();
    let soul = if has_proposals { Soul::of(&page.agent).await? } else { Soul::default() };
    let part = Proposals {
        bytes: thousands(soul.bytes()),
        waiting: of(PromotionState::Pending).map(|promotion| proposal(page, promotion, &soul)).collect(),
        standing: of(PromotionState::Standing).map(|promotion| standing(page, promotion)).collect(),
        soul: soul.lines.iter().map(|line| shown(line).into_owned()).collect(),
    };
    Ok(part.render()?)
}

fn proposal(page: &Page, promotion: &Promotion, soul: &Soul) -> Proposal {
    let line = Soul::line_of(&promotion.addition);
    Proposal {
        id: promotion.id.0,
        key: shown_line(&promotion.memory.key),
        hits: hits(promotion.memory.hits),
        since: page.clock(promotion.memory.created_ms),
        goes: shown(&promotion.memory.content).into_owned(),
        goes_foreign: promotion.memory.trust.is_foreign(),
        hash: promotion.hash(),
        words: promotion.addition.clone(),
        is_foreign: promotion.is_foreign(),
        bytes: thousands(soul.bytes() + usize::from(!soul.lines.is_empty()) + line.len()),
        tokens: Estimate::default().count(&line),
        line: shown(&line).into_owned(),
    }
}

fn standing(page: &Page, promotion: &Promotion) -> Standing {
    Standing {
        id: promotion.id.0,
        key: shown_line(&promotion.memory.key),
        line: shown(&Soul::line_of(&promotion.addition)).into_owned(),
        is_foreign: promotion.is_foreign(),
        since: page.clock(promotion.decided_ms.unwrap_or(promotion.proposed_ms)),
    }
}

/// `POST /memory/promotions/{id}/approve`: what was shown, and nothing else.
async fn approve(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(Seen { hash }): Form<Seen>,
) -> Result<Response, Trouble> {
    let done = page.agent.memory().approve_promotion(PromotionId(id), &hash.unwrap_or_default()).await;
    back(&page, &headers, done, |_| "/memory#soul".to_owned()).await
}

/// `POST /memory/promotions/{id}/reword`: the owner's words in place of the agent's.
async fn reword(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(Words { addition, hash }): Form<Words>,
) -> Result<Response, Trouble> {
    let (id, seen) = (PromotionId(id), hash.unwrap_or_default());
    let done = page.agent.memory().reword_promotion(id, &seen, &typed(&addition), SOURCE).await;
    back(&page, &headers, done, |_| "/memory#soul".to_owned()).await
}

async fn refuse(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = page.agent.memory().refuse_promotion(PromotionId(id)).await;
    back(&page, &headers, done, |_| "/memory".to_owned()).await
}

/// `POST /memory/promotions/{id}/undo`: out of the soul again.
async fn undo(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = page.agent.memory().unpromote(PromotionId(id)).await;
    back(&page, &headers, done, |back| format!("/memory#m{}", back.memory.id)).await
}
