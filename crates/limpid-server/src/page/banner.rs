//! The line over every screen that shows the newest report, with those behind it, until they are read or dismissed.

use askama::Template;
use limpid_core::ConversationId;
use limpid_core::by_side::by_side;
use limpid_core::notice::body;
use limpid_prompt::shown::shown_line;
use limpid_runtime::AgentError;
use limpid_store::{Delivery, DeliveryOrigin};

use super::state::Page;

/// Reports behind the newest one that can be opened, of those without a stranger's text.
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

/// The banner, ready to be drawn; empty when there is nothing to read.
///
/// Everything that is unread in the conversation that takes reports counts: that is what dismissing marks as read.
pub(super) async fn banner(page: &Page) -> Result<String, AgentError> {
    let mut unread = page.agent.deliveries().unread_reports().await?;
    let Some(newest) = unread.pop().map(report) else { return Ok(String::new()) };
    let more = unread.len();
    let others = by_side(unread.into_iter().rev(), OTHERS, |delivery| delivery.new.trust.is_foreign());
    let others = others.into_iter().map(report).collect();
    let drawn = Banner { newest, others, more }.render();
    drawn.map_err(|error| AgentError::Invalid(format!("the reports cannot be drawn: {error}")))
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
