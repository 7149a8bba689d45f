//! What models write about a conversation while it goes on.

use futures_util::future::BoxFuture;
use limpid_core::Labelled;
use tokio_util::sync::CancellationToken;

/// What models write about a conversation, under way: a compaction, or the note of a rollover. Stopped, it leaves the old
/// view.
pub(crate) struct Compaction {
    work: BoxFuture<'static, CompactionDone>,
    cancel: CancellationToken,
}

/// What came of it.
pub(crate) enum CompactionDone {
    /// It is written down how the compaction ended.
    Compacted,
    /// What a model wrote as a note; none when it wrote none.
    Note(Option<Labelled<String>>),
}

impl Compaction {
    pub(super) fn new(make: impl FnOnce(CancellationToken) -> BoxFuture<'static, CompactionDone>) -> Self {
        let cancel = CancellationToken::new();
        Self { work: make(cancel.clone()), cancel }
    }

    /// Waits until it is done; it may be given up while it waits and asked for again.
    pub(crate) async fn done(&mut self) -> CompactionDone {
        (&mut self.work).await
    }

    /// Stops it. It is done soon after.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }
}
