//! Which conversations there are.

mod audience;

use std::sync::Arc;

use limpid_config::{Config, Live};
use limpid_core::{ConversationId, TaskId};
use limpid_store::{Audience, Conversation, ConversationKind, NewConversation, Store, StoreError};

use crate::error::AgentError;
use crate::host::Host;

/// The id of the one conversation that takes reports.
const REPORTS: &str = "heartbeat";

/// The title of that conversation.
const REPORTS_TITLE: &str = "Heartbeat";

/// How the ids of the hidden conversations of runs begin.
const RUN: &str = "run-";

/// How the keys of runs of tasks begin.
const TASK: &str = "task-";

/// The id of the one conversation that programs work in which the agent lends its tools to.
const CLIENTS: &str = "mcp";

/// The title of that conversation.
const CLIENTS_TITLE: &str = "MCP clients";

/// Whether a conversation is the one of clients: no model of the agent's answers in it.
pub fn is_of_clients(conversation: &ConversationId) -> bool {
    conversation.as_str() == CLIENTS
}

/// The hidden conversation of a run, by the key that makes it the same run after a crash.
pub fn conversation_of_run(key: &str) -> ConversationId {
    ConversationId::new(format!("{RUN}{key}"))
}

/// The key of a task's run, for the time that it was due.
pub fn key_of_task(task: TaskId, slot_ms: i64) -> String {
    format!("{TASK}{task}-{slot_ms}")
}

/// The task whose run works in a conversation.
pub fn task_of_run(conversation: &ConversationId) -> Option<TaskId> {
    let key = conversation.as_str().strip_prefix(RUN)?.strip_prefix(TASK)?;
    key.split_once('-')?.0.parse().ok().map(TaskId)
}

/// Whether a conversation is the hidden one of a run.
pub fn is_run(conversation: &ConversationId) -> bool {
    conversation.as_str().starts_with(RUN)
}

/// Which conversation is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConversationChoice {
    /// A new one.
    #[default]
    New,
    /// The chat in which something was said last, whatever was answered since; a new one when there is none.
    Last,
    /// The one of this id.
    Id(ConversationId),
}

/// Finds conversations and makes new ones.
#[derive(Clone)]
pub struct Directory {
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
}

impl Directory {
    /// The conversations of a store.
    pub fn new(store: Arc<dyn Store>, config: Live<Config>, host: Host) -> Self {
        Self { store, config, host }
    }

    /// The conversation that is meant; none when it is to be a new one.
    ///
    /// # Errors
    /// When there is none of that id, or the store cannot be read.
    pub async fn find(&self, choice: &ConversationChoice) -> Result<Option<Conversation>, AgentError> {
        match choice {
            ConversationChoice::New => Ok(None),
            ConversationChoice::Last => Ok(self.store.last_conversation(ConversationKind::Chat).await?),
            ConversationChoice::Id(id) => {
                let found = self.store.conversation(id).await?;
                let missing = || AgentError::NotFound {
                    what: "conversation",
                    name: id.to_string(),
                    advice: "`limpid conversation list` lists them".to_owned(),
                };
                found.map(Some).ok_or_else(missing)
            }
        }
    }

    /// The conversation that is meant, made when there is none.
    ///
    /// # Errors
    /// When there is none of that id, or the store fails.
    pub async fn find_or_create(&self, choice: &ConversationChoice) -> Result<Conversation, AgentError> {
        if let Some(found) = self.find(choice).await? {
            return Ok(found);
        }
        self.create_chat(self.config.agent.profile.clone(), None, None).await
    }

    /// A conversation that is known to exist.
    ///
    /// # Errors
    /// When it was deleted since, or the store cannot be read.
    pub async fn existing(&self, id: &ConversationId) -> Result<Conversation, AgentError> {
        let missing = || AgentError::Invalid(format!("the conversation {id} is gone"));
        self.store.conversation(id).await?.ok_or_else(missing)
    }

