//! How far a draft's effect has come, as the tool that carries it out writes it down.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::DraftState;
use limpid_store::DraftId;

use crate::agent::Inner;
use crate::services::tools::Passage;

/// The steps of one draft.
pub(crate) struct DraftPassage {
    inner: Arc<Inner>,
    id: DraftId,
}

impl DraftPassage {
    pub(crate) fn new(inner: &Arc<Inner>, id: DraftId) -> Self {
        Self { inner: Arc::clone(inner), id }
    }
}

#[async_trait]
impl Passage for DraftPassage {
    async fn leaves(&self) -> Result<(), String> {
        let moved = self.inner.move_draft(self.id, DraftState::Sending, self.inner.host.holder()).await;
        moved.map(drop).map_err(|error| error.to_string())
    }

    async fn arrived(&self, what: &str) {
        let what = self.inner.redactor.clean(what.to_owned());
        // What cannot be written down now is written with the result, or is of unknown outcome after a crash.
        let _ = self.inner.move_draft(self.id, DraftState::Sent, &what).await;
    }
}

impl fmt::Debug for DraftPassage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DraftPassage").field(&self.id).finish()
    }
}
