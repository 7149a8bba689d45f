//! How far a draft's effect has come, as the tool that carries it out writes it down.

use std::fmt;

use async_trait::async_trait;
use limpid_core::DraftState;
use limpid_store::DraftId;

use crate::drafts::Drafts;
use crate::tools::SendState;

/// The steps of one draft.
pub(crate) struct DraftSendState {
    drafts: Drafts,
    id: DraftId,
}

impl DraftSendState {
    pub(crate) fn new(drafts: &Drafts, id: DraftId) -> Self {
        Self { drafts: drafts.clone(), id }
    }
}

#[async_trait]
impl SendState for DraftSendState {
    async fn leaves(&self) -> Result<(), String> {
        let moved = self.drafts.move_draft(self.id, DraftState::Sending, self.drafts.0.host.holder()).await;
        moved.map(drop).map_err(|error| error.to_string())
    }

    async fn arrived(&self, what: &str) {
        let what = self.drafts.0.redactor.clean(what.to_owned());
        // What cannot be written down now is written with the result, or is of unknown outcome after a crash.
        let _ = self.drafts.move_draft(self.id, DraftState::Sent, &what).await;
    }
}

impl fmt::Debug for DraftSendState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DraftSendState").field(&self.id).finish()
    }
}
