//! Conversations that others read too: what the agent remembers of its owner stays out of them (LES-057, PICO-029).

use limpid_core::ConversationId;
use limpid_store::ConversationChange;

use crate::agent::{Agent, Inner};
use crate::error::AgentError;
use crate::modes::manual;
use crate::session::Session;
use crate::settle::{Setting, Settled};

impl Agent {
    /// Says whether others read a conversation too. Where they do, no memory, no note and nothing about the owner stands
    /// in a prompt, and no tool finds a memory.
    ///
    /// # Errors
    /// When there is no such conversation, or the store cannot be written.
    pub async fn set_group(&self, id: &ConversationId, group: bool) -> Result<Settled, AgentError> {
        self.inner.arrange(id, Setting::Group(group)).await
    }
}

impl Inner {
    pub(crate) async fn set_group(&self, id: &ConversationId, group: bool) -> Result<Settled, AgentError> {
        let conversation = self.existing(id).await?;
        let mut session = Session::read(conversation.session.as_deref()).unwrap_or_default().at_border();
        if session.group == group {
            return Ok(Settled::Same);
        }
        session.group = group;
        let event = manual("group", Some(if group { "on" } else { "off" }.to_owned()));
        let kept = vec![ConversationChange::Session(Some(session.to_text()))];
        self.store.set_in_conversation(id, kept, vec![event], self.now_ms()).await?;
        Ok(Settled::Changed(String::new()))
    }
}
