//! The screens of what is remembered: all of it, and one memory with its history.

mod proposals;
mod shown;

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use limpid_core::by_side::by_side;
use limpid_core::{Category, MemoryId};
use limpid_prompt::shown::shown_line;
use limpid_runtime::AgentError;
use limpid_store::{MemoryEvent, MemoryEventId, MemoryEventKind, MemoryRef};
use serde::Deserialize;

use self::shown::{Change, Choice, Row, change, choices, hits, is_strangers, pinned_words, row, who_said};
use super::forms::{SOURCE, back, typed};
use super::shell::Shell;
use super::state::Page;
use super::trouble::{Trouble, screen as screen_of};

/// Memories that are shown at once, of the owner's.
const MOST: usize = 200;

/// Memories that a search shows.
const FOUND: usize = 50;

/// Changes that are shown, of the owner's.
const LATELY: usize = 20;

/// A line of the list.
enum Entry {
    Memory(Box<Row>),
    /// One that was just forgotten, where it stood.
    Gone {
        name: String,
        is_foreign: bool,
        event: i64,
    },
}

#[derive(Template)]
#[template(path = "memory.html")]
struct MemoryScreen {
    shell: Shell,
    proposals: String,
    entries: Vec<Entry>,
    choices: Vec<Choice>,
    category: &'static str,
    all: usize,
    /// What of it every prompt has.
    pinned: String,
    left_out: usize,
    query: String,
    notice: Option<String>,
    lately: Vec<Change>,
}

#[derive(Template)]
#[template(path = "memory_one.html")]
struct OneScreen {
    shell: Shell,
    row: Row,
    facts: Vec<String>,
    conversation: Option<String>,
    choices: Vec<Choice>,
    history: Vec<Change>,
}

/// What is asked for.
#[derive(Deserialize)]
struct Asked {
    category: Option<String>,
    q: Option<String>,
    /// A memory that was just forgotten, and where it stood.
    gone: Option<String>,
    at: Option<String>,
}

/// What is to be kept.
#[derive(Deserialize)]
struct Wanted {
    key: String,
    content: String,
    category: String,
}

/// What a memory is to say.
#[derive(Deserialize)]
struct Corrected {
    content: String,
    category: String,
}

/// Where a memory stood in the list.
#[derive(Deserialize)]
struct Place {
    at: Option<String>,
    category: Option<String>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/memory", get(screen).post(add))
        .route("/memory/{id}", get(one).post(correct))
        .route("/memory/{id}/pin", post(pin))
        .route("/memory/{id}/unpin", post(unpin))
        .route("/memory/{id}/forget", post(forget))
        .route("/memory/undo/{event}", post(undo))
        .merge(proposals::routes())
}

