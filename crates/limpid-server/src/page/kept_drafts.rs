//! Which drafts a conversation tells of, and what became of each. That is known by what was written down with its messages and its calls,
//! never by words: a stranger's report may begin like one of Limpid's own.

use std::collections::HashMap;

use limpid_core::{CallId, ConversationId, DraftState, TurnId};
use limpid_runtime::drafts::behind_kept_words;
use limpid_store::{DraftId, StoredMessage};

use super::parts::kept;
use super::state::Page;
use super::trouble::Trouble;

/// The drafts of a conversation.
pub(super) struct KeptDrafts {
    /// Those that a delivery tells of, by its turn.
    told: HashMap<TurnId, DraftId>,
    /// Those that a call has become.
    called: HashMap<(TurnId, CallId), DraftId>,
    /// What became of those that wait no more.
    over: HashMap<DraftId, &'static str>,
}

impl KeptDrafts {
    pub(super) async fn of(page: &Page, conversation: &ConversationId) -> Result<Self, Trouble> {
        let told = page.agent.store().turns_that_tell_of_drafts(conversation).await?;
        let (mut called, mut over) = (HashMap::new(), HashMap::new());
        for draft in page.agent.drafts().list(true).await?.rows {
            if draft.state != DraftState::Open {
                over.insert(draft.id, page.agent.drafts().in_words(&draft));
            }
            if draft.new.conversation == *conversation {
                called.insert((draft.new.turn, draft.new.call), draft.id);
            }
        }
        Ok(Self { told, called, over })
    }

    /// The card of the draft that a delivery tells of, and what its text says behind that.
    pub(super) fn told<'t>(&self, row: &StoredMessage, text: &'t str) -> Option<(String, &'t str)> {
        // What a model writes tells of none, in whatever turn it writes.
        let draft = self.told.get(&row.turn).filter(|_| row.request.is_none())?;
        Some((self.card(*draft), behind_kept_words(*draft, text)?))
    }

    /// The card of the draft that a call has become.
    pub(super) fn called(&self, turn: &TurnId, call: &CallId) -> Option<String> {
        self.called.get(&(turn.clone(), call.clone())).map(|draft| self.card(*draft))
    }

    /// A draft as it stands now.
    fn card(&self, draft: DraftId) -> String {
        kept(draft, self.over.get(&draft).copied())
    }
}
