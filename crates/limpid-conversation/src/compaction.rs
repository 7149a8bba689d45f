//! The window of a conversation: what a model sees of it, and how it is kept small enough.
//!
//! The rules are pure and stand in `limpid_turn::window`; here they get their messages and sizes, the models that
//! summarise, and the store that keeps what came of it.
//!
//! - `run`: a compaction after an answer; `summary`: the calls that it makes.
//! - `show_less`: a smaller view, written down before the request that needs it.
//! - `restore`: earlier views shown again; `report`: what the next request is made of.

mod report;
mod restore;
mod run;
mod show_less;
mod snapshot;
mod summary;

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use limpid_context::Headroom;
use limpid_services::error::AgentError;
use limpid_store::Lease;
use tokio_util::sync::CancellationToken;

pub(crate) use report::context_report;
pub use report::{CompactionReport, ContextReport};
pub(crate) use restore::{restore_snapshot, undo_compaction};
pub(crate) use run::{is_complete, scene};
pub(crate) use show_less::show_less;
pub(crate) use snapshot::save_snapshot;
pub(crate) use summary::NoteQuestion;

use crate::deps::ConversationDeps;

/// Turns after which a snapshot of the conversation is saved.
const SNAPSHOT_TURNS: usize = 5;

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
    Note(Option<String>),
}

impl Compaction {
    fn new(make: impl FnOnce(CancellationToken) -> BoxFuture<'static, CompactionDone>) -> Self {
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

    /// What is due after a turn that leaves this room: a compaction, and a snapshot every few turns. A failure costs
    /// nothing: what is not compacted here is fitted before the next request.
    pub(crate) async fn after_turn(deps: &Arc<ConversationDeps>, lease: &Lease, room: Headroom) -> Option<Self> {
        let saves = (room.turns + 1).is_multiple_of(SNAPSHOT_TURNS);
        let due = if room.is_tight { run::due(deps, lease).await.ok().flatten() } else { None };
        let Some(scene) = due else {
            if saves {
                let _ = snapshot::save_after_turn(deps, lease).await;
            }
            return None;
        };
        let (deps, lease) = (Arc::clone(deps), lease.clone());
        Some(Self::new(|cancel| {
            async move {
                let _ = run::compact(&deps, &lease, scene, false, &cancel).await;
                if saves {
                    let _ = snapshot::save_after_turn(&deps, &lease).await;
                }
                CompactionDone::Compacted
            }
            .boxed()
        }))
    }

    /// What a process that ended too early left undone, before a turn.
    pub(crate) async fn left_undone(deps: &Arc<ConversationDeps>, lease: &Lease) -> Option<Self> {
        if !deps.config().window.is_on() || deps.windows.looks_after(&lease.conversation) {
            return None;
        }
        let scene = run::due(deps, lease).await.ok().flatten()?;
        let (deps, lease) = (Arc::clone(deps), lease.clone());
        Some(Self::new(|cancel| {
            async move {
                let _ = run::compact(&deps, &lease, scene, false, &cancel).await;
                CompactionDone::Compacted
            }
            .boxed()
        }))
    }

    /// One that a person asked for, however full the window is. `finish` gets the outcome.
    pub(crate) fn by_hand(
        deps: &Arc<ConversationDeps>,
        lease: &Lease,
        finish: impl FnOnce(Result<CompactionReport, AgentError>) + Send + 'static,
    ) -> Self {
        let (deps, lease) = (Arc::clone(deps), lease.clone());
        Self::new(|cancel| {
            async move {
                let done = async {
                    let conversation = deps.directory.existing(&lease.conversation).await?;
                    let scene = scene(&deps, conversation).await?;
                    run::compact(&deps, &lease, scene, true, &cancel).await
                };
                let done = done.await;
                finish(done.map(|written| CompactionReport::of(&written)));
                CompactionDone::Compacted
            }
            .boxed()
        })
    }
}
