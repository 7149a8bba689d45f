//! The line over every screen that shows the newest report, with those behind it, until they are read or dismissed.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::{Form, Json};
use limpid_core::ConversationId;
use limpid_core::notice::body;
use limpid_prompt::shown::shown_line;
use limpid_store::{Delivery, DeliveryOrigin};
use serde::Deserialize;
use serde_json::json;

use super::state::Page;
use super::trouble::Trouble;

/// Reports behind the newest one that can be opened.
const OTHERS: usize = 20;

/// Reports that were not read yet.
#[derive(Template)]
#[template(path = "parts/banner.html")]
struct Banner {
    newest: Report,
    /// Those before it, the newest first.
    others: Vec<Report>,
    /// How many there are besides the newest.
    more: usize,
}

/// A report.
struct Report {
    id: i64,
    conversation: String,
    /// What it comes from.
    from: &'static str,
    text: String,
}

/// What is dismissed: this delivery, or all of them.
#[derive(Deserialize)]
pub(super) struct Dismissed {
    delivery: Option<i64>,
}

/// The banner, ready to be drawn; empty when there is nothing to read.
///
/// Everything that is unread in the conversation that takes reports counts: that is what dismissing marks as read.
pub(super) async fn banner(page: &Page) -> Result<String, Trouble> {
    let mut unread = page.agent.deliveries().unread_reports().await?;
    let Some(newest) = unread.pop().map(report) else { return Ok(String::new()) };
    let more = unread.len();
    let others = unread.into_iter().rev().take(OTHERS).map(report).collect();
    Ok(Banner { newest, others, more }.render()?)
}

fn report(delivery: Delivery) -> Report {
    Report {
        id: delivery.id.0,
        conversation: delivery.new.conversation.to_string(),
        from: from(delivery.new.origin),
        text: shown_line(&body(&delivery.new.text).unwrap_or(delivery.new.title)),
    }
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
pub(super) async fn dismiss(
    State(page): State<Arc<Page>>,
    Form(Dismissed { delivery }): Form<Dismissed>,
) -> Result<Response, Trouble> {
    let deliveries = page.agent.deliveries();
    let dismissed = match delivery {
        Some(delivery) => u64::from(deliveries.mark_delivery_read(delivery).await?),
        None => deliveries.dismiss_reports().await?,
    };
    page.lists_changed();
    Ok(Json(json!({ "dismissed": dismissed, "banner": banner(&page).await? })).into_response())
}
