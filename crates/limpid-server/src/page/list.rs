//! The list of conversations: what there is, what is archived, and what a search finds.

use std::collections::HashSet;
use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use jiff::civil::Date;
use limpid_core::snippet::{Part, search_words, snippet};
use limpid_core::{ConversationId, Role, Trust};
use limpid_prompt::shown::shown_line;
use limpid_store::{Conversation, FoundConversation, StoredMessage};
use serde::Deserialize;
use serde_json::json;

use super::chat::title;
use super::state::Page;
use super::thread::words as words_of_model;
use super::trouble::Trouble;

/// Conversations that are listed.
const LISTED: u32 = 300;

/// Conversations that a search finds.
const FOUND: u32 = 50;

/// What stands for the archive where kinds are chosen.
const ARCHIVED: &str = "archived";

/// A conversation in the list.
struct Row {
    id: String,
    title: String,
    /// Whether others may have written the title.
    is_foreign: bool,
    kind: &'static str,
    badge: &'static str,
    time: String,
    is_unread: bool,
    is_here: bool,
    is_archived: bool,
    /// Whether it waits for the owner's answer.
    waits: bool,
    said: Option<Said>,
}

/// What was said in a conversation that was searched for.
struct Said {
    message: i64,
    who: &'static str,
    /// Whether others may have written it.
    is_foreign: bool,
    parts: Vec<Part>,
}

/// Conversations of a time.
struct Group {
    title: &'static str,
    rows: Vec<Row>,
}

/// The rows of the list.
#[derive(Template)]
#[template(path = "parts/rows.html")]
pub(super) struct Rows {
    /// How often the list had become another one before it was read.
    times: u64,
    groups: Vec<Group>,
    /// What is said when there are none.
    none: &'static str,
}

/// What is listed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    words: String,
    kind: String,
    /// The conversation that is shown beside the list.
    here: String,
}

/// Where a conversation goes.
#[derive(Deserialize)]
struct Goes {
    archived: bool,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/talks", get(show))
        .route("/c/{id}/archive", post(archive))
        .route("/c/{id}/delete", post(delete))
}

/// `GET /talks?words=…&kind=…&here=…`: the rows, for a list that is open.
async fn show(State(page): State<Arc<Page>>, Query(asked): Query<Asked>) -> Result<Response, Trouble> {
    let rows = rows(&page, &asked).await?;
    let count: usize = rows.groups.iter().map(|group| group.rows.len()).sum();
    Ok(Json(json!({ "html": rows.render()?, "count": count })).into_response())
}

/// `POST /c/{id}/archive`
async fn archive(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Form(Goes { archived }): Form<Goes>,
) -> Result<Response, Trouble> {
    let own = page.agent.conversations().archive(&ConversationId::new(id), archived).await?;
    page.lists_changed();
    Ok(Json(json!({ "archived": own.is_archived, "title": title(&own) })).into_response())
}

/// `POST /c/{id}/delete`: for good. The screen asks before.
async fn delete(State(page): State<Arc<Page>>, Path(id): Path<String>) -> Result<Response, Trouble> {
    let own = page.agent.conversations().delete(&ConversationId::new(id)).await?;
    page.talks.of(&own.id).reload();
    page.lists_changed();
    Ok(Json(json!({ "title": title(&own) })).into_response())
}

/// The rows of a list beside a conversation.
///
/// # Errors
/// When the store cannot be read.
pub(super) async fn beside(page: &Page, here: Option<&ConversationId>) -> Result<Rows, Trouble> {
    let here = here.map(ToString::to_string).unwrap_or_default();
    rows(page, &Asked { here, ..Asked::default() }).await
}

