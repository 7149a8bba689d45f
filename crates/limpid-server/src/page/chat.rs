//! The screen of a conversation.

use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use jiff::civil::Date;
use limpid_config::PasteTrust;
use limpid_core::ConversationId;
use limpid_prompt::shown::shown_line;
use limpid_runtime::ui::can_be_interactive;
use limpid_runtime::{ConversationChoice, PreviewRequest};
use limpid_store::{Audience, Conversation, ConversationKind};
use serde::Deserialize;
use serde_json::json;

use super::banner::banner;
use super::meter::Meter;
use super::shell::Shell;
use super::state::Page;
use super::thread::{Block, Entry, Thread, read_thread};
use super::trouble::{Trouble, missing};

/// Conversations that are listed.
const LISTED: u32 = 300;

/// What of a conversation is asked for.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    all: bool,
}

/// A conversation in the list.
struct Row {
    id: String,
    title: String,
    kind: &'static str,
    badge: &'static str,
    time: String,
    is_unread: bool,
    is_here: bool,
}

/// Conversations of a time.
struct Group {
    title: &'static str,
    rows: Vec<Row>,
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
    groups: Vec<Group>,
    banner: String,
    thread: Thread,
    choices: Choices,
    meter: Option<Meter>,
    /// Whether each answer takes the place of the one before.
    is_interactive: bool,
    /// Whether its answers go to strangers: the owner says nothing in it.
    is_strangers: bool,
}

#[derive(Template)]
#[template(path = "first.html")]
struct FirstScreen {
    shell: Shell,
    id: &'static str,
    owner: Option<String>,
    can_be_interactive: bool,
    is_strangers: bool,
    banner: String,
    groups: Vec<Group>,
    choices: Choices,
    meter: Option<Meter>,
}

#[derive(Template)]
#[template(path = "parts/thread.html")]
struct ThreadPart {
    id: String,
    thread: Thread,
}

/// `GET /`: the conversation that was written to last, or the first screen.
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
        banner: banner(&page).await?,
        groups: groups(&page, None).await?,
        choices: choices(&page, &ConversationChoice::New, None).await?,
        meter: meter(&page, ConversationChoice::New).await,
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
    let thread = read_thread(&page, &own.id, all).await?;
    page.agent.deliveries().mark_read(&own.id).await?;
    let title = title(&own);
    let screen = ChatScreen {
        shell: Shell::new(&page, &headers, &format!("{title} · Limpid"), "chat").await?,
        id: own.id.to_string(),
        groups: groups(&page, Some(&own.id)).await?,
        is_interactive: own.kind == ConversationKind::Interactive,
        is_strangers: own.audience == Audience::Strangers,
        banner: banner(&page).await?,
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
    let thread = read_thread(&page, &own.id, all).await?;
    page.agent.deliveries().mark_read(&own.id).await?;
    let after = thread.after.clone();
    let html = ThreadPart { id: own.id.to_string(), thread }.render()?;
    let meter = meter(&page, ConversationChoice::Id(own.id.clone())).await.map(|meter| meter.render()).transpose()?;
    Ok(Json(json!({ "html": html, "after": after, "title": title(&own), "meter": meter })).into_response())
}

/// What a conversation is called.
pub(super) fn title(own: &Conversation) -> String {
    match own.title.trim() {
        "" => "New conversation".to_owned(),
        title => shown_line(title),
    }
}

/// The conversations, newest first, by their time.
async fn groups(page: &Page, here: Option<&ConversationId>) -> Result<Vec<Group>, Trouble> {
    let zone = page.agent.zone();
    let day = |at_ms: i64| {
        let at = jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default();
        at.to_zoned(zone.clone()).date()
    };
    let today = page.agent.now().to_zoned(zone.clone()).date();
    let mut groups: Vec<Group> = Vec::new();
    for own in page.agent.store().conversations(LISTED).await?.rows {
        let row = Row {
            title: title(&own),
            badge: own.badge(),
            kind: own.kind.as_str(),
            time: page.clock(own.updated_ms),
            is_unread: own.unread > 0,
            is_here: here == Some(&own.id),
            id: own.id.to_string(),
        };
        let title = group(day(own.updated_ms), today);
        match groups.last_mut() {
            Some(last) if last.title == title => last.rows.push(row),
            _ => groups.push(Group { title, rows: vec![row] }),
        }
    }
    Ok(groups)
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

fn group(day: Date, today: Date) -> &'static str {
    match today.since(day).map(|span| span.get_days()) {
        Ok(..=0) => "Today",
        Ok(1) => "Yesterday",
        _ => "Earlier",
    }
}