async fn screen(
    State(page): State<Arc<Page>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let memory = page.agent.memory();
    let known = page.agent.store().memories(None).await?.rows;
    let category = asked.category.as_deref().and_then(|word| word.parse::<Category>().ok());
    let query = asked.q.unwrap_or_default();
    let is_search = !query.trim().is_empty();
    let mut rows = match is_search {
        true => memory.recall(&query, FOUND).await?,
        // The newest first, and before them what every prompt has.
        false => {
            let mut rows = known.clone();
            rows.sort_by_key(|memory| (!memory.pinned, -memory.updated_ms));
            rows
        }
    };
    rows.retain(|memory| category.is_none_or(|category| memory.category == category));
    let all_of_these = rows.len();
    let rows = by_side(rows, MOST, |memory| memory.trust.is_foreign());
    let left_out = all_of_these - rows.len();
    let said = who_said(&page, &rows).await?;
    let mut entries: Vec<Entry> =
        rows.iter().map(|memory| Entry::Memory(Box::new(row(&page, memory, said.get(&memory.id))))).collect();
    let events = memory.history(None).await?.rows;
    if let Some(gone) = asked.gone.and_then(|id| id.parse().ok()).and_then(|id| forgotten(&events, id)) {
        let at = asked.at.and_then(|at| at.parse().ok()).unwrap_or(0).min(entries.len());
        entries.insert(at, gone);
    }
    let lately = by_side(events.iter().rev(), LATELY, |event| is_strangers(event));
    let is_there = |id: MemoryId| known.iter().any(|memory| memory.id == id);
    let screen = MemoryScreen {
        shell: Shell::new(&page, &headers, "Memory · Limpid", "memory").await?,
        proposals: proposals::part(&page).await?,
        entries,
        choices: choices(&known, category),
        category: category.map_or("", Category::as_str),
        all: known.len(),
        pinned: pinned_words(&page, &known),
        left_out,
        query: if is_search { query } else { String::new() },
        notice: memory.take_search_notice(),
        lately: lately.into_iter().map(|event| change(&page, event, is_there(event.memory))).collect(),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `GET /memory/{id}`
async fn one(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let Some(memory) = page.agent.store().memory(&MemoryRef::Id(MemoryId(id))).await? else {
        let advice = "a forgotten one is below the list, under Recent changes".to_owned();
        let missing = AgentError::NotFound { what: "memory", name: id.to_string(), advice };
        return screen_of(&page, &headers, "Not remembered", missing.into()).await;
    };
    let said = who_said(&page, std::slice::from_ref(&memory)).await?;
    let said = said.get(&memory.id);
    let history = page.agent.memory().history(Some(memory.id)).await?.rows;
    let row = row(&page, &memory, said);
    let screen = OneScreen {
        shell: Shell::new(&page, &headers, "A memory · Limpid", "memory").await?,
        facts: vec![
            row.from.clone(),
            hits(memory.hits),
            format!("saved {}", page.moment(memory.created_ms)),
            format!("changed {}", page.moment(memory.updated_ms)),
        ],
        conversation: said.and_then(|said| said.conversation.as_ref()).map(ToString::to_string),
        choices: choices(&[], Some(memory.category)),
        history: history.iter().rev().map(|event| change(&page, event, true)).collect(),
        row,
    };
    Ok(Html(screen.render()?).into_response())
}

/// `POST /memory`
async fn add(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Form(Wanted { key, content, category }): Form<Wanted>,
) -> Result<Response, Trouble> {
    let kept = match category.parse::<Category>() {
        Ok(category) => page.agent.memory().remember(&key, &typed(&content), category, SOURCE).await,
        Err(error) => Err(AgentError::Invalid(error.to_string())),
    };
    back(&page, &headers, kept, |kept| format!("/memory#m{}", kept.memory.id)).await
}

/// `POST /memory/{id}`
async fn correct(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(Corrected { content, category }): Form<Corrected>,
) -> Result<Response, Trouble> {
    let which = MemoryRef::Id(MemoryId(id));
    let corrected = match category.parse::<Category>() {
        Ok(category) => page.agent.memory().correct(&which, Some(typed(&content)), Some(category), SOURCE).await,
        Err(error) => Err(AgentError::Invalid(error.to_string())),
    };
    back(&page, &headers, corrected, |_| format!("/memory/{id}")).await
}

async fn pin(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = page.agent.memory().pin(&MemoryRef::Id(MemoryId(id)), true).await;
    back(&page, &headers, done, |_| format!("/memory#m{id}")).await
}

async fn unpin(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = page.agent.memory().pin(&MemoryRef::Id(MemoryId(id)), false).await;
    back(&page, &headers, done, |_| format!("/memory#m{id}")).await
}

async fn forget(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(Place { at, category }): Form<Place>,
) -> Result<Response, Trouble> {
    let done = page.agent.memory().forget(&MemoryRef::Id(MemoryId(id))).await;
    let at = at.and_then(|at| at.parse::<usize>().ok()).unwrap_or(0);
    let category = category.and_then(|word| word.parse::<Category>().ok());
    let category = category.map(|category| format!("&category={category}")).unwrap_or_default();
    // Without a fragment, which would keep the browser from Undo.
    back(&page, &headers, done, |_| format!("/memory?gone={id}&at={at}{category}")).await
}

/// `POST /memory/undo/{event}`
async fn undo(State(page): State<Arc<Page>>, Path(event): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let undone = page.agent.memory().undo(MemoryEventId(event)).await;
    back(&page, &headers, undone, |memory| {
        memory.map_or("/memory#lately".to_owned(), |memory| format!("/memory#m{}", memory.id))
    })
    .await
}

/// A memory that was forgotten and not brought back, and the event to undo.
fn forgotten(events: &[MemoryEvent], id: i64) -> Option<Entry> {
    let newest = events.iter().rev().find(|event| event.memory.0 == id)?;
    let before = newest.before.as_ref().filter(|_| newest.kind == MemoryEventKind::Forgotten)?;
    let (name, is_foreign) = (shown_line(&before.key), before.trust.is_foreign());
    Some(Entry::Gone { name, is_foreign, event: newest.id.0 })
}