async fn rows(page: &Page, asked: &Asked) -> Result<Rows, Trouble> {
    let times = *page.talks.listen().borrow();
    let words = search_words(&asked.words);
    let store = page.agent.store();
    let plain = |conversation| FoundConversation { conversation, message: None };
    let mut found: Vec<FoundConversation> = match (words.is_empty(), asked.kind.as_str()) {
        (false, _) => store.find_conversations(&words, FOUND).await?.rows,
        (true, ARCHIVED) => store.archived_conversations(LISTED).await?.rows.into_iter().map(plain).collect(),
        (true, _) => store.conversations(LISTED).await?.rows.into_iter().map(plain).collect(),
    };
    found.retain(|FoundConversation { conversation: own, .. }| match asked.kind.as_str() {
        "" => true,
        ARCHIVED => own.is_archived,
        kind => own.kind.as_str() == kind,
    });
    let listed: Vec<&Conversation> = found.iter().map(|found| &found.conversation).collect();
    let titles = page.agent.conversations().trust_of_titles(&listed).await?;
    let waiting: HashSet<ConversationId> = page.numbers.waiting().into_iter().map(|waits| waits.conversation).collect();
    let zone = page.agent.zone();
    let day = |at_ms: i64| {
        let at = jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default();
        at.to_zoned(zone.clone()).date()
    };
    let today = page.agent.now().to_zoned(zone.clone()).date();
    let mut groups: Vec<Group> = Vec::new();
    for (FoundConversation { conversation: own, message }, of_title) in found.into_iter().zip(titles) {
        let title = group(day(own.updated_ms), today);
        let said = message.map(|message| said(page, &message, &words));
        let row = row(page, (&own, of_title), (asked.here == own.id.as_str(), waiting.contains(&own.id)), said);
        match groups.last_mut() {
            Some(last) if last.title == title => last.rows.push(row),
            _ => groups.push(Group { title, rows: vec![row] }),
        }
    }
    let none = match (words.is_empty(), asked.kind.as_str()) {
        (false, _) => "Nothing has these words.",
        (true, ARCHIVED) => "Nothing is archived.",
        (true, "") => "Nothing yet",
        (true, _) => "None of this kind",
    };
    Ok(Rows { times, groups, none })
}

fn row(
    page: &Page,
    (own, of_title): (&Conversation, Trust),
    (is_here, waits): (bool, bool),
    said: Option<Said>,
) -> Row {
    Row {
        title: title(own),
        is_foreign: of_title.is_foreign(),
        badge: own.badge(),
        kind: own.kind.as_str(),
        time: page.clock(own.updated_ms),
        is_unread: own.unread > 0,
        is_here,
        is_archived: own.is_archived,
        waits,
        said,
        id: own.id.to_string(),
    }
}

/// What a message says around the words, as it is shown in the conversation, and whose words it is.
fn said(page: &Page, row: &StoredMessage, words: &[String]) -> Said {
    let text = match (row.message.role, &row.typed) {
        (Role::Assistant, _) => words_of_model(page, &row.message.text),
        (_, Some(typed)) => typed.clone(),
        _ => row.message.text.clone(),
    };
    let parts = snippet(&text, words).into_iter();
    let parts = parts.map(|part| Part { text: kept_spaces(&part.text), ..part }).collect();
    let who = match (row.message.role, row.message.trust) {
        (Role::Assistant, _) => "Limpid",
        (_, Trust::Owner | Trust::File) => "You",
        (_, Trust::Guest) => "A guest",
        (_, Trust::Outside) => "Someone else",
    };
    Said { message: row.id.0, who, is_foreign: row.message.trust.is_foreign(), parts }
}

/// A part as it can be shown, with the spaces that join it to the others.
fn kept_spaces(text: &str) -> String {
    let space = |is_there: bool| if is_there { " " } else { "" };
    match text.trim() {
        "" => space(!text.is_empty()).to_owned(),
        line => format!("{}{}{}", space(text.starts_with(' ')), shown_line(line), space(text.ends_with(' '))),
    }
}

fn group(day: Date, today: Date) -> &'static str {
    match today.since(day).map(|span| span.get_days()) {
        Ok(..=0) => "Today",
        Ok(1) => "Yesterday",
        _ => "Earlier",
    }
}
