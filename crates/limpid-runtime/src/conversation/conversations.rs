//! Talking to the agent: a message goes in, events come out.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use limpid_core::mode::Trigger;
use limpid_core::{CallId, ConversationId, Effort, Trust};
use limpid_store::{Conversation, ConversationChange, InboundId, NewInbound};
use tokio::sync::mpsc::unbounded_channel;

use crate::agent::{Agent, Inner};
use crate::conversation::actor::{Command, Sender};
use crate::conversation::delivery::Border;
use crate::conversation::event::{Answer, TurnEvent};
use crate::conversation::settings::{Setting, Settle};
use crate::services::directory::ConversationChoice;
use crate::services::error::AgentError;

/// A message to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatRequest {
    /// The conversation that it belongs to.
    pub conversation: ConversationChoice,
    /// What it says.
    pub text: String,
    /// The profile from here on; absent: the conversation's.
    pub profile: Option<String>,
    /// The mode from here on; absent: the conversation's.
    pub mode: Option<String>,
    /// The model from here on, as `provider/id`; absent: the conversation's.
    pub model: Option<String>,
    /// How much the models are to reason from here on; absent: as the conversation says.
    pub effort: Option<Effort>,
    /// The path for this message; absent: that of the model's kind.
    pub path: Option<String>,
    /// What makes it the same message when it is delivered again.
    pub key: Option<String>,
    /// Whether a person listens who answers questions ([`TurnEvent::ApprovalRequested`]); without one, what needs an answer is
    /// kept as a draft.
    pub can_answer: bool,
}

/// A message that was accepted: its events, and a hold on the turn that answers it.
///
/// Dropping it does not stop the turn.
#[derive(Debug)]
pub struct TurnHandle {
    agent: Agent,
    conversation: ConversationId,
    message: InboundId,
    events: Border,
}

impl Agent {
    /// Sends a message. It is kept before anything runs; when a turn of its conversation is running, it
    /// steers that turn at its next tool border, else the next turn answers it.
    ///
    /// # Errors
    /// When conversation, profile, mode or model do not exist, or the store cannot keep the message.
    pub async fn chat(&self, request: ChatRequest) -> Result<TurnHandle, AgentError> {
        if request.text.trim().is_empty() {
            return Err(AgentError::Invalid("there is nothing to say; give a message".to_owned()));
        }
        let conversation = self.inner.conversation_for(&request).await?;
        let new = NewInbound {
            conversation: conversation.id.clone(),
            key: request.key,
            text: self.inner.redactor.clean(request.text),
            trust: Trust::Owner,
            now_ms: self.inner.host.now_ms(),
        };
        let _accepting = self.inner.accepting.read().await;
        let accepted = self.inner.store.accept(new).await?;
        let (sender, events) = unbounded_channel();
        let message = accepted.inbound.id;
        let sender = Sender::new(message, sender).answering(request.can_answer);
        sender.send(TurnEvent::Accepted { conversation: conversation.id.clone() });
        if !accepted.fresh && accepted.inbound.turn.is_some() {
            sender.send(TurnEvent::Interrupted(
                "this message was delivered before; its answer is in the conversation".into(),
            ));
        } else {
            let command = Command::Message { inbound: accepted.inbound, sender: Some(sender), path: request.path };
            self.inner.command(&conversation.id, command);
        }
        Ok(TurnHandle { agent: self.clone(), conversation: conversation.id, message, events: Border::new(events) })
    }

    /// The conversation that is meant; none when there is none yet.
    ///
    /// # Errors
    /// When there is none of that id, or the store cannot be read.
    pub async fn find_conversation(&self, choice: &ConversationChoice) -> Result<Option<Conversation>, AgentError> {
        self.inner.directory.find(choice).await
    }

    /// Carries on what a crash interrupted: unfinished turns, deliveries, and messages that nobody answered. What another
    /// process works on is left to it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn resume(&self) -> Result<(), AgentError> {
        self.inner.resume().await
    }
}

