//! Who reads a conversation that begins in the place of another: what others read is not theirs alone again without the owner's word,
//! because it was deleted, or is not known any more by the program that goes on with it.

use limpid_core::ConversationId;
use limpid_store::{Audience, Conversation, ConversationKind, NewConversation, NewSetting, StoreError};

use crate::directory::Directory;
use crate::error::AgentError;

/// How what is set in a conversation is called that a program has spoken in.
const PROGRAM: &str = "program ";

/// How what is set for all is called where others read a conversation that was deleted: of its id, and of each such program.
const LEFT: &str = "group of ";

/// What set both.
const TRIGGER: &str = "api";

const ON: &str = "on";

impl Directory {
    /// Keeps that a program has spoken in a conversation.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn note_program(&self, id: &ConversationId, program: &str) -> Result<(), AgentError> {
        let name = format!("{PROGRAM}{program}");
        if self.is_on(Some(id), &name).await? {
            return Ok(());
        }
        let event = NewSetting { name, value: Some(ON.to_owned()), trigger: TRIGGER.to_owned() };
        match self.store.set_in_conversation(id, Vec::new(), vec![event], self.host.now_ms()).await {
            // It was deleted meanwhile.
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether others read any conversation that a program has spoken in, or any chat of which no program is known to have, as of those
    /// from before that was kept, or read one that was deleted and that nothing has taken the place of.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn others_read_any_of(&self, program: &str) -> Result<bool, AgentError> {
        if self.is_on(None, &format!("{LEFT}{PROGRAM}{program}")).await? {
            return Ok(true);
        }
        Ok(self.store.others_read_any(&format!("{PROGRAM}{program}"), PROGRAM).await?)
    }

    /// A chat by an id of the caller's that a program goes on in, and that others read too.
    ///
    /// # Errors
    /// When the store cannot be written, or there is one of that id.
    pub async fn create_chat_for_others(&self, id: ConversationId, program: &str) -> Result<Conversation, AgentError> {
        let profile = self.config.agent.profile.clone();
        let new = self.new_for_owner(id, ConversationKind::Chat, profile);
        let new = NewConversation { audience: Audience::Group, ..new };
        let made = self.store.create_conversation(new).await?;
        self.note_program(&made.id, program).await?;
        self.leave(format!("{LEFT}{PROGRAM}{program}"), false).await?;
        Ok(made)
    }

    /// Who reads a conversation of this id that is about to be made, where only the owner would: others, if they read the one that was
    /// deleted.
    pub(super) async fn audience_of_new(&self, id: &ConversationId) -> Result<Audience, AgentError> {
        let is_left = self.is_on(None, &format!("{LEFT}{id}")).await?;
        Ok(if is_left { Audience::Group } else { Audience::Owner })
    }

    /// Keeps who reads a conversation that is about to be deleted.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn keep_audience(&self, found: &Conversation) -> Result<(), AgentError> {
        let others_read = found.audience == Audience::Group;
        self.leave(format!("{LEFT}{}", found.id), others_read).await?;
        if others_read {
            let set = self.store.settings(Some(&found.id)).await?.rows;
            for event in set.iter().filter(|event| event.name.starts_with(PROGRAM)) {
                self.leave(format!("{LEFT}{}", event.name), true).await?;
            }
        }
        Ok(())
    }

    async fn is_on(&self, id: Option<&ConversationId>, name: &str) -> Result<bool, AgentError> {
        let newest = self.store.setting_events(id, name, 1).await?.rows.pop();
        Ok(newest.is_some_and(|event| event.value.is_some()))
    }

    async fn leave(&self, name: String, others_read: bool) -> Result<(), AgentError> {
        if self.is_on(None, &name).await? == others_read {
            return Ok(());
        }
        let value = others_read.then(|| ON.to_owned());
        let event = NewSetting { name, value, trigger: TRIGGER.to_owned() };
        Ok(self.store.set_for_all(vec![event], self.host.now_ms()).await?)
    }
}