    /// An id that no conversation has yet.
    pub fn new_id(&self) -> ConversationId {
        ConversationId::new(self.host.new_id("c"))
    }

    /// A new chat that only the owner reads.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn create_chat(
        &self,
        profile: String,
        mode: Option<String>,
        model: Option<String>,
    ) -> Result<Conversation, AgentError> {
        self.create_chat_as(self.new_id(), profile, mode, model).await
    }

    /// A new conversation of a kind that these read.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn create(
        &self,
        kind: ConversationKind,
        profile: String,
        mode: Option<String>,
        model: Option<String>,
        audience: Audience,
    ) -> Result<Conversation, AgentError> {
        let new = NewConversation { mode, model, audience, ..self.new_for_owner(self.new_id(), kind, profile) };
        Ok(self.store.create_conversation(new).await?)
    }

    /// A chat by an id from [`Directory::new_id`], or one that the caller made. Only the owner reads it, and others where they read the one
    /// of that id that was deleted.
    ///
    /// # Errors
    /// When the store cannot be written, or there is one of that id.
    pub async fn create_chat_as(
        &self,
        id: ConversationId,
        profile: String,
        mode: Option<String>,
        model: Option<String>,
    ) -> Result<Conversation, AgentError> {
        let audience = self.audience_of_new(&id).await?;
        let new = NewConversation { mode, model, audience, ..self.new_for_owner(id, ConversationKind::Chat, profile) };
        Ok(self.store.create_conversation(new).await?)
    }

    /// A chat by an id of the caller's whose answers leave for whoever asks.
    ///
    /// # Errors
    /// When the store cannot be written, or there is one of that id.
    pub async fn create_chat_for_strangers(
        &self,
        id: ConversationId,
        profile: String,
    ) -> Result<Conversation, AgentError> {
        let new = self.new_for_owner(id, ConversationKind::Chat, profile);
        Ok(self.store.create_conversation(NewConversation { audience: Audience::Strangers, ..new }).await?)
    }

    fn new_for_owner(&self, id: ConversationId, kind: ConversationKind, profile: String) -> NewConversation {
        NewConversation {
            id,
            kind,
            title: String::new(),
            profile,
            mode: None,
            model: None,
            audience: Audience::Owner,
            now_ms: self.host.now_ms(),
        }
    }

    /// The id of the conversation that takes reports, whether it was made yet or not.
    pub fn reports_id(&self) -> ConversationId {
        ConversationId::new(REPORTS)
    }

    /// The conversation that takes reports, made when it is missing.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn reports(&self) -> Result<ConversationId, AgentError> {
        self.standing(self.reports_id(), ConversationKind::Heartbeat, REPORTS_TITLE).await
    }

    /// The conversation of clients, made when it is missing: in no list, and read by its id.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn of_clients(&self) -> Result<ConversationId, AgentError> {
        self.standing(ConversationId::new(CLIENTS), ConversationKind::Run, CLIENTS_TITLE).await
    }

    /// A conversation that there is one of, made when it is missing.
    async fn standing(
        &self,
        id: ConversationId,
        kind: ConversationKind,
        title: &str,
    ) -> Result<ConversationId, AgentError> {
        if self.store.conversation(&id).await?.is_some() {
            return Ok(id);
        }
        let new = NewConversation {
            id: id.clone(),
            kind,
            title: title.to_owned(),
            profile: self.config.agent.profile.clone(),
            mode: None,
            model: None,
            audience: Audience::Owner,
            now_ms: self.host.now_ms(),
        };
        match self.store.create_conversation(new).await {
            // Another process was faster.
            Ok(_) | Err(StoreError::Exists { .. }) => Ok(id),
            Err(error) => Err(error.into()),
        }
    }

    /// Who reads what is reported.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn audience_of_reports(&self) -> Result<Audience, AgentError> {
        let found = self.store.conversation(&self.reports_id()).await?;
        Ok(found.map_or(Audience::Owner, |found| found.audience))
    }
}
