//! What a slash command is, where it is given, and what it comes to.

use async_trait::async_trait;
use limpid_conversation::ChatRequest;
use limpid_core::ConversationId;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_store::Conversation;

use crate::agent::Agent;
use crate::commands::table::Table;

/// A command: what it is called, what it takes, what it does.
#[async_trait]
pub(crate) trait SlashCommand: Send + Sync {
    /// What stands behind the slash: `a-z` and dashes.
    fn name(&self) -> &'static str;

    /// Other names that do the same.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// What may follow, as help shows it; empty for nothing.
    fn arguments(&self) -> &'static str {
        ""
    }

    /// What it does, in one line.
    fn help(&self) -> &'static str;

    /// Words that may follow those that are there already.
    ///
    /// # Errors
    /// When what they are read from cannot be read; then none are offered.
    async fn words(&self, _context: &CommandContext<'_>, _before: &[&str]) -> Result<Vec<String>, AgentError> {
        Ok(Vec::new())
    }

    /// Carries it out. `arguments` is what followed the name, without white space around it.
    ///
    /// # Errors
    /// Whatever it fails with; the person reads it.
    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError>;
}

/// Where a command was given.
pub(crate) struct CommandContext<'a> {
    pub(crate) agent: &'a Agent,
    pub(super) choice: &'a ConversationChoice,
    /// The conversation, when there is one yet.
    pub(crate) conversation: Option<Conversation>,
    /// Every command, for those that speak of the others.
    pub(crate) table: Table,
}

/// What a command came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlashReply {
    /// The command's name.
    pub command: &'static str,
    /// What the person reads: plain text, no line break at its end.
    pub text: String,
    /// The conversation that the next message goes to, when there is one.
    pub conversation: Option<ConversationId>,
    /// What is different from before: `conversation`, `mode`, `profile`, `model`, …; empty when nothing is.
    pub changed: Vec<&'static str>,
    /// Whether the person wants to leave: a surface that stays open closes.
    pub leaves: bool,
}

impl CommandContext<'_> {
    /// The conversation, changed as the request says and made when there is none.
    pub(crate) async fn change(&self, request: ChatRequest) -> Result<Conversation, AgentError> {
        let conversation = self.choice.clone();
        self.agent.conversations().conversation_for(&ChatRequest { conversation, ..request }).await
    }

    /// The conversation, made when there is none.
    pub(crate) async fn found_or_new(&self) -> Result<Conversation, AgentError> {
        match &self.conversation {
            Some(found) => Ok(found.clone()),
            None => self.agent.directory().find_or_create(self.choice).await,
        }
    }

    /// A reply that says something and changes nothing.
    pub(crate) fn says(&self, text: impl Into<String>) -> SlashReply {
        let conversation = self.conversation.as_ref().map(|conversation| conversation.id.clone());
        SlashReply { text: text.into(), conversation, ..SlashReply::default() }
    }
}

impl SlashReply {
    /// The same reply, after this conversation changed in these ways.
    pub(crate) fn after(self, conversation: &Conversation, changed: &[&'static str]) -> Self {
        Self { conversation: Some(conversation.id.clone()), changed: changed.to_vec(), ..self }
    }
}
