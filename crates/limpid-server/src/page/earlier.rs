//! What was said before: to be said again in other words, and what went out of the conversation by that.

use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use limpid_core::{ConversationId, MessageId};
use limpid_runtime::earlier::earlier;
use serde_json::{Value, json};

use super::state::Page;
use super::thread::{Block, Entry};
use super::trouble::Trouble;

#[derive(Template)]
#[template(path = "parts/entries.html")]
struct Entries<'a> {
    entries: &'a [Entry],
}

/// `GET /c/{id}/said/{message}`: a message of the owner's, to be changed and sent again.
pub(super) async fn show(
    State(page): State<Arc<Page>>,
    Path((id, message)): Path<(String, i64)>,
) -> Result<Response, Trouble> {
    let earlier = earlier(&page.agent, &ConversationId::new(id), MessageId(message)).await?;
    let files: Vec<Value> = earlier.files.iter().map(|file| json!({ "name": file.name, "text": file.text })).collect();
    let told = json!({
        "text": earlier.text, "files": files, "pasted": earlier.pasted, "newest": earlier.newest.0,
    });
    Ok(Json(told).into_response())
}

/// Entries that follow each other and are not sent any more stand folded.
pub(super) fn folded(entries: Vec<(bool, Entry)>) -> Result<Vec<Entry>, askama::Error> {
    let mut shown = Vec::new();
    let mut out: Vec<Entry> = Vec::new();
    for (is_out, entry) in entries {
        if !is_out && !out.is_empty() {
            shown.push(fold(&std::mem::take(&mut out))?);
        }
        if is_out { &mut out } else { &mut shown }.push(entry);
    }
    if !out.is_empty() {
        shown.push(fold(&out)?);
    }
    Ok(shown)
}

fn fold(entries: &[Entry]) -> Result<Entry, askama::Error> {
    Ok(Entry::TakenOut { messages: entries.len(), html: Entries { entries }.render()? })
}
