//! Turns that the person takes out of what is sent, and puts back. Messages are only ever appended: such a turn stays
//! stored and readable.

use limpid_core::{ConversationId, Role};
use limpid_store::{Conversation, ConversationChange, NewSetting};

use crate::agent::{Agent, Inner};
use crate::context::PrefixCache;
use crate::conversation::settings::{Setting, Settled};
use crate::services::error::AgentError;
use crate::services::modes::manual;

impl Agent {
    /// Takes the last turn out of what is sent.
    ///
    /// # Errors
    /// When there is none.
    pub async fn undo_turn(&self, id: &ConversationId) -> Result<Settled, AgentError> {
        self.inner.arrange(id, Setting::Undo).await
    }

    /// Puts back the turn that was taken out last.
    ///
    /// # Errors
    /// When there is none.
    pub async fn redo_turn(&self, id: &ConversationId) -> Result<Settled, AgentError> {
        self.inner.arrange(id, Setting::Redo).await
    }
}

impl Inner {
    pub(crate) async fn undo_turn(&self, id: &ConversationId) -> Result<Settled, AgentError> {
        let conversation = self.directory.existing(id).await?;
        let rows = self.store.messages(id, None).await?.rows;
        let hidden = self.store.hidden_turns(id).await?;
        let last = rows.iter().rev().map(|row| &row.turn).find(|turn| !hidden.contains(turn));
        let last = last.ok_or_else(|| AgentError::Invalid("there is no turn to take out".to_owned()))?.clone();
        let asked = rows.iter().find(|row| row.turn == last && row.message.role == Role::User);
        let text = asked.map(|row| row.typed.clone().unwrap_or_else(|| row.message.text.clone()));
        let event = manual("undo", Some(last.to_string()));
        self.set_hidden(&conversation, ConversationChange::Hide(last), event).await?;
        Ok(Settled::Changed(text.unwrap_or_default()))
    }

    pub(crate) async fn redo_turn(&self, id: &ConversationId) -> Result<Settled, AgentError> {
        let conversation = self.directory.existing(id).await?;
        let mut hidden = self.store.hidden_turns(id).await?;
        let none = || AgentError::Invalid("no turn was taken out".to_owned());
        let back = hidden.pop().ok_or_else(none)?;
        let event = manual("redo", hidden.last().map(ToString::to_string));
        self.set_hidden(&conversation, ConversationChange::Unhide(back), event).await?;
        Ok(Settled::Changed(String::new()))
    }

    /// Takes a turn out or puts it back. The beginning of the prompt is made anew, since the tail of a message that is
    /// gone may have told of a change.
    async fn set_hidden(
        &self,
        conversation: &Conversation,
        change: ConversationChange,
        event: NewSetting,
    ) -> Result<(), AgentError> {
        let session = PrefixCache::of(conversation).with_prefix_reset();
        let kept = vec![change, ConversationChange::Session(Some(session.to_text()))];
        self.store.set_in_conversation(&conversation.id, kept, vec![event], self.host.now_ms()).await?;
        Ok(())
    }
}
