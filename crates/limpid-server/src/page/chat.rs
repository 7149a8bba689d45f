//! The screen of a conversation.

use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use limpid_config::PasteTrust;
use limpid_core::ConversationId;
use limpid_prompt::shown::shown_line;
use limpid_runtime::commands::OTHERS_READ;
use limpid_runtime::ui::can_be_interactive;
use limpid_runtime::{ConversationChoice, PreviewRequest};
use limpid_store::{Audience, Conversation, ConversationKind};
use serde::Deserialize;
use serde_json::json;

use super::follow::watch;
use super::list;
use super::meter::Meter;
use super::shell::Shell;
use super::state::Page;
use super::thread::{Block, Entry, Thread, read_thread};
use super::trouble::{Trouble, missing};

/// What of a conversation is asked for.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    all: bool,
}

/// What can be chosen for a conversation.
struct Choices {
    modes: Vec<String>,
    mode: String,
    models: Vec<String>,
    model: String,
    /// Whether long pastes count as typed.
    pastes_are_mine: bool,
}

#[derive(Template)]
#[template(path = "chat.html")]
struct ChatScreen {
    shell: Shell,
    id: String,
    title: String,
    is_archived: bool,
    can_be_deleted: bool,
    rows: String,
    thread: Thread,
    choices: Choices,
    meter: Option<Meter>,
    /// Whether each answer takes the place of the one before.
    is_interactive: bool,
    /// Whether its answers go to strangers: the owner says nothing in it.
    is_strangers: bool,
    is_read_by_others: bool,
    /// What is said where others read it too.
    others_read: &'static str,
}

#[derive(Template)]
#[template(path = "first.html")]
struct FirstScreen {
    shell: Shell,
    id: &'static str,
    owner: Option<String>,
    can_be_interactive: bool,
    is_strangers: bool,
    rows: String,
    choices: Choices,
    meter: Option<Meter>,
    /// Where the settings are.
    file: String,
    /// Whether a server of models stands there.
    has_server: bool,
}

#[derive(Template)]
#[template(path = "parts/thread.html")]
struct ThreadPart {
    id: String,
    thread: Thread,
}

/// `GET /`: the conversation in which something was said last, or the first screen.
pub(super) async fn first(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Trouble> {
    match page.agent.store().last_conversation(ConversationKind::Chat).await? {
        Some(last) => Ok(Redirect::to(&format!("/c/{}", last.id)).into_response()),
        None => new(State(page), headers).await,
    }
}

/// `GET /c/new`
pub(super) async fn new(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Trouble> {
    let screen = FirstScreen {
        shell: Shell::new(&page, &headers, "Limpid", "chat").await?,
        id: "new",
        can_be_interactive: can_be_interactive(&page.agent).await,
        is_strangers: false,
        owner: page.agent.config().owner.name.as_deref().map(shown_line),
        rows: list::beside(&page, None).await?.render()?,
        choices: choices(&page, &ConversationChoice::New, None).await?,
        meter: meter(&page, ConversationChoice::New).await,
        file: shown_line(&page.agent.settings_file().path().display().to_string()),
        has_server: !page.agent.config().provider.is_empty(),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `GET /c/{id}`
pub(super) async fn show(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(Asked { all }): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let id = ConversationId::new(id);
    let Some(own) = page.agent.store().conversation(&id).await? else { return missing(State(page), headers).await };
    let choice = ConversationChoice::Id(id);
    watch(&page, &own.id).await?;
    let thread = read_thread(&page, &own.id, all).await?;
    read(&page, &own.id).await?;
    let title = title(&own);
    let screen = ChatScreen {
        shell: Shell::new(&page, &headers, &format!("{title} · Limpid"), "chat").await?,
        id: own.id.to_string(),
        rows: list::beside(&page, Some(&own.id)).await?.render()?,
        is_archived: own.is_archived,
        can_be_deleted: own.id != page.agent.directory().reports_id(),
        is_interactive: own.kind == ConversationKind::Interactive,
        is_strangers: own.audience == Audience::Strangers,
        is_read_by_others: own.audience == Audience::Group,
        others_read: OTHERS_READ,
        thread,
        choices: choices(&page, &choice, Some(&own)).await?,
        meter: meter(&page, choice).await,
        title,
    };
    Ok(Html(screen.render()?).into_response())
}

/// `GET /c/{id}/thread`: the messages, for a screen that is open.
pub(super) async fn thread(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(Asked { all }): Query<Asked>,
) -> Result<Response, Trouble> {
    let own = page.agent.directory().existing(&ConversationId::new(id)).await?;
    watch(&page, &own.id).await?;
    let thread = read_thread(&page, &own.id, all).await?;
    read(&page, &own.id).await?;
    let after = thread.after.clone();
    let html = ThreadPart { id: own.id.to_string(), thread }.render()?;
    let meter = meter(&page, ConversationChoice::Id(own.id.clone())).await.map(|meter| meter.render()).transpose()?;
    let is_read_by_others = own.audience == Audience::Group;
    Ok(Json(json!({
        "html": html, "after": after, "title": title(&own), "archived": own.is_archived, "others_read": is_read_by_others,
        "meter": meter,
    }))
    .into_response())
}

/// The owner sees what was delivered to a conversation.
async fn read(page: &Page, id: &ConversationId) -> Result<(), Trouble> {
    if page.agent.deliveries().mark_read(id).await? > 0 {
        page.lists_changed();
    }
    Ok(())
}

/// What a conversation is called.
pub(super) fn title(own: &Conversation) -> String {
    match own.title.trim() {
        "" => "New conversation".to_owned(),
        title => shown_line(title),
    }
}

async fn choices(page: &Page, choice: &ConversationChoice, own: Option<&Conversation>) -> Result<Choices, Trouble> {
    let config = page.agent.config();
    let state = page.agent.modes().state(choice).await?;
    let model = match own.and_then(|own| own.model.clone()).or_else(|| config.model.clone()) {
        Some(model) => model,
        None => page.agent.models().choose(None).await.map(|model| model.info().name()).unwrap_or_default(),
    };
    let known = page.agent.complete(choice, "/model ").await.into_iter().map(|known| known.word);
    let mut models = vec![model.clone()];
    models.extend(known.filter(|known| *known != model));
    models.retain(|model| !model.is_empty());
    let pastes_are_mine = page.agent.config().trust.paste == PasteTrust::Mine;
    Ok(Choices { modes: state.modes, mode: state.mode, models, model, pastes_are_mine })
}

/// The prompt of the next turn, to scale; none where it cannot be made.
async fn meter(page: &Page, conversation: ConversationChoice) -> Option<Meter> {
    let id = match &conversation {
        ConversationChoice::Id(id) => Some(id.to_string()),
        _ => None,
    };
    let preview = page.agent.preview(PreviewRequest { conversation, ..PreviewRequest::default() }).await.ok()?;
    Some(Meter::new(&preview, id))
}
