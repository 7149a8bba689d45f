//! How drafts come to their end: carried out, too old, or cut off by a crash.

use std::sync::Arc;

use limpid_config::process;
use limpid_core::DraftState;
use limpid_store::{Draft, DraftId};
use limpid_turn::ToolOutcome;

use crate::agent::Inner;
use crate::conversation::turn::running::UNKNOWN;
use crate::services::drafts::{UNDER_WAY, in_short, is_chat, missing};
use crate::services::error::AgentError;

impl Inner {
    /// Ends the drafts that waited too long, and those that a dead process was carrying out; the chat that they came
    /// from is told.
    pub(crate) async fn settle_drafts(self: &Arc<Self>) -> Result<(), AgentError> {
        let now_ms = self.host.now_ms();
        for draft in self.store.drafts(&UNDER_WAY).await?.rows {
            let (next, why) = match draft.state {
                DraftState::Open if draft.new.expires_ms <= now_ms => (DraftState::Expired, "nobody answered in time"),
                DraftState::Approved if process::is_dead(&draft.detail) => {
                    (DraftState::Open, "the program stopped before anything left, so it waits for you again")
                }
                DraftState::Sending if process::is_dead(&draft.detail) => (DraftState::Failed, UNKNOWN),
                _ => continue,
            };
            // Another process may have been faster.
            if self.move_draft(draft.id, next, why).await.is_ok() {
                let text = format!("Draft {} {}: {why} ({}).", draft.id.0, next.in_words(), in_short(&draft.new));
                self.tell_of_draft(&draft, next, text).await?;
            }
        }
        Ok(())
    }

    /// Tells the chat that a draft came from, or where reports go when it came from a run in the background.
    pub(crate) async fn tell_of_draft(
        self: &Arc<Self>,
        draft: &Draft,
        state: DraftState,
        text: String,
    ) -> Result<(), AgentError> {
        let conversation = self.directory.existing(&draft.new.conversation).await?;
        let chat = is_chat(conversation.kind).then_some(&conversation.id);
        // It may be open again more than once, and is told each time.
        let key = match state {
            DraftState::Open => format!("draft:{}:{state}:{}", draft.id.0, draft.changed_ms),
            _ => format!("draft:{}:{state}", draft.id.0),
        };
        self.deliveries.notice(chat, &key, &in_short(&draft.new), text).await?;
        Ok(())
    }

    /// Writes down what came of a draft that was carried out; none: it gave no result in time and was stopped.
    pub(crate) async fn end_draft(&self, id: DraftId, ended: Option<ToolOutcome>) -> Result<Draft, AgentError> {
        let draft = self.store.draft(id).await?.ok_or_else(|| missing(id))?;
        let (done, detail) = match (ended, draft.state) {
            (Some(ToolOutcome::Done { text, .. }), _) => (true, text),
            (Some(ToolOutcome::Failed { error }), _) => (false, error),
            (None, DraftState::Approved) => (false, "no result in time; nothing was sent".to_owned()),
            (None, _) => (false, "no result in time; its outcome is unknown".to_owned()),
        };
        let detail = self.redactor.clean(detail);
        let next = match (draft.state, done) {
            // Whatever came after it arrived changes nothing about that.
            (DraftState::Sent, true) => return Ok(self.store.annotate_draft(id, &detail, self.host.now_ms()).await?),
            (DraftState::Sent, false) => return Ok(draft),
            (DraftState::Approved, true) => {
                self.move_draft(id, DraftState::Sending, self.host.holder()).await?;
                DraftState::Sent
            }
            (_, true) => DraftState::Sent,
            (_, false) => DraftState::Failed,
        };
        Ok(self.move_draft(id, next, &detail).await?)
    }

    pub(crate) async fn draft_failed(&self, id: DraftId, why: &str) -> Result<Draft, AgentError> {
        Ok(self.move_draft(id, DraftState::Failed, why).await?)
    }
}
