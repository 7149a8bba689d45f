//! When a compaction is started: after a turn, before one, and when a person asks for it.

use std::sync::Arc;

use futures_util::FutureExt as _;
use limpid_context::Headroom;
use limpid_services::error::AgentError;
use limpid_store::Lease;

use crate::compaction::report::CompactionReport;
use crate::compaction::scene::scene;
use crate::compaction::work::{Compaction, CompactionDone};
use crate::compaction::{run, snapshot};
use crate::deps::ConversationDeps;

/// Turns after which a snapshot of the conversation is saved.
const SNAPSHOT_TURNS: usize = 5;

impl Compaction {
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
