//! What every screen shows of what happens elsewhere: reports, how much waits for the owner, and that the list of conversations is
//! another one. `GET /events` tells a screen that shows no conversation.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use futures_util::Stream;
use futures_util::stream::unfold;
use limpid_core::ConversationId;
use limpid_runtime::{AgentError, Event as Change, EventKind, OpenClient};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::banner::{banner, is_report};
use super::door::is_inside;
use super::state::Page;
use super::trouble::Trouble;

/// The events and what they hold: the banner, what waits, and nothing.
const BANNER: &str = "banner";
const WAITING: &str = "waiting";
const LIST: &str = "list";

/// What waits for the owner.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Waiting {
    /// Questions and drafts.
    pub(super) count: usize,
    /// Conversations with a question.
    conversations: BTreeSet<String>,
}

/// What a browser was told of what happens elsewhere, and what it is to be told.
pub(super) struct Around {
    page: Arc<Page>,
    changes: Receiver<Change>,
    questions: watch::Receiver<u64>,
    lists: watch::Receiver<u64>,
    /// What may be another than the browser shows.
    may_differ: MayDiffer,
    /// What it was told last.
    told_banner: Option<String>,
    told_waiting: Option<Waiting>,
}

struct MayDiffer {
    banner: bool,
    waiting: bool,
    list: bool,
}

/// What was heard.
pub(super) enum Heard {
    /// Something was delivered to this conversation.
    Delivered(ConversationId),
    /// Anything may have happened meanwhile.
    Anything,
    /// What concerns no conversation's own messages.
    Nothing,
}

/// What waits for the owner.
///
/// # Errors
/// When the store cannot be read.
pub(super) async fn waiting(page: &Page) -> Result<Waiting, AgentError> {
    let questions = page.numbers.waiting();
    let count = page.agent.drafts().list(false).await?.rows.len() + questions.len();
    let conversations = questions.into_iter().map(|waits| waits.conversation.to_string()).collect();
    Ok(Waiting { count, conversations })
}

impl Around {
    /// For a browser that was told nothing yet; `drawn` is how often the list had become another one when it drew it.
    pub(super) fn new(page: &Arc<Page>, drawn: Option<&str>) -> Self {
        let lists = page.talks.listen();
        let times = lists.borrow().to_string();
        Self {
            page: Arc::clone(page),
            changes: page.agent.subscribe(),
            questions: page.numbers.listen(),
            lists,
            may_differ: MayDiffer { banner: true, waiting: true, list: drawn.is_some_and(|drawn| drawn != times) },
            told_banner: None,
            told_waiting: None,
        }
    }

    /// What the browser is to be told now; none when it was told all.
    pub(super) async fn tell(&mut self, conversation: Option<&ConversationId>) -> Option<Event> {
        // Whoever looks at the reports themselves needs no word of them.
        let shows_reports = conversation.is_some_and(|id| is_report(&self.page, id));
        if std::mem::take(&mut self.may_differ.banner)
            && !shows_reports
            && let Ok(html) = banner(&self.page).await
            && self.told_banner.as_ref() != Some(&html)
        {
            let event = Event::default().event(BANNER).json_data(&html).unwrap_or_default();
            self.told_banner = Some(html);
            return Some(event);
        }
        if std::mem::take(&mut self.may_differ.waiting)
            && let Ok(waiting) = waiting(&self.page).await
            && self.told_waiting.as_ref() != Some(&waiting)
        {
            let event = Event::default().event(WAITING).json_data(&waiting).unwrap_or_default();
            self.told_waiting = Some(waiting);
            return Some(event);
        }
        std::mem::take(&mut self.may_differ.list).then(|| Event::default().event(LIST).data(LIST))
    }

    /// Waits until something may be another than the browser shows; none when nothing will be any more.
    pub(super) async fn hear(&mut self) -> Option<Heard> {
        tokio::select! {
            change = self.changes.recv() => self.take(change),
            changed = self.questions.changed() => {
                changed.ok()?;
                self.may_differ.waiting = true;
                Some(Heard::Nothing)
            }
            changed = self.lists.changed() => {
                changed.ok()?;
                self.may_differ.banner = true;
                self.may_differ.list = true;
                Some(Heard::Nothing)
            }
        }
    }

    fn take(&mut self, change: Result<Change, RecvError>) -> Option<Heard> {
        match change {
            Err(RecvError::Closed) => None,
            Err(RecvError::Lagged(_)) => {
                self.may_differ = MayDiffer { banner: true, waiting: true, list: true };
                Some(Heard::Anything)
            }
            Ok(Change { conversation: Some(to), change: EventKind::Delivered { .. } }) => {
                self.may_differ.banner |= is_report(&self.page, &to);
                self.may_differ.list = true;
                Some(Heard::Delivered(to))
            }
            Ok(Change { change: EventKind::DraftUpdated { .. }, .. }) => {
                self.may_differ.waiting = true;
                Some(Heard::Nothing)
            }
            Ok(_) => Some(Heard::Nothing),
        }
    }
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/events", get(stream)).route("/banner/dismiss", post(dismiss))
}

/// What is dismissed: this delivery, or all of them.
#[derive(Deserialize)]
struct Dismissed {
    delivery: Option<i64>,
}

/// `POST /banner/dismiss`: the reports stay in their conversation, as read ones.
async fn dismiss(
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

/// A browser that shows no conversation.
struct Listener {
    page: Arc<Page>,
    /// What it came with.
    headers: HeaderMap,
    around: Around,
    _open: Option<OpenClient>,
}

/// `GET /events`. While a browser listens, the owner needs no notification: the banner is on every screen.
async fn stream(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let around = Around::new(&page, None);
    let open = page.agent.notifications().open_client().await.ok();
    let listener = Listener { page, headers, around, _open: open };
    Sse::new(unfold(listener, |mut listener| async move { listener.next().await.map(|event| (Ok(event), listener)) }))
        .keep_alive(KeepAlive::default())
}

impl Listener {
    /// What it is told next; none when the page is no longer served, or the browser was logged out.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if !is_inside(&self.page, &self.headers) {
                return None;
            }
            if let Some(event) = self.around.tell(None).await {
                return Some(event);
            }
            tokio::select! {
                heard = self.around.hear() => { heard?; }
                () = self.page.ending.cancelled() => return None,
            }
        }
    }
}
