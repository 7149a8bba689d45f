//! `GET /c/{id}/events`: what happens in a conversation, as server-sent events. Each piece has a number; a browser that comes
//! back says the last one that it has seen. While a browser listens, the owner needs no notification.

use std::convert::Infallible;
use std::sync::Arc;
use std::vec::IntoIter;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use limpid_core::ConversationId;
use limpid_runtime::OpenClient;
use serde::Deserialize;
use tokio::sync::watch;

use super::around::{Around, Heard};
use super::door::is_inside;
use super::state::Page;
use super::talks::{FIRST, Piece, Talk};

/// Where a browser goes on.
#[derive(Deserialize)]
pub(super) struct After {
    after: Option<String>,
    /// How often the list had become another one when the browser drew it.
    lists: Option<String>,
}

/// A browser that listens to a conversation.
struct Listener {
    page: Arc<Page>,
    /// What it came with.
    headers: HeaderMap,
    conversation: ConversationId,
    talk: Arc<Talk>,
    newest: watch::Receiver<u64>,
    /// The newest piece that it was told.
    seen: u64,
    waiting: IntoIter<Piece>,
    around: Around,
    _open: Option<OpenClient>,
}

pub(super) async fn stream(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(After { after, lists }): Query<After>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let last = headers.get("last-event-id").and_then(|last| last.to_str().ok()).map(str::to_owned);
    let conversation = ConversationId::new(id);
    let talk = page.talks.of(&conversation);
    let seen = last.or(after).map_or(Some(0), |mark| page.number(&mark));
    let seen = seen.unwrap_or_else(|| {
        // It was told by a process that is gone, so nothing of what it shows may be true.
        talk.reload();
        FIRST
    });
    let around = Around::new(&page, lists.as_deref());
    let open = page.agent.notifications().open_client().await.ok();
    let newest = talk.listen();
    let listener = Listener {
        page,
        headers,
        conversation,
        talk,
        newest,
        seen,
        waiting: Vec::new().into_iter(),
        around,
        _open: open,
    };
    Sse::new(unfold(listener, |mut listener| async move { listener.next().await.map(|event| (Ok(event), listener)) }))
        .keep_alive(KeepAlive::default())
}

impl Listener {
    /// What it is told next; none when the page is no longer served.
    async fn next(&mut self) -> Option<Event> {
        loop {
            // A browser that was logged out meanwhile hears nothing more.
            if !is_inside(&self.page, &self.headers) {
                return None;
            }
            if let Some(piece) = self.waiting.next() {
                self.seen = self.seen.max(piece.number);
                let event = Event::default().id(self.page.mark(piece.number));
                return Some(event.json_data(&piece).unwrap_or_default());
            }
            self.newest.mark_unchanged();
            let pieces = self.talk.after(self.seen);
            if !pieces.is_empty() {
                self.waiting = pieces.into_iter();
                continue;
            }
            if let Some(event) = self.around.tell(Some(&self.conversation)).await {
                return Some(event);
            }
            tokio::select! {
                changed = self.newest.changed() => changed.ok()?,
                heard = self.around.hear() => match heard? {
                    Heard::Anything => self.talk.reload(),
                    Heard::Delivered(to) if to == self.conversation => self.talk.reload(),
                    Heard::Delivered(_) | Heard::Nothing => {}
                },
                () = self.page.ending.cancelled() => return None,
            }
        }
    }
}
