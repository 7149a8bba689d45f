//! What is waited for on a connection, and for how long.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::Incoming;
use tokio::sync::watch;

/// How long the whole header of a request may take, from the connection or the answer before.
pub(crate) const HEADER: Duration = Duration::from_secs(10);

/// How long the whole body of a request may take, from its header.
pub(crate) const BODY: Duration = Duration::from_secs(30);

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The header of the next request.
    Header,
    /// The rest of its body.
    Body,
    /// The answer; whoever answers keeps the time, which may be hours.
    Answer,
}

impl Phase {
    /// How long it may take, where it is the client who is waited for.
    pub(super) const fn limit(self) -> Option<Duration> {
        match self {
            Self::Header => Some(HEADER),
            Self::Body => Some(BODY),
            Self::Answer => None,
        }
    }
}

/// Where a connection stands.
pub(super) type Now = Arc<watch::Sender<Phase>>;

/// The body of a request: once it has come, or nobody wants it any more, the answer is waited for.
pub(super) struct Asked {
    body: Incoming,
    now: Now,
}

impl Asked {
    /// The body of the request whose header has just come.
    pub(super) fn begin(body: Incoming, now: &Now) -> Self {
        let is_whole = hyper::body::Body::is_end_stream(&body);
        now.send_replace(if is_whole { Phase::Answer } else { Phase::Body });
        Self { body, now: Arc::clone(now) }
    }

    fn has_come(&self) {
        // An answer that ended meanwhile is waiting for the next header.
        self.now.send_if_modified(|now| {
            let was_body = *now == Phase::Body;
            if was_body {
                *now = Phase::Answer;
            }
            was_body
        });
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.has_come();
    }
}

impl http_body::Body for Asked {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) || self.body.is_end_stream() {
            self.has_come();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer: from its end on a header is waited for.
pub(super) struct Answer {
    body: Body,
    _until: Until,
}

impl Answer {
    pub(super) const fn new(body: Body, until: Until) -> Self {
        Self { body, _until: until }
    }
}

/// From its end on a header is waited for.
pub(super) struct Until(pub(super) Now);

impl Drop for Until {
    fn drop(&mut self) {
        self.0.send_replace(Phase::Header);
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
