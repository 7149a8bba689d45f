//! Conversations that others read too: what the agent remembers of its owner stays out of them.

use limpid_core::ConversationId;
use limpid_store::{Audience, ConversationChange};

use crate::agent::{Agent, Inner};
use crate::conversation::settings::{Setting, Settled};
use crate::services::error::AgentError;
use crate::services::modes::manual;

impl Agent {
    /// Says who reads a conversation. Where others do, no memory, no note and nothing about the owner is in a prompt, and
    /// no tool finds a memory.
    ///
    /// # Errors
    /// When there is no such conversation, or the store cannot be written.
    pub async fn set_audience(&self, id: &ConversationId, audience: Audience) -> Result<Settled, AgentError> {
        self.inner.arrange(id, Setting::Audience(audience)).await
    }
}

impl Inner {
    pub(crate) async fn set_audience(&self, id: &ConversationId, audience: Audience) -> Result<Settled, AgentError> {
        if self.directory.existing(id).await?.audience == audience {
            return Ok(Settled::Same);
        }
        let on = if audience == Audience::Group { "on" } else { "off" };
        let event = manual("group", Some(on.to_owned()));
        let change = vec![ConversationChange::Audience(audience)];
        self.store.set_in_conversation(id, change, vec![event], self.host.now_ms()).await?;
        Ok(Settled::Changed(String::new()))
    }
}
