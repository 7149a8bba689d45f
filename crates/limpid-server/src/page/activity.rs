//! The screen of what waits for the owner: questions of answers that are being given, and calls that were kept as drafts.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use limpid_core::DraftState;
use limpid_core::by_side::by_side;
use limpid_prompt::shown::shown_line;
use limpid_runtime::AgentError;
use limpid_store::{Draft, DraftId};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::chat::title;
use super::exact::Exact;
use super::forms::typed;
use super::parts::{fields, folder, short_form};
use super::shell::Shell;
use super::state::Page;
use super::trouble::{Trouble, screen_before};
use crate::questions::{Asks, Waits};

/// An argument that can be changed.
struct Argument {
    /// Its name, as it is shown.
    label: String,
    name: String,
    value: String,
    /// Whether it is a text, which is taken as it is typed, and not as JSON.
    is_text: bool,
}

/// A draft as it is shown.
struct DraftRow {
    id: i64,
    tool: String,
    fields: Vec<(Exact, Exact)>,
    arguments: Exact,
    /// What a number or a key in them stands for.
    about: Option<Exact>,
    destination: Option<Exact>,
    folder: Option<Exact>,
    why: Exact,
    led_by: Exact,
    is_foreign: bool,
    until: String,
    hash: String,
    edits: Vec<Argument>,
    /// The arguments as they are, where they have no names.
    raw: String,
}

/// A question that waits in a conversation.
struct QuestionRow {
    conversation: String,
    /// What the conversation is called.
    title: String,
    what: Asked,
}

