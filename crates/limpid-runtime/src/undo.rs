//! Turns that the person takes out of what is sent, and puts back. Messages are only ever appended: such a turn stays
//! stored and readable (LES-148).

use limpid_core::{ConversationId, Role, TurnId};
use limpid_store::{Conversation, ConversationChange};

use crate::agent::{Agent, Inner};
use crate::error::AgentError;
use crate::modes::manual;
use crate::session::Session;
use crate::settle::{Setting, Settled};
use crate::sizing::frame_of;

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
        let conversation = self.existing(id).await?;
        let rows = self.store.messages(id, None).await?.rows;
        let mut undone = frame_of(Some(&conversation)).undone;
        let last = rows.iter().rev().map(|row| &row.turn).find(|turn| is_in(&undone, turn));
        let last = last.ok_or_else(|| AgentError::Invalid("there is no turn to take out".to_owned()))?.clone();
        let asked = rows.iter().find(|row| row.turn == last && row.message.role == Role::User);
        let text = asked.map(|row| row.typed.clone().unwrap_or_else(|| row.message.text.clone()));
        undone.push(last.to_string());
        self.take_out(&conversation, "undo", undone).await?;
        Ok(Settled::Changed(text.unwrap_or_default()))
    }

    pub(crate) async fn redo_turn(&self, id: &ConversationId) -> Result<Settled, AgentError> {
        let conversation = self.existing(id).await?;
        let mut undone = frame_of(Some(&conversation)).undone;
        if undone.pop().is_none() {
            return Err(AgentError::Invalid("no turn was taken out".to_owned()));
        }
        self.take_out(&conversation, "redo", undone).await?;
        Ok(Settled::Changed(String::new()))
    }

    /// Keeps which turns are out. The beginning of the prompt is made anew, since the tail of a message that is gone may
    /// have told of a change.
    async fn take_out(&self, conversation: &Conversation, what: &str, undone: Vec<String>) -> Result<(), AgentError> {
        let event = manual(what, undone.last().cloned());
        let mut session = Session::read(conversation.session.as_deref()).unwrap_or_default().at_border();
        session.frame.undone = undone;
        let kept = vec![ConversationChange::Session(Some(session.to_text()))];
        self.store.set_in_conversation(&conversation.id, kept, vec![event], self.now_ms()).await?;
        Ok(())
    }
}

/// Whether a turn is among those that are sent.
pub(crate) fn is_in(undone: &[String], turn: &TurnId) -> bool {
    !undone.iter().any(|undone| undone == turn.as_str())
}
