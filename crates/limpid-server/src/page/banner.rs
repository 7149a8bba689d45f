//! The line over a conversation that shows the newest report, until it is read or dismissed.

use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use limpid_core::ConversationId;
use limpid_core::notice::body;
use limpid_prompt::shown::shown_line;
use limpid_store::DeliveryOrigin;
use serde_json::json;

use super::state::Page;
use super::trouble::Trouble;

/// The newest report that was not read yet.
#[derive(Template)]
#[template(path = "parts/banner.html")]
struct Banner {
    conversation: String,
    /// What it comes from.
    from: &'static str,
    text: String,
    /// How many there are besides.
    more: usize,
}

/// The banner, ready to be drawn; empty when there is nothing to read.
///
/// Everything that is unread in the conversation that takes reports counts: that is what dismissing marks as read.
pub(super) async fn banner(page: &Page) -> Result<String, Trouble> {
    let mut unread = page.agent.deliveries().unread_reports().await?;
    let Some(newest) = unread.pop() else { return Ok(String::new()) };
    let text = shown_line(&body(&newest.new.text).unwrap_or(newest.new.title));
    let from = from(newest.new.origin);
    Ok(Banner { conversation: newest.new.conversation.to_string(), from, text, more: unread.len() }.render()?)
}

/// What a report comes from, for the owner.
const fn from(origin: DeliveryOrigin) -> &'static str {
    match origin {
        DeliveryOrigin::Heartbeat => "Heartbeat",
        DeliveryOrigin::Task => "Task",
        DeliveryOrigin::Reminder => "Reminder",
        DeliveryOrigin::Agent => "Agent",
        DeliveryOrigin::Notice | DeliveryOrigin::Message => "Limpid",
    }
}

/// Whether a delivery to this conversation changes the banner.
pub(super) fn is_report(page: &Page, conversation: &ConversationId) -> bool {
    *conversation == page.agent.directory().reports_id()
}

/// `POST /banner/dismiss`: the reports stay in their conversation, as read ones.
pub(super) async fn dismiss(State(page): State<Arc<Page>>) -> Result<Response, Trouble> {
    let dismissed = page.agent.deliveries().dismiss_reports().await?;
    Ok(Json(json!({ "dismissed": dismissed })).into_response())
}