/// Who asks, as it is shown.
enum Asked {
    /// The model, whether it may call this tool, and what says most of the call.
    Call(String, String),
    /// The MCP server of this name.
    Server(String),
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityScreen {
    shell: Shell,
    questions: Vec<QuestionRow>,
    drafts: Vec<DraftRow>,
    decided: Vec<DecidedRow>,
}

/// A draft that waits no more.
struct DecidedRow {
    id: i64,
    tool: String,
    /// What became of it.
    words: &'static str,
    /// Why nothing did.
    why: String,
    time: String,
}

/// Where one goes on after something went wrong with a draft.
const HERE: (&str, &str) = ("/activity", "Back to Activity");

/// Decided drafts that are shown, counted by side.
const DECIDED: usize = 5;

/// The draft as it was seen.
#[derive(Deserialize)]
struct Seen {
    hash: String,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/activity", get(screen))
        .route("/drafts/{id}/approve", post(approve))
        .route("/drafts/{id}/refuse", post(refuse))
        .route("/drafts/{id}/edit", post(edit))
}

async fn screen(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Trouble> {
    let (mut decided, drafts): (Vec<Draft>, Vec<Draft>) =
        page.agent.drafts().list(true).await?.rows.into_iter().partition(|draft| draft.state != DraftState::Open);
    decided.sort_by_key(|draft| std::cmp::Reverse(draft.changed_ms));
    let decided = by_side(decided, DECIDED, |draft| draft.new.trust.is_foreign());
    let screen = ActivityScreen {
        shell: Shell::new(&page, &headers, "Activity · Limpid", "activity").await?,
        questions: questions(&page).await?,
        drafts: drafts.iter().map(|draft| row(&page, draft)).collect(),
        decided: decided.iter().map(|draft| decided_row(&page, draft)).collect(),
    };
    Ok(Html(screen.render()?).into_response())
}

async fn questions(page: &Page) -> Result<Vec<QuestionRow>, Trouble> {
    let mut rows = Vec::new();
    for Waits { conversation, what } in page.numbers.waiting() {
        let what = match what {
            Asks::Call { tool, arguments } => Asked::Call(shown_line(&tool), short_form(&arguments)),
            Asks::Server(name) => Asked::Server(shown_line(&name)),
        };
        let own = page.agent.store().conversation(&conversation).await?;
        let title = own.map_or_else(|| "New conversation".to_owned(), |own| title(&own));
        rows.push(QuestionRow { conversation: conversation.to_string(), title, what });
    }
    Ok(rows)
}

/// Carries a draft out, if it is still what was seen.
async fn approve(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(seen): Form<Seen>,
) -> Result<Response, Trouble> {
    let done = page.agent.drafts().approve(DraftId(id), Some(&seen.hash)).await;
    back(&page, &headers, done).await
}

async fn refuse(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = page.agent.drafts().refuse(DraftId(id)).await;
    back(&page, &headers, done).await
}

/// Puts other arguments into a draft. What was approved before is void, and the draft waits as it is then.
async fn edit(
    State(page): State<Arc<Page>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(sent): Form<Vec<(String, String)>>,
) -> Result<Response, Trouble> {
    let done = match arguments(&sent) {
        Ok(arguments) => page.agent.drafts().edit(DraftId(id), &arguments).await,
        Err(why) => Err(AgentError::Invalid(why)),
    };
    back(&page, &headers, done).await
}

/// The arguments that a form holds: `name`, `kind` and `value` of each, or all of them as `arguments`.
fn arguments(sent: &[(String, String)]) -> Result<String, String> {
    if let [(name, all)] = sent
        && name == "arguments"
    {
        return Ok(typed(all));
    }
    let mut arguments = Map::new();
    for argument in sent.chunks(3) {
        let [(_, name), (_, kind), (_, value)] = argument else {
            return Err("The form is not whole; load the page again.".to_owned());
        };
        let value = match kind.as_str() {
            "text" => Value::String(typed(value)),
            _ => serde_json::from_str(value).map_err(|error| format!("`{name}` is no JSON: {error}"))?,
        };
        arguments.insert(name.clone(), value);
    }
    Ok(Value::Object(arguments).to_string())
}

fn edits(arguments: &str) -> Vec<Argument> {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    let argument = |(name, value): (&String, &Value)| Argument {
        label: shown_line(name),
        name: name.clone(),
        value: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        is_text: value.is_string(),
    };
    value.as_object().into_iter().flatten().map(argument).collect()
}

/// The list again, or why nothing came of it: also a draft that was approved and failed says so.
async fn back(page: &Page, headers: &HeaderMap, done: Result<Draft, AgentError>) -> Result<Response, Trouble> {
    // Where the draft was made its line says what became of it.
    if let Ok(draft) = &done {
        page.talks.of(&draft.new.conversation).reload();
    }
    match done {
        Ok(draft) if draft.state == DraftState::Failed => {
            let why = format!("Draft {} was approved, but not carried out: {}", draft.id.0, draft.detail);
            screen_before(page, headers, ("Not carried out", Trouble::invalid(why)), HERE).await
        }
        Ok(_) => Ok(Redirect::to("/activity").into_response()),
        Err(error) => screen_before(page, headers, ("Not done", error.into()), HERE).await,
    }
}

fn decided_row(page: &Page, draft: &Draft) -> DecidedRow {
    let is_failed = draft.state == DraftState::Failed;
    DecidedRow {
        id: draft.id.0,
        tool: shown_line(&draft.new.tool),
        words: page.agent.drafts().in_words(draft),
        why: if is_failed { shown_line(&draft.detail) } else { String::new() },
        time: page.clock(draft.changed_ms),
    }
}

fn row(page: &Page, draft: &Draft) -> DraftRow {
    let new = &draft.new;
    DraftRow {
        id: draft.id.0,
        tool: shown_line(&new.tool),
        fields: fields(&new.arguments),
        arguments: Exact::text(&new.arguments),
        about: new.about.as_deref().map(Exact::text),
        destination: new.destination.as_deref().map(Exact::line),
        folder: folder(&new.folder),
        why: Exact::line(&new.why),
        led_by: Exact::line(&new.led_by),
        is_foreign: new.trust.is_foreign(),
        until: page.clock(new.expires_ms),
        hash: new.bound_hash().to_owned(),
        edits: edits(&new.arguments),
        raw: new.arguments.clone(),
    }
}