impl Inner {
    pub(crate) async fn resume(self: &Arc<Self>) -> Result<(), AgentError> {
        let store = &self.store;
        let turns = store.unfinished_turns().await?.rows;
        let mut open: BTreeSet<ConversationId> = turns.into_iter().map(|turn| turn.conversation).collect();
        open.extend(store.conversations_that_wait().await?);
        open.extend(store.pending_deliveries(None).await?.rows.into_iter().map(|delivery| delivery.new.conversation));
        for conversation in open {
            self.command(&conversation, Command::Wake);
        }
        Ok(())
    }
}

impl TurnHandle {
    /// The conversation.
    pub fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// The next event; none after the last one.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        self.events.next().await
    }

    /// Stops the turn: what was said so far is kept. One that has not begun yet ends when it does; the message is kept.
    pub fn cancel(&self) {
        self.agent.inner.tell(&self.conversation, Command::Cancel(Some(self.message)));
    }

    /// Answers the question about a call; an answer to no open question changes nothing.
    pub fn answer(&self, call: &CallId, answer: Answer) {
        self.agent.inner.tell(&self.conversation, Command::Answer { call: call.clone(), answer });
    }

    /// Says something more while the turn runs; it is answered by this turn or by the next one.
    ///
    /// # Errors
    /// As [`Agent::chat`].
    pub async fn steer(&self, text: impl Into<String>) -> Result<Self, AgentError> {
        let conversation = ConversationChoice::Id(self.conversation.clone());
        self.agent.chat(ChatRequest { conversation, text: text.into(), ..ChatRequest::default() }).await
    }
}

impl Stream for TurnHandle {
    type Item = TurnEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<TurnEvent>> {
        self.events.poll(context)
    }
}

impl Inner {
    /// The conversation of a request, made or changed as it says. Everything is checked before anything is written.
    ///
    /// Another mode is the worker's to switch to, before the next turn.
    pub(crate) async fn conversation_for(self: &Arc<Self>, request: &ChatRequest) -> Result<Conversation, AgentError> {
        let found = self.directory.find(&request.conversation).await?;
        let kept = |field: fn(&Conversation) -> Option<String>| found.as_ref().and_then(field);
        let profile = request.profile.clone().or_else(|| kept(|found| Some(found.profile.clone())));
        let profile = profile.unwrap_or_else(|| self.config.agent.profile.clone());
        let mode = request.mode.clone().or_else(|| kept(|found| found.mode.clone()));
        let model = request.model.clone().or_else(|| kept(|found| found.model.clone()));
        self.check_profile(&profile, mode.as_deref(), request.path.as_deref())?;
        self.models.choose(model.as_deref()).await?;

        let now_ms = self.host.now_ms();
        let Some(found) = found else {
            let made = self.directory.create_chat(profile, mode, model).await?;
            let Some(effort) = request.effort else { return Ok(made) };
            let change = vec![ConversationChange::Effort(Some(effort))];
            return Ok(self.store.change_conversation(&made.id, change, now_ms).await?);
        };
        let to = request.mode.clone().filter(|to| *to != self.mode_of(&found));
        if let Some(to) = &to {
            self.may_switch(&found, to).await?;
        }
        let mut changes = Vec::new();
        if found.profile != profile {
            changes.push(ConversationChange::Profile(profile));
        }
        if found.model != model {
            changes.push(ConversationChange::Model(model));
        }
        if request.effort.is_some() && found.effort != request.effort {
            changes.push(ConversationChange::Effort(request.effort));
        }
        let changed = match changes.is_empty() {
            true => found,
            false => self.store.change_conversation(&found.id, changes, now_ms).await?,
        };
        if let Some(to) = to {
            let setting = Setting::Mode { to, trigger: Trigger::Manual, confidence: None };
            self.command(&changed.id, Command::Settle(Settle::silently(setting)));
        }
        Ok(changed)
    }

    fn check_profile(&self, profile: &str, mode: Option<&str>, path: Option<&str>) -> Result<(), AgentError> {
        let profile = self.profiles.profile(profile)?;
        if let Some(mode) = mode {
            profile.mode(mode, limpid_core::Tier::ALL[2]).map_err(|error| AgentError::Invalid(error.to_string()))?;
        }
        if let Some(path) = path {
            profile.path(path).map_err(|error| AgentError::Invalid(error.to_string()))?;
        }
        Ok(())
    }
}
