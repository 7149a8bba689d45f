//! `GET /c/{id}/events`: what happens in a conversation, as server-sent events. Each has a number; a browser that comes back says
//! the last one that it has seen.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use limpid_core::ConversationId;
use serde::Deserialize;

use super::door::is_inside;
use super::state::Page;
use super::talks::FIRST;

/// Where a browser goes on.
#[derive(Deserialize)]
pub(super) struct After {
    after: Option<String>,
}

pub(super) async fn stream(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(After { after }): Query<After>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let last = headers.get("last-event-id").and_then(|last| last.to_str().ok()).map(str::to_owned);
    let talk = page.talks.of(&ConversationId::new(id));
    let seen = last.or(after).map_or(Some(0), |mark| page.number(&mark));
    let seen = seen.unwrap_or_else(|| {
        // It was told by a process that is gone, so nothing of what it shows may be true.
        talk.reload();
        FIRST
    });
    let listening = talk.listen();
    let state = (page, talk, listening, seen, Vec::new().into_iter(), headers);
    Sse::new(unfold(state, |(page, talk, mut listening, mut seen, mut waiting, headers)| async move {
        loop {
            // A browser that was logged out meanwhile hears nothing more.
            if !is_inside(&page, &headers) {
                return None;
            }
            if let Some(piece) = waiting.next() {
                let piece: super::talks::Piece = piece;
                seen = seen.max(piece.number);
                let event = Event::default().id(page.mark(piece.number)).json_data(&piece).unwrap_or_default();
                return Some((Ok(event), (page, talk, listening, seen, waiting, headers)));
            }
            listening.mark_unchanged();
            let pieces = talk.after(seen);
            if !pieces.is_empty() {
                waiting = pieces.into_iter();
                continue;
            }
            tokio::select! {
                changed = listening.changed() => changed.ok()?,
                () = page.ending.cancelled() => return None,
            }
        }
    }))
    .keep_alive(KeepAlive::default())
}
